// SPDX-License-Identifier: MIT
// What goes wrong while memory is given back.
#pragma once

#include <exception>

#include <roc/error.hpp>

#include "platform/hip.hpp"
#include "base/error.hpp"

namespace roc::platform {

/// At the process's end the runtime may be gone, and the memory with it: that is no error.
inline bool runtime_has_gone(error const& late) noexcept {
  return late.code() == std::error_code(hipErrorDeinitialized, hip_category());
}

/// Runs `f`; what it throws goes to the log hook.
template <class F>
bool log_if_throws(F f) noexcept {
  try {
    f();
    return true;
  } catch (error const& late) {
    if (!runtime_has_gone(late)) base::log(late.what());
  } catch (std::exception const& late) {
    base::log(late.what());
  }
  return false;
}

/// As log_if_throws, but tries once more before anything is said: a call that fails in passing
/// must not lose memory.
template <class F>
bool try_twice(F f) noexcept {
  try {
    f();
    return true;
  } catch (std::exception const&) {
    return log_if_throws(f);
  }
}

}  // namespace roc::platform
