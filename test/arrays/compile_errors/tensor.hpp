// SPDX-License-Identifier: MIT
// A tensor: an operand whose element type and rank are known at run time only.
#pragma once

#include <roc/roc.hpp>

struct tensor {};

template <>
struct roc::detail::tensor_traits<tensor> {
  static constexpr bool is_tensor = true;
  template <class T>
  static constexpr roc::detail::element_type type_of{};
  static roc::detail::tensor_description describe(tensor const& argument);
};
