// SPDX-License-Identifier: MIT
// expected: mdspan_has_no_strided_layout_or_no_default_accessor
#include <roc/roc.hpp>

#include <cstddef>

// As in std::mdspan, the member stride does not compile if it is called.
struct mapping_without_stride {};
template <class Mapping>
struct span_of_tiles {
  using element_type = float;
  using value_type = float;
  using data_handle_type = float*;
  using reference = float&;
  using mapping_type = Mapping;
  using accessor_type = int;
  static constexpr std::size_t rank() { return 2; }
  static constexpr bool is_always_unique() { return true; }
  static constexpr bool is_always_strided() { return false; }
  bool is_strided() const { return false; }
  float* const& data_handle() const;
  Mapping const& mapping() const;
  std::size_t extent(std::size_t) const;
  std::size_t stride(std::size_t axis) const { return mapping().stride(axis); }
};

void test(span_of_tiles<mapping_without_stride>& from, roc::device_array<float, 2>& to) {
  roc::copy(from, to);
}
