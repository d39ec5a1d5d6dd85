// SPDX-License-Identifier: MIT
// What every HIP function on the CPU does at its beginning and end: it checks the settings, injects
// failures and updates the last error.
#pragma once

#include <cstddef>
#include <new>
#include <string_view>
#include <system_error>

#include "platform/host/api.hpp"
#include "platform/host/capture.hpp"

namespace roc::host_hip {

/// Returns hipSuccess if the call may run, or the code that it must return without running: the
/// thread runs a host function, a setting is invalid, there is no device although the call needs
/// one, or a failure was planned for this use.
hipError_t begin_api_call(char const* name, bool needs_device);
/// Updates the calling thread's last error by the rules of the emulated runtime, and returns
/// `result`.
hipError_t end_api_call(hipError_t result) noexcept;
/// Returns the calling thread's last error, and clears it if `clear`. `name` is the HIP function,
/// for planned failures. The call itself does not change the last error.
hipError_t last_error(char const* name, bool clear) noexcept;

/// Counts one use of `call`. Returns the code of the failure planned for it (see fail_at), or
/// hipSuccess.
hipError_t injected_failure(std::string_view call);
/// Reports on stderr a call whose behavior is undefined under the emulated runtime. Aborts the
/// process if ROCARRAY_HOST_STRICT is set, else returns `result`.
hipError_t undefined_call(char const* message, hipError_t result);

/// Runs `body`, which returns a hipError_t, as the HIP function `name`. std::bad_alloc becomes
/// hipErrorOutOfMemory, as does std::system_error, which is thrown if no thread can be started;
/// capture_error becomes its code.
template <class Body>
hipError_t api_call(char const* name, Body&& body, bool needs_device = true) noexcept {
  try {
    if (hipError_t const refused = begin_api_call(name, needs_device); refused != hipSuccess) {
      // A call in a host function does not change the last error: it must not happen at all.
      return refused == not_permitted ? refused : end_api_call(refused);
    }
    return end_api_call(body());
  } catch (capture_error const& refused) {
    return end_api_call(refused.code);
  } catch (std::bad_alloc const&) {
    return end_api_call(hipErrorOutOfMemory);
  } catch (std::system_error const&) {
    return end_api_call(hipErrorOutOfMemory);
  }
}

/// Marks the calling thread as running a host function, in which HIP's functions fail.
class host_function_scope {
 public:
  host_function_scope() noexcept;
  ~host_function_scope();
  host_function_scope(host_function_scope const&) = delete;
  host_function_scope& operator=(host_function_scope const&) = delete;

 private:
  bool was_in_host_function_;
};

/// Makes the n-th use of `call` from now on (counted from 1) fail once with `error`. The call
/// "start_thread" is each start of a thread, which then throws std::system_error. Returns false if
/// the call is unknown or cannot fail, if `nth` is 0, or if `error` is hipSuccess.
bool fail_at(char const* call, unsigned nth, hipError_t error);
/// Removes all planned failures. Returns the number of those that have not occurred.
std::size_t clear_failures() noexcept;

}  // namespace roc::host_hip
