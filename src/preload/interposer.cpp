// SPDX-License-Identifier: MIT
#include "preload/interposer.hpp"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>

#include "base/parse_size.hpp"
#include "base/staging_threshold.hpp"
#include "preload/captures.hpp"
#include "preload/publication_lock.hpp"
#include "preload/rate_comparison.hpp"
#include "preload/summary.hpp"
#include "preload/without_cancellation.hpp"

namespace roc::preload {
namespace {

// The vendors' functions copy the rows of a strided copy one by one. Serving a
// strided copy therefore pays at a smaller size.
constexpr std::size_t strided_threshold = std::size_t{256} << 10;

enum class copier_state : unsigned char { not_loaded, loaded, unavailable };

// All is constant-initialized and never destroyed: the program may copy in its static constructors
// and destructors.
constinit std::atomic<bool> are_settings_read = false;
constinit std::atomic<bool> is_switched_off = false;
constinit std::atomic<bool> measures_rates = true;
constinit std::atomic<bool> prints_summary = false;
constinit std::atomic<std::size_t> staging_threshold = base::default_staging_threshold;
constinit std::atomic<bool> was_forked = false;  // after the copier was loaded
// Bits of devices, see bit_of.
constinit std::atomic<std::uint64_t> used_devices = 0;   // those that the library has used
constinit std::atomic<std::uint64_t> reset_devices = 0;  // those that were reset after that use
constinit std::atomic<bool> is_exiting = false;
constinit std::atomic<int> copies_in_flight = 0;
constinit std::atomic<int> failures_in_a_row = 0;

// The library is used no more after so many: each attempt costs time.
constexpr int max_failures_in_a_row = 3;

// Published by `state`: written once under the lock `publication`, while it is not_loaded.
constinit std::atomic<copier_state> state = copier_state::not_loaded;
constinit vendor_runtime const* copier_runtime = nullptr;  // that the copier calls
constinit copy_function copy_with_library = nullptr;
constinit char failure[512] = "";

// Returns the bit of a device. Those beyond the last bit, and invalid ones, share it.
std::uint64_t bit_of(int device) noexcept {
  constexpr unsigned last = 63;
  return std::uint64_t{1} << std::min(static_cast<unsigned>(device), last);
}

// Returns the value of a variable that can be one of two words; the first one if it is not set.
bool is_second_word(char const* variable, char const* first, char const* second) noexcept {
  char const* const value = std::getenv(variable);
  if (value == nullptr || *value == '\0' || std::strcmp(value, first) == 0) return false;
  if (std::strcmp(value, second) == 0) return true;
  std::fprintf(stderr, "rocarray-preload: %s is \"%s\"; it can be %s or %s\n", variable, value,
               first, second);
  return false;
}

void handle_fork_in_child() noexcept {
  publication.unlock();
  if (state.load() == copier_state::loaded) was_forked = true;
  clear_captures_after_fork();
  copies_in_flight = 0;
  clear_counters();
  clear_comparison();
}

// Reads the settings at the first use: constructors of the program's libraries may run before the
// one of this object.
void read_settings() noexcept {
  if (are_settings_read.load(std::memory_order_acquire)) return;
  is_switched_off = is_second_word("ROCARRAY_PRELOAD", "on", "off");
  measures_rates = !is_second_word("ROCARRAY_PRELOAD_MEASURE", "on", "off");
  prints_summary = is_second_word("ROCARRAY_PRELOAD_SUMMARY", "0", "1");
  // The library reports a value that it cannot use.
  if (char const* const text = std::getenv("ROCARRAY_STAGING_THRESHOLD"); text != nullptr) {
    staging_threshold = base::parse_size(text).value_or(base::default_staging_threshold);
  }
  are_settings_read.store(true, std::memory_order_release);
}

[[gnu::constructor]] void begin_process() noexcept {
  read_settings();
  pthread_atfork(nullptr, nullptr, handle_fork_in_child);
}

// Runs after the program's exit handlers and static destructors. Copies of later destructors are
// not in the summary.
[[gnu::destructor]] void end_process() noexcept {
  is_exiting = true;
  if (prints_summary) print_summary(failure);
}

// Returns true if the copier would call `runtime`. On AMD it is linked with one version of
// libamdhip64, and must not load another runtime into the process than the program's.
bool is_runtime_of_copier(vendor_runtime const& runtime) noexcept {
#if ROCARRAY_PLATFORM_AMD
  return runtime.is_expected_version;
#else
  static_cast<void>(runtime);
  return true;
#endif
}

// The entry points of the copier, or why it is unavailable.
struct loaded_copier {
  start_function start = nullptr;
  copy_function copy = nullptr;
  char reason[sizeof failure] = "";
};

// Loads the copier from the directory of this object. Several threads may do so: the loader loads
// it once.
loaded_copier load_copier(vendor_runtime const& runtime) noexcept {
  loaded_copier result;
  if (!is_runtime_of_copier(runtime)) {
#if ROCARRAY_PLATFORM_AMD
    std::snprintf(result.reason, sizeof result.reason,
                  "it was built for %s, which is not the program's HIP runtime",
                  ROCARRAY_PRELOAD_RUNTIME);
#endif
    return result;
  }
  Dl_info info;
  if (dladdr(&state, &info) == 0) return result;
  std::string_view const own = info.dli_fname;
  char path[PATH_MAX];
  std::snprintf(path, sizeof path, "%.*slibrocarray-preload-copy.so",
                static_cast<int>(own.rfind('/') + 1), own.data());
  void* const copier = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (copier != nullptr) {
    result.start = reinterpret_cast<start_function>(dlsym(copier, start_name));
    result.copy = reinterpret_cast<copy_function>(dlsym(copier, copy_name));
  }
  if (result.start == nullptr || result.copy == nullptr) {
    char const* const error = dlerror();
    std::snprintf(result.reason, sizeof result.reason, "%s",
                  error != nullptr ? error : "it has no entry points");
  }
  return result;
}

vendor_functions functions_of([[maybe_unused]] vendor_runtime const& runtime) noexcept {
#if ROCARRAY_PLATFORM_AMD
  return {runtime.function(call::hipMemcpy), runtime.function(call::hipMemcpyAsync),
          runtime.function(call::hipMemcpy2DAsync), runtime.function(call::hipMemcpy3DAsync)};
#else
  return {};
#endif
}

// Publishes the copier, unless another thread has. Returns true if this call has done so.
bool publish_copier(loaded_copier const& copier, vendor_runtime const& runtime) noexcept {
  std::lock_guard const lock(publication);
  if (state.load(std::memory_order_relaxed) != copier_state::not_loaded) return false;
  bool const is_loaded = copier.start != nullptr && copier.copy != nullptr;
  if (is_loaded) {
    vendor_functions const functions = functions_of(runtime);
    copier.start(&functions);
    copy_with_library = copier.copy;
  } else {
    std::memcpy(failure, copier.reason, sizeof failure);
  }
  copier_runtime = &runtime;
  state.store(is_loaded ? copier_state::loaded : copier_state::unavailable,
              std::memory_order_release);
  return true;
}

// Returns true if the copier can serve programs that call `runtime`; loads it at the first call.
bool has_copier_for(vendor_runtime const& runtime) noexcept {
  copier_state current = state.load(std::memory_order_acquire);
  if (current == copier_state::not_loaded) {
    if (is_exiting) return false;
    bool const is_first = publish_copier(load_copier(runtime), runtime);
    dlerror();  // the program must not see a failure
    current = state.load(std::memory_order_acquire);
    if (is_first && current == copier_state::unavailable) {
      std::fprintf(stderr, "rocarray-preload: all copies are passed on: %s\n", failure);
    }
  }
  if (current == copier_state::unavailable) return false;
#if ROCARRAY_PLATFORM_AMD
  return copier_runtime == &runtime;
#else
  return true;
#endif
}

// Returns true if the arguments are those of a copy that the library does as the vendor's function.
bool has_usual_arguments(copy_request const& request) noexcept {
  if (request.source == nullptr || request.destination == nullptr) return false;
  std::size_t row_bytes = 0;
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(request.width, request.height, &row_bytes) ||
      __builtin_mul_overflow(row_bytes, request.depth, &bytes)) {
    return false;
  }
  auto const is_usual_side = [&](std::size_t pitch, std::size_t slice) {
    constexpr std::size_t max_pitch = INT_MAX;  // of both vendors
    std::size_t rows = 0;
    std::size_t extent = 0;
    bool const has_one_row = request.height == 1 && request.depth == 1;
    if (pitch < request.width || (!has_one_row && pitch > max_pitch)) return false;
    if (__builtin_mul_overflow(pitch, request.height, &rows)) return false;
    if (request.depth > 1 && slice < rows) return false;
    return !__builtin_mul_overflow(std::max(slice, rows), request.depth, &extent);
  };
  return is_usual_side(request.source_pitch, request.source_slice) &&
         is_usual_side(request.destination_pitch, request.destination_slice);
}

bool is_small(copy_request const& request) noexcept {
  if (static_cast<direction>(request.kind) == direction::within_device) {
    return request.is_small_within_device();
  }
  std::size_t const contiguous_threshold = staging_threshold;
  std::size_t const threshold = request.is_contiguous()
                                    ? contiguous_threshold
                                    : std::min(contiguous_threshold, strided_threshold);
  std::size_t const bytes = request.bytes();
  return bytes == 0 || bytes <= threshold;
}

// Returns why the copy cannot be served, as far as that can be told without the runtime.
outcome check_request(copy_request const& request) noexcept {
  read_settings();
  if (is_switched_off) return outcome::switched_off;
  if (request.width == 0 || request.height == 0 || request.depth == 0) return outcome::small;
  if (!has_usual_arguments(request)) return outcome::invalid;
  switch (static_cast<direction>(request.kind)) {
    case direction::to_device:
    case direction::to_host:
    case direction::unspecified: break;
    case direction::within_device:
      if (!request.is_contiguous()) break;
      [[fallthrough]];
    default: return outcome::other_direction;
  }
  if (is_small(request)) return outcome::small;
  if (is_exiting) return outcome::exiting;
  if (failures_in_a_row >= max_failures_in_a_row) return outcome::given_up;
  return was_forked ? outcome::after_fork : outcome::served;
}

// Asks the runtime for what decides whether the copy can be served. Sets the device of the request.
// Sets `has_failed` if one of the runtime's functions has returned an error.
outcome ask_runtime(vendor_runtime const& runtime, copy_request& request,
                    bool& has_failed) noexcept {
  // Fails if the runtime is not initialized, or if the thread has no current context.
  has_failed = runtime.get_device(&request.device) != 0;
  if (has_failed) return outcome::other_device;
  // The code for the legacy default stream, while a stream that is ordered with it is captured. The
  // vendors' numbers are the same.
  constexpr int would_end_capture = 906;
  int status = 0;
  int const code = runtime.is_capturing(request.stream, &status);
  has_failed = code != 0;
  if (code == would_end_capture || (code == 0 && status != 0)) return outcome::capturing;
  // An invalid stream, or a context that an error has broken: the vendor's copy fails too.
  if (code != 0) return outcome::invalid;
  bool const was_reset = (reset_devices.load() & bit_of(request.device)) != 0;
  return was_reset ? outcome::after_reset : outcome::served;
}

// Returns why the copy cannot be served in the state of the program's runtime. Sets the device of
// the request. Before ROCm 7, may leave an error in the runtime, which the vendor's copy replaces.
outcome check_runtime(vendor_runtime const& runtime, copy_request& request) noexcept {
  if (runtime.get_device == nullptr || runtime.is_capturing == nullptr ||
      (runtime.keeps_errors &&
       (runtime.peek_at_last_error == nullptr || runtime.get_last_error == nullptr))) {
    return outcome::unavailable;
  }
  // The library's calls would replace the error, which the vendor's copy leaves in place.
  if (runtime.keeps_errors && runtime.peek_at_last_error() != 0) return outcome::earlier_error;
  if (capture_count().load() != 0) return outcome::capturing;
  bool has_failed = false;
  outcome const result = ask_runtime(runtime, request, has_failed);
  // There was no error before. The program must not fetch one that it has not caused.
  if (has_failed && runtime.keeps_errors) static_cast<void>(runtime.get_last_error());
  return result;
}

class flight {
 public:
  flight() noexcept { copies_in_flight.fetch_add(1); }
  ~flight() { copies_in_flight.fetch_sub(1); }
  flight(flight const&) = delete;
  flight& operator=(flight const&) = delete;
};

// Counts the failures of the library since the last copy that it served. Reports the last one.
// Copies within a device are not counted: the copier counts them, and copies of host memory may
// succeed where no kernel can be launched.
void count_failure(outcome result, copy_report const& report) noexcept {
  if (report.copied == direction::within_device) return;
  int count = failures_in_a_row.load();
  if (result == outcome::served && count != 0 && count < max_failures_in_a_row) {
    failures_in_a_row.compare_exchange_strong(count, 0);
  }
  if (result != outcome::failed) return;
  if (failures_in_a_row.fetch_add(1) + 1 == max_failures_in_a_row) {
    std::fprintf(stderr,
                 "rocarray-preload: all further copies are passed on: the library failed %d times "
                 "in a row; ROCARRAY_LOG=info shows why\n",
                 max_failures_in_a_row);
  }
}

outcome try_to_serve(call_site const& site, copy_request& request, copy_report& report) noexcept {
  outcome const checked = check_request(request);
  if (checked != outcome::served) return checked;
  if (measures_rates && is_left_to_vendor(request)) return outcome::vendor_faster;
  vendor_runtime const& runtime = *site.runtime;
  without_cancellation const uncancelled;
  flight const in_flight;  // before the captures are looked at, see before_capture
  outcome const ready = check_runtime(runtime, request);
  if (ready != outcome::served) return ready;
  if (!has_copier_for(runtime)) return outcome::unavailable;
  request.choose = measures_rates ? choose_copier : nullptr;
  request.captures = &capture_count();
  used_devices.fetch_or(bit_of(request.device));
  outcome const result = copy_with_library(&request, &report);
  count_failure(result, report);
#if ROCARRAY_PLATFORM_AMD
  // There was no error before, and the vendor's copy would leave none.
  int device = 0;
  if (runtime.keeps_errors) {
    static_cast<void>(runtime.get_last_error());
  } else {
    static_cast<void>(runtime.get_device(&device));
  }
#endif
  return result;
}

}  // namespace

outcome serve(call_site& site, call function, copy_request request, copy_report& report) noexcept {
  outcome const result = try_to_serve(site, request, report);
  std::uint64_t const bytes = result == outcome::invalid ? 0 : request.bytes();
  bool const is_on_device = report.copied == direction::within_device;
  count_copy(site, function, result, bytes, !is_on_device && !report.is_pinned);
  if (result == outcome::served && !is_on_device) add_duration(result, request, report);
  return result;
}

void add_duration(outcome result, copy_request const& request, copy_report const& report) noexcept {
  count_duration(result, report, request.bytes());
  if (measures_rates) compare_duration(result, request, report);
}

bool wants_summary() noexcept {
  read_settings();
  return prints_summary;
}

void before_capture() noexcept {
  constexpr auto longest_wait = std::chrono::milliseconds(100);
  announce_capture();
  auto const end = std::chrono::steady_clock::now() + longest_wait;
  while (copies_in_flight.load() != 0 && std::chrono::steady_clock::now() < end) sched_yield();
}

void before_reset(int device) noexcept {
  reset_devices.fetch_or(bit_of(device) & used_devices.load());
}

}  // namespace roc::preload
