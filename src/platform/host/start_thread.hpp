// SPDX-License-Identifier: MIT
// Starts the threads of HIP on the CPU.
#pragma once

#include <system_error>
#include <thread>
#include <utility>

#include "platform/host/api_call.hpp"

namespace roc::host_hip {

/// Starts a detached thread that runs `body`. Throws std::system_error or std::bad_alloc if no
/// thread can be started, or if this use of "start_thread" was planned to fail (see fail_at).
template <class Body>
void start_thread(Body&& body) {
  if (injected_failure("start_thread") != hipSuccess) {
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
  }
  std::thread(std::forward<Body>(body)).detach();
}

}  // namespace roc::host_hip
