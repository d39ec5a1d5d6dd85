// SPDX-License-Identifier: MIT
// A fixed-size array that kernels can index: std::array's members are no device functions for nvcc.
#pragma once

#include <array>
#include <cstddef>

#include <roc/config.hpp>

namespace roc::detail {

template <class T, std::size_t N>
struct fixed {
  T values[N == 0 ? 1 : N] = {};

  constexpr fixed() = default;
  constexpr fixed(std::array<T, N> const& other) {
    for (std::size_t i = 0; i != N; ++i) values[i] = other[i];
  }
  constexpr std::array<T, N> to_array() const {
    std::array<T, N> result{};
    for (std::size_t i = 0; i != N; ++i) result[i] = values[i];
    return result;
  }

  ROCARRAY_HOST_DEVICE constexpr T& operator[](std::size_t i) { return values[i]; }
  ROCARRAY_HOST_DEVICE constexpr T const& operator[](std::size_t i) const { return values[i]; }
};

}  // namespace roc::detail
