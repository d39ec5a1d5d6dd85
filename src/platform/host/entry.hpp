// SPDX-License-Identifier: MIT
// What every call passes through: settings, faults made to happen, the last error.
#pragma once

#include <new>
#include <system_error>

#include "platform/host/api.hpp"

namespace roc::host_hip {

/// What a call gives before it does anything: hipSuccess, or why it must not run.
hipError_t enter(char const* name, bool needs_device) noexcept;
/// Remembers a call's result by the rules of the last error, and returns it.
hipError_t leave(hipError_t result) noexcept;

/// Runs a call's body.
template <class Body>
hipError_t call(char const* name, Body&& body, bool needs_device = true) noexcept {
  if (hipError_t const refused = enter(name, needs_device); refused != hipSuccess) {
    // The runtime is not to be called at all there: nothing is remembered.
    return refused == not_permitted ? refused : leave(refused);
  }
  try {
    return leave(body());
  } catch (std::bad_alloc const&) {
    return leave(hipErrorOutOfMemory);
  } catch (std::system_error const&) {  // no thread could be started
    return leave(hipErrorOutOfMemory);
  }
}

/// Marks the calling thread as running a host function, in which calls are not permitted.
class host_function_scope {
 public:
  host_function_scope() noexcept;
  ~host_function_scope();
  host_function_scope(host_function_scope const&) = delete;
  host_function_scope& operator=(host_function_scope const&) = delete;

 private:
  bool before_;
};

bool fail_at(char const* call, unsigned nth, hipError_t error);

}  // namespace roc::host_hip
