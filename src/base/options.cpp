// SPDX-License-Identifier: MIT
#include "base/options.hpp"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include <roc/error.hpp>

#include "base/environment.hpp"
#include "base/parse_size.hpp"
#include "base/staging_threshold.hpp"

namespace roc::base {

constinit thread_local active_options const* thread_options = nullptr;
constinit std::atomic<active_options const*> process_options = nullptr;
constinit std::atomic<unsigned> call_observers = 0;

namespace {

constexpr std::size_t kibi = std::size_t{1} << 10;
constexpr std::size_t mebi = std::size_t{1} << 20;
constexpr std::size_t tebi = std::size_t{1} << 40;

// An option that is a number.
struct number {
  char const* variable;
  char const* member;
  std::size_t roc::options::*value;
  std::size_t minimum;
  std::size_t maximum;
  size_suffix suffix;
};

constexpr number copy_threads{
    "ROCARRAY_COPY_THREADS", "copy_threads", &roc::options::copy_threads, 1, 256,
    size_suffix::none};
constexpr std::array numbers = {
    copy_threads,
    number{"ROCARRAY_STAGING_THRESHOLD", "staging_threshold", &roc::options::staging_threshold, 0,
           tebi, size_suffix::binary},
    number{"ROCARRAY_STAGING_LIMIT", "staging_limit", &roc::options::staging_limit, 4 * kibi, tebi,
           size_suffix::binary},
    number{"ROCARRAY_STAGING_BLOCK", "staging_block", &roc::options::staging_block, 4 * kibi, tebi,
           size_suffix::binary},
    number{"ROCARRAY_STAGING_CHUNK", "staging_chunk", &roc::options::staging_chunk, 4 * kibi, tebi,
           size_suffix::binary},
    number{"ROCARRAY_MEMCPY2D_MIN_ROW", "memcpy2d_min_row", &roc::options::memcpy2d_min_row, 1,
           tebi, size_suffix::binary},
    number{"ROCARRAY_PINNED_CACHE", "pinned_cache", &roc::options::pinned_cache, 0, tebi,
           size_suffix::binary},
    number{"ROCARRAY_PAGEABLE_CACHE", "pageable_cache", &roc::options::pageable_cache, 0, tebi,
           size_suffix::binary},
    number{"ROCARRAY_REGISTER_CHUNK", "register_chunk", &roc::options::register_chunk, 4 * kibi,
           tebi, size_suffix::binary},
};

// An option that is true or false.
struct flag {
  char const* member;
  bool roc::options::*value;
};

constexpr std::array flags = {
    flag{"peer_access", &roc::options::peer_access},
    flag{"trace_calls", &roc::options::trace_calls},
    flag{"leak_check", &roc::options::leak_check},
    flag{"profiler_ranges", &roc::options::profiler_ranges},
};

// The names of enumerators, in the order of their values.
constexpr std::array<char const*, 6> log_levels = {"off",  "error", "warning",
                                                   "info", "debug", "trace"};
constexpr std::array<char const*, 3> resources = {"pool", "hip", "hip_async"};
constexpr std::array<char const*, 3> staging_methods = {"auto", "values", "host_functions"};

std::array<char const*, 8> path_names() noexcept {
  std::array<char const*, 8> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = to_string(static_cast<copy_path>(i));
  return names;
}

bool is_in_range(number const& option, std::size_t value) noexcept {
  return value >= option.minimum && value <= option.maximum;
}

// The limit for enqueued copies is lower than staging_threshold, because the HIP runtime must have
// read a pageable source when the call returns. Only CUDA promises that, and only up to 64 KiB
// without waiting for the stream.
#if ROCARRAY_PLATFORM_NVIDIA
constexpr std::size_t enqueued_threshold = mebi / 16;
#else
constexpr std::size_t enqueued_threshold = 0;
#endif

#if defined(NDEBUG)
constexpr bool leak_check_by_default = false;
#else
constexpr bool leak_check_by_default = true;
#endif

// Returns the options of a process whose environment has none. Names all members, because the
// default of a member is the value in effect.
roc::options defaults() noexcept {
  // Measured on one H100 (docs/figures.md, Strided host memory): the threads that pack copy rows of
  // 16 bytes 2.5 times faster than the copy engines do. At 64 bytes they reach 31 (to the device)
  // and 38 GB/s (to the host) from and to pageable memory, the engines 37 and 41 with pinned
  // memory. The sizes between them have not been measured. AMD's value is taken over, not measured.
  constexpr std::size_t memcpy2d_min_row = 64;
  std::size_t const processors = std::max(1u, std::thread::hardware_concurrency());
  return {.path = copy_path::none,
          .copy_threads = std::min<std::size_t>(processors, 12),
          .staging_threshold = default_staging_threshold,
          .staging_limit = 64 * mebi,
          .staging_block = 4 * mebi,
          .staging_chunk = 4 * mebi,
          .stream_staging = stream_staging_method::automatic,
          .memcpy2d_min_row = memcpy2d_min_row,
          .pinned_cache = 256 * mebi,
          .pageable_cache = 256 * mebi,
          .register_chunk = 1024 * mebi,
          .memory_resource = default_resource::pool,
          .peer_access = true,
          .log = log_level::warning,
          .trace_calls = false,
          .leak_check = leak_check_by_default,
          .profiler_ranges = true};
}

// Returns the options with sizes rounded to those that can be used, and what is derived from them.
active_options activate(roc::options const& values) noexcept {
  active_options result{values, 0, 0, false, false};
  // A multiple of the widest access on the device, so that every chunk begins at one.
  constexpr std::size_t widest_access = 256;
  result.chunk_bytes =
      std::min(values.staging_chunk, values.staging_block) / widest_access * widest_access;
  // A multiple of the largest page size in use.
  constexpr std::size_t page = 64 * kibi;
  result.register_chunk = std::max(values.register_chunk / page, std::size_t{1}) * page;
  result.staging_threshold_on_stream = std::min(values.staging_threshold, enqueued_threshold);
  return result;
}

// Reads environment variables into options. The level of the log is read first, so that it applies
// to the warnings. These do not go through log_line, which needs the options.
class environment_reader {
 public:
  explicit environment_reader(roc::options& result) noexcept : result_(result) {
    read_name("ROCARRAY_LOG", "log level", log_levels, result.log);
    report_unknown_variables();
    for (number const& option : numbers) read_number(option);
    read_name("ROCARRAY_COPY_PATH", "copy path", path_names(), result.path);
    read_name("ROCARRAY_MEMORY_RESOURCE", "memory resource", resources, result.memory_resource);
    read_name("ROCARRAY_STREAM_STAGING", "staging method", staging_methods, result.stream_staging);
    read_flag("ROCARRAY_PEER_ACCESS", "0", "1", result.peer_access);
    read_flag("ROCARRAY_LEAK_CHECK", "0", "1", result.leak_check);
    // The search for the profiler reports other values that cannot be used.
    char const* const profiler = std::getenv("ROCARRAY_PROFILER");
    result.profiler_ranges = profiler == nullptr || std::string_view(profiler) != "off";
    if (char const* const trace = std::getenv("ROCARRAY_TRACE"); trace != nullptr) {
      result.trace_calls = std::string_view(trace) == "calls";
      if (!result.trace_calls) {
        warn("ROCARRAY_TRACE is not a kind of trace: %s; use calls, or unset it", trace);
      }
    }
  }

