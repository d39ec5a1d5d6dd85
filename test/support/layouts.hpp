// SPDX-License-Identifier: MIT
// Random layouts, and host memory that detects writes outside of a layout.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include <roc/host_view.hpp>
#include <roc/layout/shape.hpp>

namespace roc::test {

/// Returns strides with a random order of the axes and random gaps, and also random signs if
/// `negative`. No two elements overlap.
template <std::size_t N, class Random>
strides<N> random_strides(shape<N> const& extents, Random& random, bool negative) {
  auto const pick = [&](std::size_t below) { return random() % below; };
  std::array<std::size_t, N> axes{};
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  std::shuffle(axes.begin(), axes.end(), random);
  strides<N> result{};
  std::ptrdiff_t step = pick(3) == 0 ? 2 : 1;
  for (std::size_t axis : axes) {
    result[axis] = negative && pick(4) == 0 ? -step : step;
    step *= static_cast<std::ptrdiff_t>(extents[axis] == 0 ? 1 : extents[axis]);
    if (pick(2) == 0) step += static_cast<std::ptrdiff_t>(pick(5));
  }
  return result;
}

/// An array in a strided layout, with sentinel bytes before it, after it and in the gaps.
template <class T, std::size_t N>
class guarded_array {
 public:
  static constexpr std::byte sentinel{0xA5};
  static constexpr std::size_t guard = 64;  // elements before and after the array

  guarded_array(shape<N> const& extents, strides<N> const& steps)
      : range_(layout::element_range(extents, steps)),
        bytes_((static_cast<std::size_t>(range_.high - range_.low) + 2 * guard) * sizeof(T),
               sentinel),
        view_(reinterpret_cast<T*>(bytes_.data()) + guard - range_.low, extents, steps) {}

  host_view<T, N> view() const { return view_; }

  /// Calls f(element, index in C order) for every element.
  template <class F>
  void for_each_element(F f) const {
    std::size_t const count = view_.size();
    for (std::size_t i = 0; i < count; ++i) f(*address_of(i), i);
  }

  /// Returns true if all sentinel bytes are unchanged.
  bool are_gaps_unchanged() const {
    std::vector<bool> inside(bytes_.size());
    for_each_element([&](T& element, std::size_t) {
      auto const offset = reinterpret_cast<std::byte const*>(&element) - bytes_.data();
      for (std::size_t i = 0; i < sizeof(T); ++i)
        inside[static_cast<std::size_t>(offset) + i] = true;
    });
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
      if (!inside[i] && bytes_[i] != sentinel) return false;
    }
    return true;
  }

  std::vector<std::byte>& bytes() { return bytes_; }

 private:
  T* address_of(std::size_t number) const {
    std::ptrdiff_t offset = 0;
    for (std::size_t axis = N; axis-- != 0;) {
      offset += static_cast<std::ptrdiff_t>(number % view_.shape()[axis]) * view_.strides()[axis];
      number /= view_.shape()[axis];
    }
    return view_.data() + offset;
  }

  layout::element_range_t range_;
  std::vector<std::byte> bytes_;
  host_view<T, N> view_;
};

/// An element of `Size` bytes whose value is made from a number.
template <std::size_t Size>
struct element_of {
  unsigned char bytes[Size];

  static element_of number(std::size_t n) {
    element_of result{};
    for (std::size_t i = 0; i < Size; ++i) {
      result.bytes[i] = static_cast<unsigned char>((n >> (8 * (i % 3))) + 31 * i);
    }
    return result;
  }
  friend bool operator==(element_of const& a, element_of const& b) {
    return std::memcmp(&a, &b, Size) == 0;
  }
};

}  // namespace roc::test
