// SPDX-License-Identifier: MIT
#include "platform/host/api_call.hpp"

#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <string_view>

#include "platform/calls.hpp"
#include "platform/host/settings.hpp"

namespace roc::host_hip {
namespace {

struct planned_failure {
  unsigned remaining_uses;  // including the one that fails
  hipError_t error;
};

struct failure_plan {
  std::mutex mutex;
  std::multimap<std::string, planned_failure, std::less<>> by_call;
  std::atomic<bool> is_active = false;
  bool valid = true;  // false if ROCARRAY_HOST_INJECT_FAILURE is invalid: every call fails
};

// Returns true if a failure can be planned for the call.
bool can_fail(std::string_view call) {
  if (call == "hipGetErrorName" || call == "hipGetErrorString") return false;
#define ROCARRAY_HOST_IS_CALL(name) \
  if (call == #name) return true;
  ROCARRAY_HIP_CALLS(ROCARRAY_HOST_IS_CALL)
#undef ROCARRAY_HOST_IS_CALL
  return call == "launch_host_kernel" || call == "launch_host_grid" ||
         call == "static_shared_bytes" || call == "hipLaunchKernel" ||
         call == "hipFuncGetAttributes" || call == "start_thread";
}

// Adds a failure. Returns false if it is invalid (see fail_at).
bool add_failure(failure_plan& plan, std::string_view call, unsigned nth, hipError_t error) {
  if (!can_fail(call) || nth == 0 || error == hipSuccess) return false;
  std::lock_guard const lock(plan.mutex);
  plan.by_call.emplace(call, planned_failure{nth, error});
  plan.is_active = true;
  return true;
}

// Adds the failure of one entry, "call:use" or "call:use:code". Returns false if it is malformed.
bool add_failure_from_text(failure_plan& plan, std::string_view entry) {
  auto const colon = entry.find(':');
  if (colon == std::string_view::npos) return false;
  std::string_view const name = entry.substr(0, colon);
  char const* const last = entry.data() + entry.size();
  unsigned nth = 0;
  bool const is_exhaustion = name.ends_with("Malloc") || name == "start_thread";
  int error = is_exhaustion ? hipErrorOutOfMemory : hipErrorUnknown;
  auto parsed = std::from_chars(entry.data() + colon + 1, last, nth);
  if (parsed.ec == std::errc{} && parsed.ptr != last && *parsed.ptr == ':') {
    parsed = std::from_chars(parsed.ptr + 1, last, error);
  }
  return parsed.ec == std::errc{} && parsed.ptr == last && error > 0 &&
         add_failure(plan, name, nth, static_cast<hipError_t>(error));
}

// Returns the planned failures; the first call reads ROCARRAY_HOST_INJECT_FAILURE. Never destroyed:
// static destructors of the program still make calls.
failure_plan& planned_failures() {
  static auto* const instance = [] {
    auto* const plan = new failure_plan;
    char const* const text = std::getenv("ROCARRAY_HOST_INJECT_FAILURE");
    std::string_view rest = text == nullptr ? "" : text;
    while (!rest.empty()) {
      auto const comma = rest.find(',');
      std::string_view const entry = rest.substr(0, comma);
      if (!add_failure_from_text(*plan, entry)) {
        std::fprintf(stderr,
                     "rocarray host: ROCARRAY_HOST_INJECT_FAILURE=%s is not valid (%.*s); use "
                     "call:use[:code], several separated by commas\n",
                     text, static_cast<int>(entry.size()), entry.data());
        plan->valid = false;
      }
      rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    }
    return plan;
  }();
  return *instance;
}

thread_local bool in_host_function = false;
thread_local hipError_t stored_error = hipSuccess;

}  // namespace

hipError_t injected_failure(std::string_view call) {
  failure_plan& plan = planned_failures();
  if (!plan.is_active.load(std::memory_order_relaxed)) return hipSuccess;
  std::lock_guard const lock(plan.mutex);
  hipError_t error = hipSuccess;
  for (auto [failure, end] = plan.by_call.equal_range(call); failure != end;) {
    bool const is_due = --failure->second.remaining_uses == 0;
    if (is_due) error = failure->second.error;
    failure = is_due ? plan.by_call.erase(failure) : std::next(failure);
  }
  plan.is_active = !plan.by_call.empty();
  return error;
}

hipError_t undefined_call(char const* message, hipError_t result) {
  std::fprintf(stderr, "rocarray host: %s\n", message);
  if (host_settings().strict) std::abort();
  return result;
}

hipError_t begin_api_call(char const* name, bool needs_device) {
  if (in_host_function) return not_permitted;
  settings const& options = host_settings();
  if (!options.valid || !planned_failures().valid) return hipErrorInvalidValue;
  if (needs_device && options.device_count == 0) return hipErrorInvalidDevice;
  return injected_failure(name);
}

hipError_t end_api_call(hipError_t result) noexcept {
  runtime_rules const rules = host_settings().emulated;
  if (rules == runtime_rules::rocm5 || rules == runtime_rules::rocm6) {
    stored_error = result;  // ROCm before 7 keeps the result of the last call, a success too
  } else if (result != hipSuccess && result != hipErrorNotReady) {
    stored_error = result;
  }
  return result;
}

hipError_t last_error(char const* name, bool clear) noexcept {
  if (in_host_function) return not_permitted;
  try {
    if (hipError_t const error = injected_failure(name); error != hipSuccess) return error;
  } catch (std::bad_alloc const&) {
    return hipErrorOutOfMemory;
  }
  hipError_t const error = stored_error;
  if (clear) stored_error = hipSuccess;
  return error;
}

host_function_scope::host_function_scope() noexcept : was_in_host_function_(in_host_function) {
  in_host_function = true;
}
host_function_scope::~host_function_scope() { in_host_function = was_in_host_function_; }

bool fail_at(char const* call, unsigned nth, hipError_t error) {
  return add_failure(planned_failures(), call, nth, error);
}

std::size_t clear_failures() noexcept {
  failure_plan& plan = planned_failures();
  std::lock_guard const lock(plan.mutex);
  std::size_t const count = plan.by_call.size();
  plan.by_call.clear();
  plan.is_active = false;
  return count;
}

}  // namespace roc::host_hip
