// SPDX-License-Identifier: MIT
// Throwing from templates without building messages in headers: what + a + between + b + advice.
#pragma once

#include <cstddef>

#include <roc/config.hpp>

namespace roc::detail {

/// Numbers that a message shows as (2, 3).
struct numbers {
  std::ptrdiff_t const* values = nullptr;
  std::size_t count = 0;
  bool shown = false;

  constexpr numbers() = default;
  constexpr numbers(std::ptrdiff_t const* first, std::size_t n)
      : values(first), count(n), shown(true) {}
};

[[noreturn]] ROCARRAY_API void throw_shape_error(char const* what, numbers a = {},
                                            char const* between = "", numbers b = {},
                                            char const* advice = "");
[[noreturn]] ROCARRAY_API void throw_layout_error(char const* what, numbers a = {},
                                             char const* between = "", numbers b = {},
                                             char const* advice = "");
[[noreturn]] ROCARRAY_API void throw_lifetime_error(char const* what);

}  // namespace roc::detail
