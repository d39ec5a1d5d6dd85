// SPDX-License-Identifier: MIT
// The one way in which the library calls HIP.
//
//   ROCARRAY_HIP(hipMalloc, &pointer, bytes);           throws roc::error with code, call and place
//   if (ROCARRAY_HIP_READY(hipStreamQuery, stream))     false for hipErrorNotReady, throws otherwise
//   ROCARRAY_HIP_QUIET(hipFree, pointer);               for destructors: logs instead of throwing
//   hipError_t e = ROCARRAY_HIP_CODE(hipMalloc, ...);   the code, for callers that handle it
//
// A failing call leaves no error behind in the runtime (hipGetLastError). Every call can be traced
// (ROCARRAY_TRACE=calls, or a hook) and made to fail at its n-th use (ROCARRAY_INJECT_FAILURE=hipMalloc:3, or
// fail_call): both behind one flag, so that they cost nothing while unused.
#pragma once

#include <atomic>
#include <source_location>

#include "platform/calls.hpp"
#include "platform/hip.hpp"

namespace roc::platform {

#define ROCARRAY_CALL_ENUMERATOR(function) call_##function,
enum class call : unsigned { ROCARRAY_HIP_CALLS(ROCARRAY_CALL_ENUMERATOR) count };
#undef ROCARRAY_CALL_ENUMERATOR

/// The end of every message about device memory that is short.
inline constexpr char const* memory_advice = ": free arrays, or use smaller ones";

/// One finished call, as the trace hook sees it.
struct call_record {
  char const* name;
  hipError_t result;
  std::source_location place;
  bool injected;  // made to fail, or refused in a host function: HIP was not called
};

using call_hook = void (*)(call_record const&);

/// Sets the receiver of every call's record and returns the one before; null switches it off.
call_hook set_call_hook(call_hook hook) noexcept;

/// Makes the n-th use of `name` from now on (counted from 1) fail with `code`, once, in place of
/// what was planned for it. False where the library does not know the name.
bool fail_call(char const* name, unsigned nth, hipError_t code);
/// Forgets what fail_call and ROCARRAY_INJECT_FAILURE asked for.
void clear_failures() noexcept;

/// Marks the calling thread as running a host function of a stream, in which HIP must not be
/// called: what tries is refused with hipErrorNotPermitted's number and a message that says so. It
/// uses the same flag as tracing, so that calls elsewhere pay nothing while no host function runs.
class host_function_scope {
 public:
  host_function_scope() noexcept;
  ~host_function_scope();
  host_function_scope(host_function_scope const&) = delete;
  host_function_scope& operator=(host_function_scope const&) = delete;
};

namespace detail {

extern std::atomic<bool> instrumented;

/// True where the call was made to fail, with the code in `result`.
bool inject(call id, hipError_t& result, std::source_location place) noexcept;
void trace(call id, hipError_t result, std::source_location place) noexcept;
[[noreturn]] void fail(char const* name, hipError_t code, std::source_location place);
[[noreturn]] void fail(call id, hipError_t code, std::source_location place);
void log_failure(call id, hipError_t code, std::source_location place) noexcept;
void refuse_in_host_function(char const* what);

}  // namespace detail

/// Throws what a call of HIP would in a host function of a stream. For what takes a lock before it
/// calls HIP: another thread may hold that lock and wait for the host function's stream.
inline void refuse_in_host_function(char const* what) {
  bool const watched = detail::instrumented.load(std::memory_order_relaxed);
  if (watched) [[unlikely]] detail::refuse_in_host_function(what);
}

template <class F>
hipError_t run(call id, std::source_location place, F&& function) {
  hipError_t result = hipSuccess;
  bool const watched = detail::instrumented.load(std::memory_order_relaxed);
  if (watched) [[unlikely]] {
    if (detail::inject(id, result, place)) return result;
  }
  result = function();
  if (watched) [[unlikely]] detail::trace(id, result, place);
  // On NVIDIA and on new ROCm the error would stay and be taken for that of a later launch.
  if (result != hipSuccess) [[unlikely]] static_cast<void>(hipGetLastError());
  return result;
}

template <class F>
void check(call id, std::source_location place, F&& function) {
  hipError_t const result = run(id, place, function);
  if (result != hipSuccess) [[unlikely]] detail::fail(id, result, place);
}

template <class F>
bool check_ready(call id, std::source_location place, F&& function) {
  hipError_t const result = run(id, place, function);
  if (result == hipErrorNotReady) return false;
  if (result != hipSuccess) [[unlikely]] detail::fail(id, result, place);
  return true;
}

template <class F>
bool check_quietly(call id, std::source_location place, F&& function) noexcept {
  hipError_t const result = run(id, place, function);
  if (result != hipSuccess) [[unlikely]] detail::log_failure(id, result, place);
  return result == hipSuccess;
}

/// For what is no call of HIP by name: a kernel's launch.
inline void check_launch(char const* kernel, hipError_t result,
                         std::source_location place = std::source_location::current()) {
  if (result != hipSuccess) [[unlikely]] detail::fail(kernel, result, place);
}

}  // namespace roc::platform

// The name is pasted before it can be expanded: where a provider spells a call as a macro, the
// record still shows HIP's name.
#define ROCARRAY_HIP_RUN(how, function, ...)                                                     \
  ::roc::platform::how(::roc::platform::call::call_##function, ::std::source_location::current(), \
                       [&] { return function(__VA_ARGS__); })
#define ROCARRAY_HIP(function, ...) ROCARRAY_HIP_RUN(check, function, __VA_ARGS__)
#define ROCARRAY_HIP_READY(function, ...) ROCARRAY_HIP_RUN(check_ready, function, __VA_ARGS__)
#define ROCARRAY_HIP_QUIET(function, ...) ROCARRAY_HIP_RUN(check_quietly, function, __VA_ARGS__)
#define ROCARRAY_HIP_CODE(function, ...) ROCARRAY_HIP_RUN(run, function, __VA_ARGS__)
