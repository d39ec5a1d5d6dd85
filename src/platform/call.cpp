// SPDX-License-Identifier: MIT
#include "platform/call.hpp"

#include <algorithm>
#include <array>
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

namespace roc::platform {
namespace {

constexpr std::size_t call_count = static_cast<std::size_t>(call::count);

#define ROCARRAY_CALL_NAME(function) #function,
constexpr std::array<char const*, call_count> names = {ROCARRAY_HIP_CALLS(ROCARRAY_CALL_NAME)};
#undef ROCARRAY_CALL_NAME

struct planned_failure {
  std::size_t call = 0;
  unsigned uses_left = 0;
  hipError_t code = hipSuccess;
};

struct instruments {
  std::mutex mutex;
  std::vector<planned_failure> failures;
  call_hook hook = nullptr;
  bool print = false;
  unsigned host_functions = 0;  // that run now

  // Holding the mutex.
  void update_flag() const noexcept {
    bool const any = hook != nullptr || print || host_functions != 0 || !failures.empty();
    detail::instrumented.store(any, std::memory_order_relaxed);
  }
};

// Leaked on purpose: calls are made until the very end of the process.
instruments& state() {
  static auto* const instance = new instruments;
  return *instance;
}

thread_local unsigned host_functions_here = 0;

// What CUDA answers to a call from a host function; old HIP has no name for it.
constexpr auto not_permitted = static_cast<hipError_t>(800);

std::size_t index_of(std::string_view name) noexcept {
  for (std::size_t i = 0; i < call_count; ++i) {
    if (name == names[i]) return i;
  }
  return call_count;
}

bool plan(std::string_view name, unsigned nth, hipError_t code) {
  std::size_t const index = index_of(name);
  if (index == call_count || nth == 0 || code == hipSuccess) return false;
  std::lock_guard const lock(state().mutex);
  state().failures.push_back({index, nth, code});
  state().update_flag();
  return true;
}

// "hipMalloc:3,hipMemcpyAsync:1:719": the third hipMalloc runs out of memory, and so on.
bool plan_from_text(std::string_view entry) {
  auto const colon = entry.find(':');
  if (colon == std::string_view::npos) return false;
  std::string const numbers(entry.substr(colon + 1));
  char* end = nullptr;
  unsigned long const nth = std::strtoul(numbers.c_str(), &end, 10);
  long code = hipErrorOutOfMemory;
  if (*end == ':') code = std::strtol(end + 1, &end, 10);
  return *end == '\0' && plan(entry.substr(0, colon), static_cast<unsigned>(nth),
                              static_cast<hipError_t>(code));
}

bool read_environment() {
  if (char const* const trace = std::getenv("ROCARRAY_TRACE"); trace != nullptr) {
    std::lock_guard const lock(state().mutex);
    state().print = std::strcmp(trace, "calls") == 0;
    state().update_flag();
    if (!state().print) {
      base::log_line(base::log_level::warning, "ROCARRAY_TRACE=%s: it can be calls", trace);
    }
  }
  char const* const text = std::getenv("ROCARRAY_INJECT_FAILURE");
  std::string_view rest = text == nullptr ? "" : text;
  while (!rest.empty()) {
    auto const comma = rest.find(',');
    std::string_view const entry = rest.substr(0, comma);
    if (!plan_from_text(entry)) {
      bool const known = index_of(entry.substr(0, entry.find(':'))) != call_count;
      base::log_line(base::log_level::warning, "ROCARRAY_INJECT_FAILURE: \"%.*s\" %s",
                        static_cast<int>(entry.size()), entry.data(),
                        known ? "is not call:use or call:use:code"
                              : "names no call of the library: ROCARRAY_TRACE=calls prints those it makes");
    }
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return true;
}

[[maybe_unused]] bool const environment_was_read = read_environment();

char const* name_of(call id) noexcept { return names[static_cast<std::size_t>(id)]; }

std::string describe_refusal(char const* name) {
  return std::string(name) +
         " called by a host function of a stream, which may not call HIP: do it in the thread that "
         "launched the function, before or after";
}

std::string describe(char const* name, hipError_t code, std::source_location place) {
  if (code == not_permitted && host_functions_here != 0) return describe_refusal(name);
  std::string text = name;
  text += " failed: " + hip_category().message(static_cast<int>(code));
  text += " (error " + std::to_string(static_cast<int>(code)) + ", at ";
  // The file's last part says enough, and no path of the building machine gets out.
  std::string_view const file = place.file_name();
  text += file.substr(file.rfind('/') + 1);
  text += ':' + std::to_string(place.line()) + ')';
  return text;
}

}  // namespace

call_hook set_call_hook(call_hook hook) noexcept {
  std::lock_guard const lock(state().mutex);
  call_hook const before = state().hook;
  state().hook = hook;
  state().update_flag();
  return before;
}

bool fail_call(char const* name, unsigned nth, hipError_t code) {
  {
    std::lock_guard const lock(state().mutex);
    std::erase_if(state().failures,
                  [index = index_of(name)](planned_failure const& f) { return f.call == index; });
    state().update_flag();
  }
  return plan(name, nth, code);
}

void clear_failures() noexcept {
  std::lock_guard const lock(state().mutex);
  state().failures.clear();
  state().update_flag();
}

host_function_scope::host_function_scope() noexcept {
  ++host_functions_here;
  std::lock_guard const lock(state().mutex);
  ++state().host_functions;
  state().update_flag();
}

host_function_scope::~host_function_scope() {
  --host_functions_here;
  std::lock_guard const lock(state().mutex);
  --state().host_functions;
  state().update_flag();
}

namespace detail {

std::atomic<bool> instrumented = false;

namespace {

void report(call id, hipError_t result, std::source_location place, bool injected) noexcept {
  call_hook hook = nullptr;
  bool print = false;
  {
    std::lock_guard const lock(state().mutex);
    hook = state().hook;
    print = state().print;
  }
  char const* const name = name_of(id);
  if (hook != nullptr) hook({name, result, place, injected});
  if (print) {
    std::fprintf(stderr, "rocarray: %s -> %d%s\n", name, static_cast<int>(result),
                 injected ? " (injected)" : "");
  }
}

}  // namespace

bool inject(call id, hipError_t& result, std::source_location place) noexcept {
  if (host_functions_here != 0) {
    result = not_permitted;
    report(id, result, place, true);
    return true;
  }
  {
    std::lock_guard const lock(state().mutex);
    auto& failures = state().failures;
    for (auto& failure : failures) {
      if (failure.call == static_cast<std::size_t>(id)) --failure.uses_left;
    }
    auto const due = std::find_if(failures.begin(), failures.end(),
                                  [](auto const& failure) { return failure.uses_left == 0; });
    if (due == failures.end()) return false;
    result = due->code;
    std::erase_if(failures, [](auto const& failure) { return failure.uses_left == 0; });
    state().update_flag();
  }
  report(id, result, place, true);
  return true;
}

void trace(call id, hipError_t result, std::source_location place) noexcept {
  report(id, result, place, false);
}

void fail(char const* name, hipError_t code, std::source_location place) {
  std::error_code const error_code(static_cast<int>(code), hip_category());
  std::string text = describe(name, code, place);
  if (code == hipErrorOutOfMemory) {
    throw out_of_memory(error_code, text.append(memory_advice), name, place);
  }
  if (error_code == std::errc::no_such_device) {
    text += ": roc::device::count() says how many devices there are, 0 also where no driver is";
  }
  throw error(error_code, text, name, place);
}

void fail(call id, hipError_t code, std::source_location place) { fail(name_of(id), code, place); }

void refuse_in_host_function(char const* what) {
  if (host_functions_here == 0) return;
  throw error({static_cast<int>(not_permitted), hip_category()}, describe_refusal(what), what);
}

void log_failure(call id, hipError_t code, std::source_location place) noexcept {
  // The runtime may be gone before the last destructor: that is no one's error.
  if (code == hipErrorDeinitialized) return;
  try {
    base::log(describe(name_of(id), code, place));
  } catch (std::bad_alloc const&) {
    base::log(name_of(id));
  }
}

}  // namespace detail
}  // namespace roc::platform
