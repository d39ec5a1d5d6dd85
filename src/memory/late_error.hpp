// SPDX-License-Identifier: MIT
// What goes wrong while memory is given back.
#pragma once

#include <exception>

#include <roc/error.hpp>

#include "platform/hip.hpp"
#include "runtime/error.hpp"

namespace roc::memory {

/// Runs `f`; what it throws goes to the log hook. At the process's end the runtime may be gone, and
/// the memory with it: that is no error.
template <class F>
bool log_late_error(F f) noexcept {
  try {
    f();
    return true;
  } catch (error const& late) {
    bool const gone = late.code() == std::error_code(hipErrorDeinitialized, hip_category());
    if (!gone) runtime::log(late.what());
  } catch (std::exception const& late) {
    runtime::log(late.what());
  }
  return false;
}

}  // namespace roc::memory
