// SPDX-License-Identifier: MIT
#include "platform/call.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/no_destructor.hpp"

namespace roc::platform {
namespace {

constexpr std::size_t call_count = static_cast<std::size_t>(call::count);

#define ROCARRAY_CALL_NAME(function) #function,
constexpr std::array<char const*, call_count> names = {ROCARRAY_HIP_CALLS(ROCARRAY_CALL_NAME)};
#undef ROCARRAY_CALL_NAME

struct planned_failure {
  std::size_t call_index = 0;
  unsigned remaining_uses = 0;  // including the one that fails
  hipError_t code = hipSuccess;
  failing_uses uses = failing_uses::one;
};

struct instrumentation {
  std::mutex mutex;
  std::vector<planned_failure> failures;
  call_hook hook = nullptr;
  unsigned running_host_functions = 0;  // in all threads
  bool is_observer = false;             // counted in base::call_observers

  // Counts this as an observer of calls while anything is active. The caller holds the mutex.
  void update_flag_locked() noexcept {
    bool const active = hook != nullptr || running_host_functions != 0 || !failures.empty();
    if (active && !is_observer) base::call_observers.fetch_add(1, std::memory_order_relaxed);
    if (!active && is_observer) base::call_observers.fetch_sub(1, std::memory_order_relaxed);
    is_observer = active;
  }
};

// Never destroyed: static destructors of the program still make calls.
instrumentation& state() {
  static base::no_destructor<instrumentation> instance;
  return *instance;
}

thread_local unsigned host_function_depth = 0;

// The code that CUDA returns for a call in a host function. Old HIP has no name for it.
constexpr auto not_permitted = static_cast<hipError_t>(800);

// Returns the index in `names`, or call_count if the library does not use the call.
std::size_t index_of(std::string_view name) noexcept {
  for (std::size_t i = 0; i < call_count; ++i) {
    if (name == names[i]) return i;
  }
  return call_count;
}

// Adds a failure to those planned. Returns false if it is invalid (see fail_call).
bool plan_failure(std::string_view name, unsigned nth, hipError_t code, failing_uses uses) {
  std::size_t const index = index_of(name);
  if (index == call_count || nth == 0 || code == hipSuccess) return false;
  std::lock_guard const lock(state().mutex);
  state().failures.push_back({index, nth, code, uses});
  state().update_flag_locked();
  return true;
}

// Plans the failure of one entry, "call:use" or "call:use:code". Returns false if it is malformed
// or names an unknown call. The default code is out of memory.
bool plan_failure_from_text(std::string_view entry) {
  auto const colon = entry.find(':');
  if (colon == std::string_view::npos) return false;
  char const* const last = entry.data() + entry.size();
  unsigned nth = 0;
  int code = hipErrorOutOfMemory;
  auto parsed = std::from_chars(entry.data() + colon + 1, last, nth);
  if (parsed.ec == std::errc{} && parsed.ptr != last && *parsed.ptr == ':') {
    parsed = std::from_chars(parsed.ptr + 1, last, code);
  }
  return parsed.ec == std::errc{} && parsed.ptr == last && code > 0 &&
         plan_failure(entry.substr(0, colon), nth, static_cast<hipError_t>(code),
                      failing_uses::one);
}

// Reads ROCARRAY_INJECT_FAILURE, and logs a warning for an invalid value. If calls are to be
// printed, reads the options too.
bool read_environment() {
  if (std::getenv("ROCARRAY_TRACE") != nullptr) static_cast<void>(base::options());
  char const* const text = std::getenv("ROCARRAY_INJECT_FAILURE");
  std::string_view rest = text == nullptr ? "" : text;
  while (!rest.empty()) {
    auto const comma = rest.find(',');
    std::string_view const entry = rest.substr(0, comma);
    if (!plan_failure_from_text(entry)) {
      bool const is_known_call = index_of(entry.substr(0, entry.find(':'))) != call_count;
      base::log_line(
          base::log_level::warning, "ROCARRAY_INJECT_FAILURE: \"%.*s\" %s",
          static_cast<int>(entry.size()), entry.data(),
          is_known_call
              ? "is not valid; use call:use or call:use:code, several separated by commas"
              : "names no call of the library; ROCARRAY_TRACE=calls prints the calls it makes");
    }
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return true;
}

// Before main, because the inline part of a call looks at base::call_observers only.
[[maybe_unused]] bool const environment_was_read = read_environment();

char const* name_of(call id) noexcept { return names[static_cast<std::size_t>(id)]; }

constexpr char const* refusal =
    "called by a host function of a stream, which must not call HIP; call it from the thread that "
    "launched the host function, before or after";

// Returns the message for a failed call, without advice.
std::string describe(char const* name, hipError_t code, std::source_location location) {
  if (code == not_permitted && host_function_depth != 0) return std::string(name) + " " + refusal;
  std::string text = name;
  text += " failed: " + hip_category().message(static_cast<int>(code));
  text += " (error " + std::to_string(static_cast<int>(code)) + ", at ";
  // Only the file name: messages must not contain paths of the build machine.
  std::string_view const file = location.file_name();
  text += file.substr(file.rfind('/') + 1);
  text += ':' + std::to_string(location.line()) + ')';
  return text;
}

}  // namespace

call_hook set_call_hook(call_hook hook) noexcept {
  std::lock_guard const lock(state().mutex);
  call_hook const previous = state().hook;
  state().hook = hook;
  state().update_flag_locked();
  return previous;
}

bool fail_call(char const* name, unsigned nth, hipError_t code, failing_uses uses) {
  {
    std::lock_guard const lock(state().mutex);
    std::erase_if(state().failures, [index = index_of(name)](planned_failure const& failure) {
      return failure.call_index == index;
    });
    state().update_flag_locked();
  }
  return plan_failure(name, nth, code, uses);
}

void clear_failures() noexcept {
  std::lock_guard const lock(state().mutex);
  state().failures.clear();
  state().update_flag_locked();
}

host_function_scope::host_function_scope() noexcept {
  ++host_function_depth;
  std::lock_guard const lock(state().mutex);
  ++state().running_host_functions;
  state().update_flag_locked();
}

host_function_scope::~host_function_scope() {
  --host_function_depth;
  std::lock_guard const lock(state().mutex);
  --state().running_host_functions;
  state().update_flag_locked();
}

namespace detail {

namespace {

// Passes a call to the hook and prints it if options::trace_calls is set.
void report(call id, hipError_t result, std::source_location location, bool injected) noexcept {
  call_hook hook = nullptr;
  {
    std::lock_guard const lock(state().mutex);
    hook = state().hook;
  }
  char const* const name = name_of(id);
  if (hook != nullptr) hook({name, result, location, injected});
  if (base::options().trace_calls) {
    std::fprintf(stderr, "rocarray: %s -> %d%s\n", name, static_cast<int>(result),
                 injected ? " (injected)" : "");
  }
}

}  // namespace

bool inject(call id, hipError_t& result, std::source_location location) noexcept {
  if (host_function_depth != 0) {
    result = not_permitted;
    report(id, result, location, true);
    return true;
  }
  {
    std::lock_guard const lock(state().mutex);
    auto& failures = state().failures;
    for (auto& failure : failures) {
      if (failure.call_index == static_cast<std::size_t>(id)) --failure.remaining_uses;
    }
    auto const due = std::find_if(failures.begin(), failures.end(),
                                  [](auto const& failure) { return failure.remaining_uses == 0; });
    if (due == failures.end()) return false;
    result = due->code;
    if (due->uses == failing_uses::all_later) due->remaining_uses = 1;  // the next use is due again
    std::erase_if(failures, [](auto const& failure) { return failure.remaining_uses == 0; });
    state().update_flag_locked();
  }
  report(id, result, location, true);
  return true;
}

void trace(call id, hipError_t result, std::source_location location) noexcept {
  report(id, result, location, false);
}

void fail(char const* name, hipError_t code, std::source_location location) {
  std::error_code const error_code(static_cast<int>(code), hip_category());
  std::string text = describe(name, code, location);
  if (code == hipErrorOutOfMemory) {
    throw out_of_memory(error_code, text.append(out_of_memory_advice), name, location);
  }
  if (error_code == std::errc::no_such_device) {
    text += "; roc::device::count() returns the number of devices, 0 also without a driver";
  }
  throw error(error_code, text, name, location);
}

void fail(call id, hipError_t code, std::source_location location) {
  fail(name_of(id), code, location);
}

bool is_in_host_function() noexcept { return host_function_depth != 0; }

void refuse_in_host_function() {
  if (!is_in_host_function()) return;
  throw error({static_cast<int>(not_permitted), hip_category()}, refusal);
}

void log_failure(call id, hipError_t code, std::source_location location) noexcept {
  // The runtime may shut down before the last static destructor: this is not an error.
  if (code == hipErrorDeinitialized) return;
  try {
    base::log_error(describe(name_of(id), code, location));
  } catch (std::bad_alloc const&) {
    base::log_error(name_of(id));
  }
}

}  // namespace detail
}  // namespace roc::platform
