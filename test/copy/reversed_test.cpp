// SPDX-License-Identifier: MIT
// Copies with a negative stride of the fastest axis on one side, for element sizes, lengths and
// offsets that allow wide accesses and for those that do not.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "support/options.hpp"

namespace {

// Staging memory is small, so that copies take many chunks.
roc::test::program_options const options_of_tests(roc::test::small_staging);

template <std::size_t Bytes>
struct element {
  std::array<std::uint8_t, Bytes> bytes;
  friend bool operator==(element const&, element const&) = default;
};

template <std::size_t Bytes>
std::vector<element<Bytes>> numbered(std::size_t count) {
  std::vector<element<Bytes>> result(count);
  for (std::size_t i = 0; i != count; ++i) {
    for (std::size_t k = 0; k != Bytes; ++k) {
      result[i].bytes[k] = static_cast<std::uint8_t>(i * 37 + k * 101 + i / 7);
    }
  }
  return result;
}

auto const reversed = roc::slice(roc::none, roc::none, -1);

// Reverses rows of `length` elements, which begin `first` elements into rows of `wide`.
template <std::size_t Bytes>
void check_reversed_rows(std::size_t length, std::size_t first, std::size_t wide = 80) {
  SCOPED_TRACE(testing::Message() << Bytes << " bytes, " << length << " from " << first);
  constexpr std::size_t rows = 3;
  using type = element<Bytes>;
  auto const source = numbered<Bytes>(rows * wide);
  roc::host_view const host(source.data(), roc::shape<2>{rows, wide});
  roc::device_array<type, 2> const from({rows, wide});
  roc::device_array<type, 2> const to({rows, wide});
  from.copy_to_device(host);
  auto const part =
      roc::slice(static_cast<std::ptrdiff_t>(first), static_cast<std::ptrdiff_t>(first + length));
  auto const check = [&](char const* label) {
    auto const actual = to.copy_to_host();
    for (std::size_t row = 0; row != rows; ++row) {
      for (std::size_t column = 0; column != wide; ++column) {
        bool const inside = column >= first && column < first + length;
        type const expected =
            inside ? source[row * wide + first + (first + length - 1 - column)] : type{};
        auto const j = static_cast<std::ptrdiff_t>(column);
        ASSERT_EQ(expected, actual(static_cast<std::ptrdiff_t>(row), j))
            << label << ", row " << row << ", column " << column;
      }
    }
    to.zero();
  };
  to.zero();
  roc::copy(from(roc::all, part)(roc::all, reversed), to(roc::all, part));
  check("reversed source");
  roc::copy(from(roc::all, part), to(roc::all, part)(roc::all, reversed));
  check("reversed destination");
  roc::copy(host(roc::all, part), to(roc::all, part)(roc::all, reversed));
  check("to the device");
  roc::host_array<type, 2> back({rows, wide});
  std::memset(static_cast<void*>(back.data()), 0, back.size_bytes());
  roc::copy(from(roc::all, part)(roc::all, reversed), back(roc::all, part));
  to.copy_to_device(back);
  check("to the host");
}

template <std::size_t Bytes>
void check_all_rows() {
  for (std::size_t const first : {0u, 1u, 2u, 3u, 4u, 8u}) {
    for (std::size_t const length : {1u, 2u, 3u, 4u, 8u, 15u, 16u, 17u, 32u, 33u, 64u, 72u}) {
      ASSERT_NO_FATAL_FAILURE(check_reversed_rows<Bytes>(length, first));
    }
  }
}

TEST(ReversedCopy, ReversesRowsOf1ByteElements) { check_all_rows<1>(); }
TEST(ReversedCopy, ReversesRowsOf2ByteElements) { check_all_rows<2>(); }
TEST(ReversedCopy, ReversesRowsOf3ByteElements) { check_all_rows<3>(); }
TEST(ReversedCopy, ReversesRowsOf4ByteElements) { check_all_rows<4>(); }
TEST(ReversedCopy, ReversesRowsOf8ByteElements) { check_all_rows<8>(); }
TEST(ReversedCopy, ReversesRowsOf16ByteElements) { check_all_rows<16>(); }

// Rows of several segments for each kernel that divides rows.
template <std::size_t Bytes>
void check_long_rows() {
  for (std::size_t const first : {1u, 4u}) {
    for (std::size_t const length : {4999u, 5000u}) {
      ASSERT_NO_FATAL_FAILURE(check_reversed_rows<Bytes>(length, first, 5011));
    }
  }
}

TEST(ReversedCopy, ReversesLongRowsOf1ByteElements) { check_long_rows<1>(); }
TEST(ReversedCopy, ReversesLongRowsOf2ByteElements) { check_long_rows<2>(); }
TEST(ReversedCopy, ReversesLongRowsOf4ByteElements) { check_long_rows<4>(); }
TEST(ReversedCopy, ReversesLongRowsOf8ByteElements) { check_long_rows<8>(); }

// Interiors whose rows begin off 16 bytes, in which other axes are reversed on either side too.
template <std::size_t Bytes>
void check_reversed_interiors() {
  constexpr std::size_t planes = 3, rows = 5, columns = 303;
  auto const source = numbered<Bytes>(planes * rows * columns);
  using type = element<Bytes>;
  roc::shape<3> const shape{planes, rows, columns};
  roc::device_array<type, 3> const from(shape);
  roc::copy(roc::host_view(source.data(), shape), from);
  auto const step = [](bool is_reversed) {
    return is_reversed ? reversed : roc::slice(roc::none, roc::none, 1);
  };
  for (unsigned axes = 0; axes != 16; ++axes) {
    SCOPED_TRACE(testing::Message() << Bytes << " bytes, axes " << axes);
    bool const plane_of_source = axes & 1, row_of_source = axes & 2;
    bool const plane_of_destination = axes & 4, row_of_destination = axes & 8;
    roc::device_array<type, 3> const to(shape);
    to.zero();
    auto const inner = roc::slice(1, 5);
    roc::copy(from(roc::all, inner, roc::slice(1, 301))(step(plane_of_source), step(row_of_source),
                                                        reversed),
              to(roc::all, inner, roc::slice(2, 302))(step(plane_of_destination),
                                                      step(row_of_destination), roc::all));
    auto const actual = to.copy_to_host();
    for (std::size_t p = 0; p != planes; ++p) {
      for (std::size_t r = 0; r != rows; ++r) {
        for (std::size_t c = 0; c != columns; ++c) {
          bool const inside = r >= 1 && r < 5 && c >= 2 && c < 302;
          std::size_t const plane = plane_of_source != plane_of_destination ? planes - 1 - p : p;
          std::size_t const row = row_of_source != row_of_destination ? 5 - r : r;
          type const expected =
              inside ? source[(plane * rows + row) * columns + 300 - (c - 2)] : type{};
          ASSERT_EQ(expected, actual(static_cast<std::ptrdiff_t>(p), static_cast<std::ptrdiff_t>(r),
                                     static_cast<std::ptrdiff_t>(c)))
              << p << ", " << r << ", " << c;
        }
      }
    }
  }
}

TEST(ReversedCopy, ReversesSeveralAxesOfInteriorsOf1ByteElements) { check_reversed_interiors<1>(); }
TEST(ReversedCopy, ReversesSeveralAxesOfInteriorsOf8ByteElements) { check_reversed_interiors<8>(); }

// A source with stride 0 on one axis must not be tiled along that axis.
TEST(ReversedCopy, RepeatedRowIsReversedInEveryDestinationRow) {
  auto const source = numbered<1>(256);
  roc::device_array<element<1>> const row({256});
  row.copy_to_device(source);
  roc::device_view<element<1>, 2> const many(row.data() + 255, roc::shape<2>{32, 256},
                                             roc::strides<2>{0, -1}, row.device_ordinal());
  roc::device_array<element<1>, 2> const to({32, 256});
  roc::copy(many, to);
  auto const actual = to.copy_to_host();
  for (std::ptrdiff_t i = 0; i != 32; ++i) {
    for (std::ptrdiff_t j = 0; j != 256; ++j) {
      ASSERT_EQ(source[static_cast<std::size_t>(255 - j)], actual(i, j)) << i << ", " << j;
    }
  }
}

}  // namespace