 private:
  // Logs a warning.
  [[gnu::format(printf, 2, 3)]] void warn(char const* format, ...) const noexcept {
    if (result_.log < log_level::warning) return;
    std::va_list arguments;
    va_start(arguments, format);
    write_line(log_level::warning, format, arguments);
    va_end(arguments);
  }

  void report_unknown_variables() const noexcept {
    for_each_unknown_variable(
        [](void const* self, std::string_view name) noexcept {
          std::string_view const nearest = nearest_known_variable(name);
          static_cast<environment_reader const*>(self)->warn(
              "%.*s is not a known variable; did you mean %.*s?", static_cast<int>(name.size()),
              name.data(), static_cast<int>(nearest.size()), nearest.data());
        },
        this);
  }

  void read_number(number const& option) noexcept {
    char const* const text = std::getenv(option.variable);
    if (text == nullptr) return;
    auto const value = parse_size(text, option.suffix);
    if (value && is_in_range(option, *value)) {
      result_.*option.value = *value;
      return;
    }
    warn("%s is not a usable number: %s; use a number from %zu to %zu%s", option.variable, text,
         option.minimum, option.maximum,
         option.suffix == size_suffix::binary ? ", in bytes or with K, M or G" : "");
  }

  template <class Enumeration, std::size_t N>
  void read_name(char const* variable, char const* kind, std::array<char const*, N> const& names,
                 Enumeration& value) noexcept {
    char const* const text = std::getenv(variable);
    if (text == nullptr) return;
    std::array<char, 80> list{};
    std::size_t length = 0;
    for (std::size_t i = 0; i < N; ++i) {
      if (std::string_view(text) == names[i]) {
        value = static_cast<Enumeration>(i);
        return;
      }
      char const* const separator = i == 0 ? "" : i + 1 < N ? ", " : " or ";
      length += static_cast<std::size_t>(std::max(
          0,
          std::snprintf(list.data() + length, list.size() - length, "%s%s", separator, names[i])));
    }
    warn("%s is not a %s: %s; use %s", variable, kind, text, list.data());
  }

