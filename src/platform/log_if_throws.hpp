// SPDX-License-Identifier: MIT
// Error handling of code that releases resources and must not throw.
#pragma once

#include <exception>

#include <roc/error.hpp>

#include "base/error.hpp"
#include "platform/hip.hpp"

namespace roc::platform {

/// Returns true if `failure` means that the runtime has shut down, which may happen before the
/// process ends. The runtime has then released its memory, so that this is not an error.
inline bool is_runtime_shut_down(error const& failure) noexcept {
  return failure.code() == std::error_code(hipErrorDeinitialized, hip_category());
}

/// Calls `f`. Passes the message of an exception to the log hook, except after the runtime has shut
/// down. Returns true if `f` did not throw.
template <class F>
bool log_if_throws(F f) noexcept {
  try {
    f();
    return true;
  } catch (error const& failure) {
    if (!is_runtime_shut_down(failure)) base::log_error(failure.what());
  } catch (std::exception const& failure) {
    base::log_error(failure.what());
  }
  return false;
}

/// Calls `f`, and calls it once more if it throws, so that a transient failure does not leak
/// memory. Logs only the second failure. Returns true if one of the calls did not throw.
template <class F>
bool retry_then_log(F f) noexcept {
  try {
    f();
    return true;
  } catch (std::exception const&) {
    return log_if_throws(f);
  }
}

}  // namespace roc::platform
