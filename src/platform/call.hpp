// SPDX-License-Identifier: MIT
// Checked calls of HIP: the only way in which the library calls HIP.
//
// - ROCARRAY_HIP(hipMalloc, &pointer, bytes): throws roc::error with code, call and location.
// - ROCARRAY_HIP_READY(hipStreamQuery, stream): returns false for hipErrorNotReady, else throws.
// - ROCARRAY_HIP_QUIET(hipFree, pointer): logs instead of throwing, for destructors.
// - ROCARRAY_HIP_CODE(hipMalloc, &pointer, bytes): returns the code, for callers that handle it.
//
// A failed call leaves no sticky error in the runtime (hipGetLastError). Every call can be traced
// (options::trace_calls, or set_call_hook) and can be made to fail at its n-th use
// (ROCARRAY_INJECT_FAILURE=hipMalloc:3, or fail_call). One counter guards both, so that a call
// costs one relaxed load while neither is in use.
#pragma once

#include <source_location>

#include "base/options.hpp"
#include "platform/calls.hpp"
#include "platform/hip.hpp"

namespace roc::platform {

#define ROCARRAY_CALL_ENUMERATOR(function) call_##function,
enum class call : unsigned { ROCARRAY_HIP_CALLS(ROCARRAY_CALL_ENUMERATOR) count };
#undef ROCARRAY_CALL_ENUMERATOR

/// The last part of every message about exhausted device memory.
inline constexpr char const* out_of_memory_advice = "; free arrays, or use smaller ones";

/// A finished call, as passed to the call hook.
struct call_record {
  char const* name;
  hipError_t result;
  std::source_location location;
  bool injected;  // HIP was not called: the failure was planned, or a host function made the call
};

using call_hook = void (*)(call_record const&);

/// Sets the function that receives the record of every call, and returns the previous one. Null
/// disables the hook. The hook runs in the thread of the call, without a lock.
call_hook set_call_hook(call_hook hook) noexcept;

/// Whether a planned failure occurs at one use of the call, or at that use and all later ones.
enum class failing_uses : unsigned char { one, all_later };

/// Makes the n-th use of the call `name` from now on (counted from 1) fail with `code`; with
/// `all_later`, every later use fails too. Replaces all failures planned for that call. Returns
/// false if the library does not use the call, if `nth` is 0, or if `code` is hipSuccess.
bool fail_call(char const* name, unsigned nth, hipError_t code,
               failing_uses uses = failing_uses::one);
/// Removes all failures that fail_call and ROCARRAY_INJECT_FAILURE planned.
void clear_failures() noexcept;

/// Marks the calling thread as running a host function of a stream, which must not call HIP.
/// Checked calls in this scope do not reach HIP: they fail with hipErrorNotPermitted's number and a
/// message that names the cause. Uses the flag of the trace, so that calls in other threads cost
/// nothing while no host function runs.
class host_function_scope {
 public:
  host_function_scope() noexcept;
  ~host_function_scope();
  host_function_scope(host_function_scope const&) = delete;
  host_function_scope& operator=(host_function_scope const&) = delete;
};

namespace detail {

/// Returns true while any of trace, hook, planned failures and host function scopes is active.
inline bool is_instrumented() noexcept {
  return base::call_observers.load(std::memory_order_relaxed) != 0;
}

/// Counts one use of the call for planned failures. Returns true if the call must not reach HIP,
/// and then sets `result` to the code to return and reports the call to the trace and the hook.
bool inject(call id, hipError_t& result, std::source_location location) noexcept;
/// Passes a finished call to the trace and the hook.
void trace(call id, hipError_t result, std::source_location location) noexcept;
/// Throws roc::error for the failed call `name`, or out_of_memory if `code` is
/// hipErrorOutOfMemory.
[[noreturn]] void fail(char const* name, hipError_t code, std::source_location location);
[[noreturn]] void fail(call id, hipError_t code, std::source_location location);
/// Passes a failed call to the log hook, except after the runtime has shut down.
void log_failure(call id, hipError_t code, std::source_location location) noexcept;
/// Returns true if the calling thread is in a host_function_scope.
bool is_in_host_function() noexcept;
/// Throws roc::error if the calling thread is in a host_function_scope.
void refuse_in_host_function();

}  // namespace detail

/// Throws roc::error if the calling thread runs a host function of a stream. Functions that take a
/// lock before they call HIP call this first: another thread may hold that lock and wait for the
/// stream of the host function.
inline void refuse_in_host_function() {
  if (detail::is_instrumented()) [[unlikely]]
    detail::refuse_in_host_function();
}

/// Returns true if the calling thread runs a host function of a stream, where HIP refuses all
/// calls.
inline bool is_in_host_function() noexcept {
  return detail::is_instrumented() && detail::is_in_host_function();
}

/// Implements ROCARRAY_HIP_CODE: calls `function` with injection and trace, clears the runtime's
/// sticky error, and returns the code.
template <class F>
hipError_t invoke(call id, std::source_location location, F&& function) {
  hipError_t result = hipSuccess;
  bool const instrumented = detail::is_instrumented();
  if (instrumented) [[unlikely]] {
    if (detail::inject(id, result, location)) return result;
  }
  result = function();
  if (instrumented) [[unlikely]]
    detail::trace(id, result, location);
  // On NVIDIA and on new ROCm the sticky error would be attributed to a later kernel launch.
  if (result != hipSuccess) [[unlikely]]
    static_cast<void>(hipGetLastError());
  return result;
}

/// Implements ROCARRAY_HIP: as invoke, but throws roc::error if the call fails.
template <class F>
void check(call id, std::source_location location, F&& function) {
  hipError_t const result = invoke(id, location, function);
  if (result != hipSuccess) [[unlikely]]
    detail::fail(id, result, location);
}

/// Implements ROCARRAY_HIP_READY: returns true for hipSuccess and false for hipErrorNotReady, and
/// throws roc::error for any other code.
template <class F>
bool check_ready(call id, std::source_location location, F&& function) {
  hipError_t const result = invoke(id, location, function);
  if (result == hipErrorNotReady) return false;
  if (result != hipSuccess) [[unlikely]]
    detail::fail(id, result, location);
  return true;
}

/// Implements ROCARRAY_HIP_QUIET: as invoke, but returns true if the call succeeded. Logs a
/// failure, except after the runtime has shut down.
template <class F>
bool check_quietly(call id, std::source_location location, F&& function) noexcept {
  hipError_t const result = invoke(id, location, function);
  if (result != hipSuccess) [[unlikely]]
    detail::log_failure(id, result, location);
  return result == hipSuccess;
}

/// Returns true for the codes that mean that there is no device: also those that the AMD runtime
/// and CUDA return if there is no driver.
inline bool means_no_device(hipError_t code) noexcept {
  return code == hipErrorNoDevice || code == hipErrorInvalidDevice ||
         code == hipErrorInsufficientDriver;
}

/// Throws roc::error if `result`, the code that a kernel launch returned, is not hipSuccess, and
/// then clears the runtime's sticky error. Launches are neither traced nor made to fail, because
/// they are not in the list of calls.
inline void check_launch(char const* kernel, hipError_t result,
                         std::source_location location = std::source_location::current()) {
  if (result == hipSuccess) [[likely]]
    return;
  static_cast<void>(hipGetLastError());
  detail::fail(kernel, result, location);
}

}  // namespace roc::platform

// `function` is pasted before it is expanded: if a platform defines the call as a macro, the record
// still has HIP's name.
#define ROCARRAY_HIP_RUN(checker, function, ...)                   \
  ::roc::platform::checker(::roc::platform::call::call_##function, \
                           ::std::source_location::current(),      \
                           [&] { return function(__VA_ARGS__); })
#define ROCARRAY_HIP(function, ...) ROCARRAY_HIP_RUN(check, function, __VA_ARGS__)
#define ROCARRAY_HIP_READY(function, ...) ROCARRAY_HIP_RUN(check_ready, function, __VA_ARGS__)
#define ROCARRAY_HIP_QUIET(function, ...) ROCARRAY_HIP_RUN(check_quietly, function, __VA_ARGS__)
#define ROCARRAY_HIP_CODE(function, ...) ROCARRAY_HIP_RUN(invoke, function, __VA_ARGS__)