  void read_flag(char const* variable, std::string_view off, std::string_view on,
                 bool& value) noexcept {
    char const* const text = std::getenv(variable);
    if (text == nullptr) return;
    if (text != off && text != on) {
      return warn("%s is not valid: %s; use %s or %s", variable, text, off.data(), on.data());
    }
    value = text == on;
  }

  roc::options& result_;
};

active_options options_from_environment() noexcept {
  roc::options result = defaults();
  environment_reader const reader(result);
  return activate(result);
}

[[noreturn]] void throw_invalid(std::string const& message) {
  throw error(std::make_error_code(std::errc::invalid_argument), message);
}

void check_number(char const* structure, char const* member, number const& option,
                  std::size_t value) {
  if (is_in_range(option, value)) return;
  throw_invalid(std::string(structure) + "::" + member +
                " is out of range: " + std::to_string(value) + "; use a number from " +
                std::to_string(option.minimum) + " to " + std::to_string(option.maximum));
}

// Throws unless `value` is one of the first `count` enumerators.
template <class Enumeration>
void check_enumerator(char const* member, char const* type, Enumeration value, std::size_t count) {
  auto const index = static_cast<std::size_t>(value);
  if (index < count) return;
  throw_invalid(std::string(member) + " is invalid: " + std::to_string(index) +
                "; use an enumerator of " + type);
}

// Calls f(entry) for the number or flag, or f(value, names) for the enumeration, that is the member
// of `values` with this name, and returns the result. Throws roc::error for an unknown name.
template <class Options, class F>
auto with_member(Options& values, std::string_view member, F f) {
  for (number const& option : numbers) {
    if (member == option.member) return f(option);
  }
  for (flag const& option : flags) {
    if (member == option.member) return f(option);
  }
  if (member == "path") return f(values.path, path_names());
  if (member == "memory_resource") return f(values.memory_resource, resources);
  if (member == "stream_staging") return f(values.stream_staging, staging_methods);
  if (member == "log") return f(values.log, log_levels);
  std::string names = "path, memory_resource, stream_staging, log";
  for (number const& option : numbers) names.append(", ").append(option.member);
  for (flag const& option : flags) names.append(", ").append(option.member);
  throw_invalid("there is no option of the name \"" + std::string(member) + "\"; use one of " +
                names);
}

[[noreturn]] void throw_invalid_text(std::string_view member, std::string_view text,
                                     std::string const& advice) {
  throw_invalid("the text of options::" + std::string(member) + " is invalid: \"" +
                std::string(text) + "\"; use " + advice);
}

// Sets one member of the options from a text.
struct member_setter {
  roc::options& values;
  std::string_view member;
  std::string_view text;

  void operator()(number const& option) const {
    auto const value = parse_size(text, option.suffix);
    if (!value || !is_in_range(option, *value)) {
      throw_invalid_text(member, text,
                         "a number from " + std::to_string(option.minimum) + " to " +
                             std::to_string(option.maximum) +
                             (option.suffix == size_suffix::binary ? ", also with K, M or G" : ""));
    }
    values.*option.value = *value;
  }
  void operator()(flag const& option) const {
    if (text != "0" && text != "1") throw_invalid_text(member, text, "0 or 1");
    values.*option.value = text == "1";
  }
  template <class Enumeration, std::size_t N>
  void operator()(Enumeration& value, std::array<char const*, N> const& names) const {
    std::string list;
    for (std::size_t i = 0; i < N; ++i) {
      if (text == names[i]) {
        value = static_cast<Enumeration>(i);
        return;
      }
      list.append(i == 0 ? "" : ", ").append(names[i]);
    }
    throw_invalid_text(member, text, "one of " + list);
  }
};

// Returns the text of one member of the options.
struct member_getter {
  roc::options const& values;

