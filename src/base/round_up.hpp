// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace roc::base {

/// Returns a / b, rounded up.
constexpr std::size_t ceil_div(std::size_t a, std::size_t b) noexcept { return (a + b - 1) / b; }
/// Returns the smallest multiple of `multiple` that is at least `value`.
constexpr std::size_t round_up(std::size_t value, std::size_t multiple) noexcept {
  return ceil_div(value, multiple) * multiple;
}

}  // namespace roc::base
