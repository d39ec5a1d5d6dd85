// SPDX-License-Identifier: MIT
// What goes wrong while memory is given back.
#pragma once

#include <exception>

#include <roc/error.hpp>

#include "platform/hip.hpp"
#include "runtime/error.hpp"

namespace roc::memory {

/// At the process's end the runtime may be gone, and the memory with it: that is no error.
inline bool runtime_has_gone(error const& late) noexcept {
  return late.code() == std::error_code(hipErrorDeinitialized, hip_category());
}

/// Runs `f`; what it throws goes to the log hook.
template <class F>
bool log_late_error(F f) noexcept {
  try {
    f();
    return true;
  } catch (error const& late) {
    if (!runtime_has_gone(late)) runtime::log(late.what());
  } catch (std::exception const& late) {
    runtime::log(late.what());
  }
  return false;
}

}  // namespace roc::memory