  std::string operator()(number const& option) const {
    return std::to_string(values.*option.value);
  }
  std::string operator()(flag const& option) const { return values.*option.value ? "1" : "0"; }
  template <class Enumeration, std::size_t N>
  std::string operator()(Enumeration value, std::array<char const*, N> const& names) const {
    return names[static_cast<std::size_t>(value)];
  }
};

// Throws roc::error unless all members can be used.
void validate(roc::options const& values) {
  for (number const& option : numbers) {
    check_number("options", option.member, option, values.*option.value);
  }
  check_enumerator("options::path", "copy_path", values.path, path_names().size());
  check_enumerator("options::memory_resource", "default_resource", values.memory_resource,
                   resources.size());
  check_enumerator("options::stream_staging", "stream_staging_method", values.stream_staging,
                   staging_methods.size());
  check_enumerator("options::log", "log_level", values.log, log_levels.size());
}

active_options validated(roc::options const& values) {
  validate(values);
  return activate(values);
}

// Returns the options in effect with those of a copy.
active_options with(copy_options const& values) {
  if (values.threads != 0) {
    check_number("copy_options", "threads", copy_threads, values.threads);
  }
  check_enumerator("copy_options::path", "copy_path", values.path, path_names().size());
  active_options result = options();
  if (values.threads != 0) {
    result.copy_threads = values.threads;
    result.are_threads_required = true;
  }
  if (values.path != copy_path::none) {
    result.path = values.path;
    result.is_path_required = true;
  }
  return result;
}

// A value that the options of the process have or had. A reader may hold a reference to it at any
// time, so none is freed; equal values share one.
struct process_value {
  active_options values;
  process_value const* next;
};

}  // namespace

active_options const& read_environment() noexcept {
  static active_options const from_environment = [] {
    active_options const values = options_from_environment();
    if (values.trace_calls) call_observers.fetch_add(1);
    return values;
  }();
  active_options const* expected = nullptr;
  process_options.compare_exchange_strong(expected, &from_environment);
  return *process_options.load(std::memory_order_acquire);
}

void write_line(log_level level, char const* format, std::va_list arguments) noexcept {
  std::array<char, 1024> text;
  std::vsnprintf(text.data(), text.size(), format, arguments);
  // One call per line, so that lines of several threads do not mix.
  std::fprintf(stderr, "rocarray: %s: %s\n", log_levels[static_cast<std::size_t>(level)],
               text.data());
}

std::string member_text(roc::options const& values, std::string_view member) {
  return with_member(values, member, member_getter{values});
}

void set_member(roc::options& values, std::string_view member, std::string_view text) {
  with_member(values, member, member_setter{values, member, text});
}

void throw_impossible_path(copy_path path) {
  throw_invalid(std::string("the copy cannot take the path of its copy_options: ") +
                to_string(path) +
                "; use copy_path::none, or a path that its layouts and kinds "
                "of memory allow");
}

}  // namespace roc::base

namespace roc {

options const& detail::options_in_effect() noexcept { return base::options(); }

options get_options() noexcept { return base::options(); }

void set_options(options const& values, detail::caller at) {
  detail::call_scope const call(__func__, at);
  static std::mutex mutex;
  static base::process_value const* known_values = nullptr;  // guarded by mutex
  detail::active_options const active = base::validated(values);
  std::lock_guard const lock(mutex);
  base::read_environment();
  detail::active_options const& previous = *base::process_options.load();
  base::process_value const* entry = known_values;
  while (entry != nullptr && entry->values != active) entry = entry->next;
  if (entry == nullptr) entry = known_values = new base::process_value{active, known_values};
  if (active.trace_calls) base::call_observers.fetch_add(1);
  base::process_options.store(&entry->values, std::memory_order_release);
  if (previous.trace_calls) base::call_observers.fetch_sub(1);
}

namespace detail {

options_override::options_override(options const& values)
    : options_override(base::validated(values)) {}

options_override::options_override(copy_options const& values)
    : options_override(base::with(values)) {}

options_override::options_override(active_options const& values) noexcept
    : values_(values), previous_(base::thread_options) {
  if (values_.trace_calls) base::call_observers.fetch_add(1);
  base::thread_options = &values_;
}

options_override::~options_override() {
  base::thread_options = previous_;
  if (values_.trace_calls) base::call_observers.fetch_sub(1);
}

}  // namespace detail
}  // namespace roc
