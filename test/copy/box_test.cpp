// SPDX-License-Identifier: MIT
// Boxes within the device: parts of arrays that begin at any byte, of elements of any size,
// compared with a copy byte by byte. Memory around the destination must not change.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <roc/copy.hpp>
#include <roc/device_array.hpp>

#include "support/environment.hpp"

namespace {

using bytes = std::vector<std::uint8_t>;

// An element that may begin at any byte.
template <std::size_t Size>
using element = std::array<std::uint8_t, Size>;

// A box in memory: strides in elements, the first element's offset in bytes.
struct box {
  roc::strides<3> strides;
  std::size_t offset;
};

// Returns the offset of an element, in bytes.
std::size_t offset_of(box const& where, roc::shape<3> const& index, std::size_t element_bytes) {
  std::ptrdiff_t elements = 0;
  for (std::size_t i = 0; i < 3; ++i)
    elements += static_cast<std::ptrdiff_t>(index[i]) * where.strides[i];
  return where.offset + static_cast<std::size_t>(elements) * element_bytes;
}

// Returns a box of an array with the given numbers of elements between rows and between planes. The
// rows, or the planes, follow each other backward if the flag is set.
box make_box(roc::shape<3> const& extents, std::size_t row_gap, std::size_t plane_gap,
             std::size_t offset, bool backward_rows, bool backward_planes,
             std::size_t element_bytes) {
  std::size_t const row = extents[2] + row_gap;
  std::size_t const plane = row * extents[1] + plane_gap;
  box result{{static_cast<std::ptrdiff_t>(plane), static_cast<std::ptrdiff_t>(row), 1}, offset};
  if (backward_rows) {
    result.offset += (extents[1] - 1) * row * element_bytes;
    result.strides[1] = -result.strides[1];
  }
  if (backward_planes) {
    result.offset += (extents[0] - 1) * plane * element_bytes;
    result.strides[0] = -result.strides[0];
  }
  return result;
}

// Returns the end of a box, in bytes: that of the element that is highest in memory.
std::size_t end_of(box const& where, roc::shape<3> const& extents, std::size_t element_bytes) {
  roc::shape<3> highest{};
  for (std::size_t i = 0; i < 3; ++i) highest[i] = where.strides[i] < 0 ? 0 : extents[i] - 1;
  return offset_of(where, highest, element_bytes) + element_bytes;
}

bytes numbered(std::size_t count, std::size_t first) {
  bytes result(count);
  for (std::size_t i = 0; i < count; ++i)
    result[i] = static_cast<std::uint8_t>((first + i) * 2654435761u >> 11);
  return result;
}

// The source's allocation ends with the box, so that a read beyond the box is one beyond the
// allocation.
template <std::size_t Size>
void check_box(roc::shape<3> const& extents, box const& from, box const& to) {
  constexpr std::size_t guard = 40;
  bytes const source = numbered(end_of(from, extents, Size), 0);
  bytes expected = numbered(end_of(to, extents, Size) + guard, 1u << 20);
  roc::device_array<std::uint8_t> device_source({source.size()});
  roc::device_array<std::uint8_t> device_destination({expected.size()});
  device_source.copy_to_device(source);
  device_destination.copy_to_device(expected);
  auto const view = [&](roc::device_array<std::uint8_t>& array, box const& where) {
    return roc::device_view<element<Size>, 3>(
        reinterpret_cast<element<Size>*>(array.data() + where.offset), extents, where.strides,
        array.device_ordinal());
  };
  roc::copy(view(device_source, from), view(device_destination, to));
  roc::shape<3> index{};
  for (index[0] = 0; index[0] < extents[0]; ++index[0]) {
    for (index[1] = 0; index[1] < extents[1]; ++index[1]) {
      for (index[2] = 0; index[2] < extents[2]; ++index[2]) {
        std::copy_n(source.data() + offset_of(from, index, Size), Size,
                    expected.data() + offset_of(to, index, Size));
      }
    }
  }
  bytes arrived(expected.size());
  device_destination.copy_to_host(arrived);
  ASSERT_TRUE(arrived == expected)
      << Size << " bytes per element, extents " << extents[0] << ", " << extents[1] << ", "
      << extents[2] << ", offsets " << from.offset << " and " << to.offset;
}

template <class Size>
class Box : public testing::Test {};
template <std::size_t Size>
using size = std::integral_constant<std::size_t, Size>;
using sizes =
    testing::Types<size<1>, size<2>, size<3>, size<4>, size<5>, size<6>, size<7>, size<8>, size<9>,
                   size<10>, size<11>, size<12>, size<13>, size<14>, size<15>, size<16>>;
TYPED_TEST_SUITE(Box, sizes);

}  // namespace

TYPED_TEST(Box, InteriorIsCopiedToTheSameAndToOtherMisalignment) {
  constexpr std::size_t bytes_per_element = TypeParam::value;
  for (std::size_t const row_bytes : {32u, 64u, 100u, 256u, 1016u, 4100u}) {
    roc::shape<3> const extents{2, 3, row_bytes / bytes_per_element + 1};
    for (std::size_t const offset : {0u, 1u, 4u, 8u, 16u, 19u}) {
      box const from = make_box(extents, 2, 5, 4, false, false, bytes_per_element);
      box const to = make_box(extents, 2, 5, offset, false, false, bytes_per_element);
      check_box<bytes_per_element>(extents, from, to);
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(Box, RandomBoxesAreCopied) {
  constexpr std::size_t bytes_per_element = TypeParam::value;
  auto random = roc::test::random_generator("Box.RandomBoxesAreCopied");
  auto const number = [&](std::size_t low, std::size_t high) {
    return std::uniform_int_distribution<std::size_t>(low, high)(random);
  };
  for (int i = 0; i < 60; ++i) {
    std::size_t const max_row = i % 10 == 0 ? 40000 : 700;
    roc::shape<3> const extents{number(1, 3), number(1, 5),
                                number(1, max_row / bytes_per_element + 1)};
    auto const random_box = [&] {
      return make_box(extents, number(0, 4), number(0, 9), number(0, 40), number(0, 3) == 0,
                      number(0, 3) == 0, bytes_per_element);
    };
    box const from = random_box();
    check_box<bytes_per_element>(extents, from, random_box());
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(Box, EverySecondElementAndRowIsCopied) {
  constexpr std::size_t bytes_per_element = TypeParam::value;
  roc::shape<3> const extents{3, 5, 300};
  box const sparse{{10 * 600, 2 * 600, 2}, 3};
  box const sparse_rows{{10 * 300, 2 * 300, 1}, 8};
  box const dense{{5 * 300, 300, 1}, 16};
  for (box const& from : {sparse, sparse_rows, dense}) {
    for (box const& to : {dense, sparse_rows, sparse}) {
      check_box<bytes_per_element>(extents, from, to);
      if (this->HasFatalFailure()) return;
    }
  }
}
