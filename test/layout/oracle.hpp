// SPDX-License-Identifier: MIT
// What the layout's arithmetic is held against: every element's place, one by one.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <random>
#include <vector>

#include <roc/layout/shape.hpp>

#include "support/environment.hpp"

namespace roc::test {

/// The places of all elements, strided_loop in logical order `o` like an odometer.
template <std::size_t N>
std::vector<std::ptrdiff_t> places(layout::mapping<N> const& m, order o = order::c) {
  std::vector<std::ptrdiff_t> result;
  for (std::size_t extent : m.shape) {
    if (extent == 0) return result;
  }
  std::array<std::size_t, N> at{};
  for (;;) {
    std::ptrdiff_t place = m.offset;
    for (std::size_t i = 0; i < N; ++i) place += static_cast<std::ptrdiff_t>(at[i]) * m.strides[i];
    result.push_back(place);
    std::size_t step = 0;
    for (; step < N; ++step) {
      std::size_t const axis = o == order::c ? N - 1 - step : step;
      if (++at[axis] < m.shape[axis]) break;
      at[axis] = 0;
    }
    if (step == N) return result;
  }
}

class random_layouts {
 public:
  explicit random_layouts(char const* what) : generator_(random_generator(what)) {}

  std::size_t below(std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(generator_);
  }
  std::ptrdiff_t between(std::ptrdiff_t least, std::ptrdiff_t most) {
    return std::uniform_int_distribution<std::ptrdiff_t>(least, most)(generator_);
  }
  bool one_in(std::size_t n) { return below(n) == 0; }

  template <std::size_t N>
  roc::shape<N> shape(std::size_t most) {
    roc::shape<N> result{};
    for (auto& extent : result) extent = one_in(12) ? 0 : 1 + below(most);
    return result;
  }

  template <class T, std::size_t N>
  void shuffle(std::array<T, N>& values) {
    std::shuffle(values.begin(), values.end(), generator_);
  }

  /// Compact in an order of its own, some with gaps and reversed axes; distinct places.
  template <std::size_t N>
  layout::mapping<N> mapping(std::size_t most) {
    layout::mapping<N> result{shape<N>(most), {}, between(-5, 20)};
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

  /// Any strides, also repeated and zero ones.
  template <std::size_t N>
  layout::mapping<N> wild(std::size_t most) {
    layout::mapping<N> result{shape<N>(most), {}, 0};
    for (auto& stride : result.strides) stride = between(-12, 12);
    return result;
  }

 private:
  std::mt19937_64 generator_;
};

}  // namespace roc::test
