// SPDX-License-Identifier: MIT
// Reference for the arithmetic of layouts: enumerates the offsets of all elements.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <random>
#include <vector>

#include <roc/layout/shape.hpp>

#include "support/environment.hpp"

namespace roc::test {

/// Returns the offsets of all elements, enumerated in logical order `o`.
template <std::size_t N>
std::vector<std::ptrdiff_t> element_offsets(layout::mapping<N> const& m, order o = order::c) {
  std::vector<std::ptrdiff_t> result;
  for (std::size_t extent : m.shape) {
    if (extent == 0) return result;
  }
  std::array<std::size_t, N> index{};
  for (;;) {
    std::ptrdiff_t offset = m.offset;
    for (std::size_t i = 0; i < N; ++i) {
      offset += static_cast<std::ptrdiff_t>(index[i]) * m.strides[i];
    }
    result.push_back(offset);
    std::size_t step = 0;
    for (; step < N; ++step) {
      std::size_t const axis = o == order::c ? N - 1 - step : step;
      if (++index[axis] < m.shape[axis]) break;
      index[axis] = 0;
    }
    if (step == N) return result;
  }
}

/// Generates random shapes and layouts. The seed is the one that the environment names.
class random_layouts {
 public:
  explicit random_layouts(char const* test_name) : generator_(random_generator(test_name)) {}

  /// Returns a number in [0, n).
  std::size_t below(std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(generator_);
  }
  /// Returns a number in [min, max].
  std::ptrdiff_t between(std::ptrdiff_t min, std::ptrdiff_t max) {
    return std::uniform_int_distribution<std::ptrdiff_t>(min, max)(generator_);
  }
  /// Returns true with probability 1/n.
  bool one_in(std::size_t n) { return below(n) == 0; }

  /// Returns extents up to `max_extent`, some of them zero.
  template <std::size_t N>
  roc::shape<N> shape(std::size_t max_extent) {
    roc::shape<N> result{};
    for (auto& extent : result) extent = one_in(12) ? 0 : 1 + below(max_extent);
    return result;
  }

  template <class T, std::size_t N>
  void shuffle(std::array<T, N>& values) {
    std::shuffle(values.begin(), values.end(), generator_);
  }

  /// Returns a layout whose elements do not overlap: axes in any order, some with gaps or reversed.
  template <std::size_t N>
  layout::mapping<N> mapping(std::size_t max_extent) {
    layout::mapping<N> result{shape<N>(max_extent), {}, between(-5, 20)};
    std::array<std::size_t, N> axes{};
    for (std::size_t i = 0; i < N; ++i) axes[i] = i;
    std::size_t const kind = below(4);
    if (kind == 1) std::reverse(axes.begin(), axes.end());
    if (kind > 1) shuffle(axes);
    bool const gaps = one_in(2);
    std::ptrdiff_t step = 1;
    for (std::size_t i = N; i-- > 0;) {
      std::size_t const axis = axes[i];
      if (gaps && one_in(3)) step += between(0, 3);
      result.strides[axis] = gaps && one_in(4) ? -step : step;
      step *= static_cast<std::ptrdiff_t>(std::max<std::size_t>(result.shape[axis], 1));
    }
    return result;
  }

  /// Returns a layout with any strides, so that elements may overlap.
  template <std::size_t N>
  layout::mapping<N> any_mapping(std::size_t max_extent) {
    layout::mapping<N> result{shape<N>(max_extent), {}, 0};
    for (auto& stride : result.strides) stride = between(-12, 12);
    return result;
  }

 private:
  std::mt19937_64 generator_;
};

}  // namespace roc::test
