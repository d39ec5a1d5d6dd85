// SPDX-License-Identifier: MIT
// Boxes within the device: parts of arrays that begin at any byte, of elements of any size,
// compared with a copy byte by byte. Memory around the destination must not change.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
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
template <std::size_t N>
struct box {
  roc::strides<N> strides;
  std::size_t offset;
};

// Returns the offset of an element, in bytes.
template <std::size_t N>
std::size_t offset_of(box<N> const& where, roc::shape<N> const& index, std::size_t element_bytes) {
  std::ptrdiff_t elements = 0;
  for (std::size_t i = 0; i < N; ++i)
    elements += static_cast<std::ptrdiff_t>(index[i]) * where.strides[i];
  return where.offset +
         static_cast<std::size_t>(elements * static_cast<std::ptrdiff_t>(element_bytes));
}

// Returns a box of an array that has gaps[i] elements between two indices of axis i. Those of axes
// whose flag is set follow each other backward.
template <std::size_t N>
box<N> make_box(roc::shape<N> const& extents, roc::shape<N> const& gaps, std::size_t offset,
                std::array<bool, N> const& backward, std::size_t element_bytes) {
  box<N> result{{}, offset};
  std::size_t elements = 1;
  for (std::size_t i = N; i-- > 0;) {
    elements += gaps[i];
    result.strides[i] = static_cast<std::ptrdiff_t>(elements);
    if (backward[i]) {
      result.offset += (extents[i] - 1) * elements * element_bytes;
      result.strides[i] = -result.strides[i];
    }
    elements *= extents[i];
  }
  return result;
}

// Returns the end of a box, in bytes: that of the element that is highest in memory.
template <std::size_t N>
std::size_t end_of(box<N> const& where, roc::shape<N> const& extents, std::size_t element_bytes) {
  roc::shape<N> highest{};
  for (std::size_t i = 0; i < N; ++i) highest[i] = where.strides[i] < 0 ? 0 : extents[i] - 1;
  return offset_of(where, highest, element_bytes) + element_bytes;
}

// Advances an index, the last axis fastest. Returns false after the last index.
template <std::size_t N>
bool advance(roc::shape<N>& index, roc::shape<N> const& extents) {
  for (std::size_t i = N; i-- > 0;) {
    if (++index[i] < extents[i]) return true;
    index[i] = 0;
  }
  return false;
}

bytes numbered(std::size_t count, std::size_t first) {
  bytes result(count);
  for (std::size_t i = 0; i < count; ++i)
    result[i] = static_cast<std::uint8_t>((first + i) * 2654435761u >> 11);
  return result;
}

// The source's allocation ends with the box, so that a read beyond the box is one beyond the
// allocation.
template <std::size_t Size, std::size_t N>
void check_box(roc::shape<N> const& extents, box<N> const& from, box<N> const& to) {
  constexpr std::size_t guard = 40;
  bytes const source = numbered(end_of(from, extents, Size), 0);
  bytes expected = numbered(end_of(to, extents, Size) + guard, 1u << 20);
  roc::device_array<std::uint8_t> device_source({source.size()});
  roc::device_array<std::uint8_t> device_destination({expected.size()});
  device_source.copy_to_device(source);
  device_destination.copy_to_device(expected);
  auto const view = [&](roc::device_array<std::uint8_t>& array, box<N> const& where) {
    return roc::device_view<element<Size>, N>(
        reinterpret_cast<element<Size>*>(array.data() + where.offset), extents, where.strides,
        array.device_ordinal());
  };
  roc::copy(view(device_source, from), view(device_destination, to));
  roc::shape<N> index{};
  do {
    std::copy_n(source.data() + offset_of(from, index, Size), Size,
                expected.data() + offset_of(to, index, Size));
  } while (advance(index, extents));
  bytes arrived(expected.size());
  device_destination.copy_to_host(arrived);
  ASSERT_TRUE(arrived == expected)
      << Size << " bytes per element, extents " << testing::PrintToString(extents) << ", strides "
      << testing::PrintToString(from.strides) << " and " << testing::PrintToString(to.strides)
      << ", offsets " << from.offset << " and " << to.offset;
}

