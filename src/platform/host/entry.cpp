// SPDX-License-Identifier: MIT
#include "platform/host/entry.hpp"

#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "platform/calls.hpp"
#include "platform/host/settings.hpp"

namespace roc::host_hip {
namespace {

struct planned {
  unsigned uses_left;
  hipError_t error;
};

struct faults {
  std::mutex mutex;
  std::multimap<std::string, planned, std::less<>> by_call;
  std::atomic<bool> any = false;
  bool valid = true;  // false: the setting could not be read
};

bool can_fail(std::string_view call) {
  if (call == "hipGetErrorName" || call == "hipGetErrorString") return false;
#define ROCARRAY_HOST_IS_CALL(name) \
  if (call == #name) return true;
  ROCARRAY_HIP_CALLS(ROCARRAY_HOST_IS_CALL)
#undef ROCARRAY_HOST_IS_CALL
  return call == "launch_host_kernel" || call == "hipLaunchKernel";
}

bool plan(faults& into, std::string_view call, unsigned nth, hipError_t error) {
  if (!can_fail(call) || nth == 0 || error == hipSuccess) return false;
  std::lock_guard const lock(into.mutex);
  into.by_call.emplace(call, planned{nth, error});
  into.any = true;
  return true;
}

// "hipMalloc:3" or "hipMalloc:3:2".
bool plan_entry(faults& into, std::string_view entry) {
  auto const colon = entry.find(':');
  if (colon == std::string_view::npos) return false;
  std::string_view const name = entry.substr(0, colon);
  char const* const last = entry.data() + entry.size();
  unsigned nth = 0;
  int error = name.ends_with("Malloc") ? hipErrorOutOfMemory : hipErrorUnknown;
  auto place = std::from_chars(entry.data() + colon + 1, last, nth);
  if (place.ec == std::errc{} && place.ptr != last && *place.ptr == ':') {
    place = std::from_chars(place.ptr + 1, last, error);
  }
  return place.ec == std::errc{} && place.ptr == last && error > 0 &&
         plan(into, name, nth, static_cast<hipError_t>(error));
}

// Leaked on purpose: calls come until the very end of the process.
faults& the_faults() {
  static auto* const instance = [] {
    auto* const made = new faults;
    char const* const text = std::getenv("ROCARRAY_HOST_INJECT_FAILURE");
    std::string_view rest = text == nullptr ? "" : text;
    while (!rest.empty()) {
      auto const comma = rest.find(',');
      std::string_view const entry = rest.substr(0, comma);
      if (!plan_entry(*made, entry)) {
        std::fprintf(stderr,
                     "rocarray host: ROCARRAY_HOST_INJECT_FAILURE=%s cannot be used (%.*s): give call:use[:code], "
                     "several with commas\n",
                     text, static_cast<int>(entry.size()), entry.data());
        made->valid = false;
      }
      rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    }
    return made;
  }();
  return *instance;
}

hipError_t injected(std::string_view call) noexcept {
  faults& known = the_faults();
  if (!known.any.load(std::memory_order_relaxed)) return hipSuccess;
  std::lock_guard const lock(known.mutex);
  hipError_t error = hipSuccess;
  for (auto [place, end] = known.by_call.equal_range(call); place != end;) {
    bool const due = --place->second.uses_left == 0;
    if (due) error = place->second.error;
    place = due ? known.by_call.erase(place) : std::next(place);
  }
  known.any = !known.by_call.empty();
  return error;
}

thread_local bool in_host_function = false;
thread_local hipError_t last_error = hipSuccess;

}  // namespace

hipError_t enter(char const* name, bool needs_device) noexcept {
  if (in_host_function) return not_permitted;
  settings const& known = the_settings();
  if (!known.valid || !the_faults().valid) return hipErrorInvalidValue;
  if (needs_device && known.devices == 0) return hipErrorInvalidDevice;
  return injected(name);
}

hipError_t leave(hipError_t result) noexcept {
  if (the_settings().registration == rules::rocm5) {
    last_error = result;  // what the last call gave, whatever that was
  } else if (result != hipSuccess && result != hipErrorNotReady) {
    last_error = result;
  }
  return result;
}

host_function_scope::host_function_scope() noexcept : before_(in_host_function) {
  in_host_function = true;
}
host_function_scope::~host_function_scope() { in_host_function = before_; }

bool fail_at(char const* call, unsigned nth, hipError_t error) {
  return plan(the_faults(), call, nth, error);
}

}  // namespace roc::host_hip

ROCARRAY_HOST_API_BEGIN

// Neither is remembered as a call: what was remembered before is what they are asked for.
ROCARRAY_HOST_API hipError_t hipGetLastError() {
  if (in_host_function) return not_permitted;
  if (hipError_t const error = injected("hipGetLastError"); error != hipSuccess) return error;
  hipError_t const last = last_error;
  last_error = hipSuccess;
  return last;
}

ROCARRAY_HOST_API hipError_t hipPeekAtLastError() {
  if (in_host_function) return not_permitted;
  hipError_t const error = injected("hipPeekAtLastError");
  return error != hipSuccess ? error : last_error;
}

ROCARRAY_HOST_API_END
