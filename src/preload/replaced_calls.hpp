// SPDX-License-Identifier: MIT
// What the functions that replace the vendor's have in common, on amd (replaced_hip_calls.cpp) and
// on nvidia (replaced_driver_calls.cpp). Each is defined under a name of its own and exported under
// the vendor's, so that it need not agree with the declarations of one version of the vendor's
// header: handles are pointers, enumerations are int. No header declares them, because a program
// sees the vendor's declarations.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "preload/call_sites.hpp"
#include "preload/captures.hpp"
#include "preload/interposer.hpp"
#include "preload/request.hpp"
#include "preload/summary.hpp"
#include "preload/without_cancellation.hpp"

namespace roc::preload {

/// Return the stream that a call with a null handle, or without a handle, uses.
inline void* legacy(void* stream = nullptr) noexcept { return stream; }
inline void* per_thread(void* stream = nullptr) noexcept {
  return stream == nullptr ? per_thread_stream() : stream;
}

/// Returns the request of a contiguous copy.
inline copy_request contiguous(void* to, void const* from, std::size_t bytes, int kind,
                               void* stream, bool is_synchronous) noexcept {
  return {from, to, bytes, 1, 1, bytes, bytes, bytes, bytes, kind, stream, is_synchronous, -1};
}

/// Calls the vendor's function that a call from `caller` would have reached.
template <class... Arguments>
int call_vendor(call function, void const* caller, Arguments... arguments) {
  call_site const& site = find_call_site(function, caller);
  if (site.runtime == nullptr) return code_without_runtime;
  void* const address = vendor_function_of(site, function, caller);
  if (address == nullptr) return code_without_function;
  return reinterpret_cast<int (*)(Arguments...)>(address)(arguments...);
}

/// True while the calling thread is in a vendor's function to which a copy was passed on. The
/// vendor's library may call its own functions through the loader, which finds those of this
/// object.
inline constinit thread_local bool is_in_vendor = false;

/// Calls the vendor's function that does a copy.
template <class... Arguments>
int copy_with_vendor(void* address, Arguments... arguments) {
  bool const was_in_vendor = std::exchange(is_in_vendor, true);
  int const code = reinterpret_cast<int (*)(Arguments...)>(address)(arguments...);
  is_in_vendor = was_in_vendor;
  return code;
}

/// Serves a copy, or calls the vendor's function with its arguments. `result` is outcome::served,
/// or why the copy must be passed on.
template <class... Arguments>
int copy_or_call_vendor(call function, void const* caller, copy_request const& request,
                        outcome result, Arguments... arguments) {
  call_site& site = find_call_site(function, caller);
  if (site.runtime == nullptr) return code_without_runtime;
  void* const address = vendor_function_of(site, function, caller);
  if (address == nullptr) return code_without_function;
  if (is_in_vendor) return copy_with_vendor(address, arguments...);
  copy_report report;
  if (result == outcome::served) {
    result = serve(site, function, request, report);
  } else {
    count_copy(site, function, result, 0, false);
  }
  if (result == outcome::served) return 0;
  if (result != outcome::to_measure) return copy_with_vendor(address, arguments...);
  auto const begin = std::chrono::steady_clock::now();
  int const code = copy_with_vendor(address, arguments...);
  std::chrono::nanoseconds const duration = std::chrono::steady_clock::now() - begin;
  report.nanoseconds = duration.count();
  if (code == 0) add_duration(result, request, report);
  return code;
}

/// Returns the context of a stream, or null if there are no contexts or if the vendor cannot tell.
inline void* context_of(vendor_runtime const& runtime, void* stream) noexcept {
  // The handles of the default streams mean a stream of the current context.
  bool const is_default = reinterpret_cast<std::uintptr_t>(stream) <= 2;
  void* context = nullptr;
  without_cancellation const uncancelled;
  bool const is_found = is_default
                            ? runtime.get_context != nullptr && runtime.get_context(&context) == 0
                            : runtime.get_stream_context != nullptr &&
                                  runtime.get_stream_context(stream, &context) == 0;
  return is_found ? context : nullptr;
}

/// Returns true if a stream is captured although a call that begins a capture has failed with
/// `code`. On AMD, hipStreamBeginCaptureToGraph begins the capture before it checks the
/// dependencies.
inline bool has_begun_nevertheless(vendor_runtime const& runtime, void* stream, int code) noexcept {
  constexpr int invalid_value = 1;  // of both vendors, and AMD's code for bad dependencies
  if (code != invalid_value || stream == nullptr || runtime.is_capturing == nullptr) return false;
  int status = 0;
  without_cancellation const uncancelled;
  bool const is_captured = runtime.is_capturing(stream, &status) == 0 && status != 0;
#if ROCARRAY_PLATFORM_AMD
  // The program may fetch the error of its own call, which the call above may have replaced. This
  // one fails with the same code.
  if (runtime.get_device != nullptr) static_cast<void>(runtime.get_device(nullptr));
#endif
  return is_captured;
}

/// Calls the vendor's function that begins a capture of `stream`.
template <class... Arguments>
int begin_capture(call function, void const* caller, void* stream, Arguments... arguments) {
  vendor_runtime const* const runtime = find_call_site(function, caller).runtime;
  if (runtime == nullptr) return code_without_runtime;
  captured_stream const captured{key_of(stream), context_of(*runtime, stream)};
  before_capture();
  int const code = call_vendor(function, caller, arguments...);
  if (code == 0 || has_begun_nevertheless(*runtime, stream, code)) {
    add_capture(captured);
  } else {
    withdraw_capture();
  }
  return code;
}

/// Calls the vendor's function that ends a capture of `stream`; `handle` is the program's argument.
inline int end_capture(call function, void const* caller, void* stream, void* handle,
                       void** graph) {
  capture_set const ending = find_capture_of(key_of(stream));
  int const code = call_vendor(function, caller, handle, graph);
  // A call that fails with one of these codes ends no capture: invalid argument, not initialized,
  // no context, invalid handle, no capture in this stream, destroyed context, capture of another
  // thread. The vendors' numbers are the same.
  constexpr int unchanged[] = {1, 3, 201, 400, 401, 709, 903, 908};
  bool has_ended = true;
  for (int const other : unchanged) has_ended = has_ended && code != other;
  if (has_ended && ending.count != 0) remove_captures(ending);
  if (has_ended && ending.count == 0) remove_further_capture();
  return code;
}

/// Calls the vendor's function that destroys a stream, a context or what is in it, and with it the
/// captures in `ending`.
template <class... Arguments>
int destroy_captured(capture_set const& ending, call function, void const* caller,
                     Arguments... arguments) {
  int const code = call_vendor(function, caller, arguments...);
  if (code == 0) remove_captures(ending);
  return code;
}

}  // namespace roc::preload

// A call from the program is recognized by the address to which it returns.
#define ROCARRAY_CALLER __builtin_return_address(0)
#define ROCARRAY_REPLACE(name, ...)                                                              \
  extern "C"                                                                                     \
      [[gnu::visibility("default"), gnu::used]] int replaced_##name(__VA_ARGS__) __asm__(#name); \
  int replaced_##name(__VA_ARGS__)
