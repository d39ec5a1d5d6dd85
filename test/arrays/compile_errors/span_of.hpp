// SPDX-License-Identifier: MIT
// The members of an mdspan that are needed in calls that must not compile.
#pragma once

#include <cstddef>

// A mdspan of the given extents.
template <class T, std::size_t... Extents>
struct span_of {
  using element_type = T;
  using value_type = T;
  using data_handle_type = T*;
  using reference = T&;
  using mapping_type = int;
  using accessor_type = int;
  static constexpr std::size_t rank() { return sizeof...(Extents); }
  static constexpr bool is_always_unique() { return true; }
  static constexpr bool is_always_strided() { return true; }
  static constexpr std::size_t static_extent(std::size_t axis) {
    std::size_t const extents[] = {Extents...};
    return extents[axis];
  }
  T* const& data_handle() const;
  std::size_t extent(std::size_t) const;
  std::size_t stride(std::size_t) const;
};