// Copies boxes of N axes with random gaps, offsets and directions.
template <std::size_t Size, std::size_t N, class Random>
void check_random_boxes(Random& random, int count) {
  auto const number = [&](std::size_t low, std::size_t high) {
    return std::uniform_int_distribution<std::size_t>(low, high)(random);
  };
  for (int i = 0; i < count; ++i) {
    std::size_t const max_row = i % 10 == 0 ? 40000 : 1400;
    roc::shape<N> extents{};
    for (std::size_t& extent : extents) extent = number(1, 4);
    extents[N - 1] = number(1, max_row / Size + 1);
    auto const random_box = [&] {
      roc::shape<N> gaps{};
      std::array<bool, N> backward{};
      for (std::size_t axis = 0; axis + 1 < N; ++axis) {
        gaps[axis] = number(0, 1) * number(0, 9);
        backward[axis] = number(0, 3) == 0;
      }
      return make_box(extents, gaps, number(0, 40), backward, Size);
    };
    box<N> const from = random_box();
    check_box<Size>(extents, from, random_box());
    if (testing::Test::HasFatalFailure()) return;
  }
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
      box<3> const from = make_box<3>(extents, {5, 2, 0}, 4, {}, bytes_per_element);
      box<3> const to = make_box<3>(extents, {5, 2, 0}, offset, {}, bytes_per_element);
      check_box<bytes_per_element>(extents, from, to);
      if (this->HasFatalFailure()) return;
    }
  }
}

// Kernels are chosen by the length of rows, the widest word that fits all rows, and whether the
// destination has gaps.
TYPED_TEST(Box, RowsOfAllLengthsAtWhichKernelsChangeAreCopied) {
  constexpr std::size_t bytes_per_element = TypeParam::value;
  constexpr std::pair<std::size_t, std::size_t> offsets[] = {{0, 0}, {4, 4}, {12, 28}, {4, 8},
                                                             {8, 4}, {3, 3}, {1, 2}};
  for (std::size_t const row_bytes : {32u, 128u, 256u, 512u, 1024u}) {
    std::size_t const elements = row_bytes / bytes_per_element;
    for (std::size_t const row : {elements - 1, elements, elements + 1}) {
      for (auto const& [from_offset, to_offset] : offsets) {
        for (std::size_t const gap : {0u, 16u}) {
          roc::shape<3> const extents{2, 3, row};
          box<3> const from = make_box<3>(extents, {4, 16, 0}, from_offset, {}, bytes_per_element);
          box<3> const to = make_box<3>(extents, {gap, gap, 0}, to_offset, {}, bytes_per_element);
          check_box<bytes_per_element>(extents, from, to);
          if (this->HasFatalFailure()) return;
        }
      }
    }
  }
}

TYPED_TEST(Box, RandomBoxesAreCopied) {
  auto random = roc::test::random_generator("Box.RandomBoxesAreCopied");
  check_random_boxes<TypeParam::value, 1>(random, 20);
  check_random_boxes<TypeParam::value, 2>(random, 40);
  check_random_boxes<TypeParam::value, 3>(random, 60);
  check_random_boxes<TypeParam::value, 4>(random, 40);
}

TYPED_TEST(Box, EverySecondElementAndRowIsCopied) {
  constexpr std::size_t bytes_per_element = TypeParam::value;
  roc::shape<3> const extents{3, 5, 300};
  box<3> const sparse{{10 * 600, 2 * 600, 2}, 3};
  box<3> const sparse_rows{{10 * 300, 2 * 300, 1}, 8};
  box<3> const dense{{5 * 300, 300, 1}, 16};
  for (box<3> const& from : {sparse, sparse_rows, dense}) {
    for (box<3> const& to : {dense, sparse_rows, sparse}) {
      check_box<bytes_per_element>(extents, from, to);
      if (this->HasFatalFailure()) return;
    }
  }
}
