// SPDX-License-Identifier: MIT
// The contents of buffers: patterns, images of layouts, and the values of the stream kernels.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "image.hpp"
#include "kernels.hpp"

namespace rocbench {
namespace {

constexpr std::uint64_t guard = 64;

image image_around(operand_layout const& operand, std::uint64_t sample = 3) {
  return {operand.positions, guard, operand.span_bytes(), sample, poison_byte(sample)};
}

std::vector<std::byte> write_to_memory(image const& contents) {
  std::vector<std::byte> memory(contents.size());
  write_image(memory.data(), contents);
  return memory;
}

std::vector<std::byte> pattern_of(std::size_t bytes, std::uint64_t sample) {
  return write_to_memory(pattern_image(bytes, sample));
}

// Computes the expected memory from the strides alone, element by element.
std::vector<std::byte> expected_memory(operand_layout const& operand, std::uint64_t sample) {
  auto const pattern = pattern_of(operand.payload_bytes(), sample);
  std::vector<std::byte> expected_bytes(operand.span_bytes() + 2 * guard,
                                        std::byte{poison_byte(sample)});
  std::size_t payload_offset = 0;
  for (std::size_t i = 0; i < operand.extents[0]; ++i) {
    for (std::size_t j = 0; j < operand.extents[1]; ++j) {
      for (std::size_t k = 0; k < operand.extents[2]; ++k, payload_offset += operand.element) {
        // Offsets from the first element are negative along reversed axes.
        auto const offset = static_cast<std::ptrdiff_t>(i) * operand.strides[0] +
                            static_cast<std::ptrdiff_t>(j) * operand.strides[1] +
                            static_cast<std::ptrdiff_t>(k) * operand.strides[2];
        std::byte* const first = &expected_bytes[guard + operand.first_element_offset()];
        std::memcpy(first + offset * static_cast<std::ptrdiff_t>(operand.element),
                    &pattern[payload_offset], operand.element);
      }
    }
  }
  return expected_bytes;
}

// Calls f(image, expected memory) for both operands of layouts of so many bytes.
template <class F>
void for_each_image(std::size_t bytes, F const& f) {
  roc::shape<3> const box = fitting_box(bytes / 2, 7, 5);
  roc::shape<3> const array{box[0] + 3, box[1] + 4, box[2] + 9};
  for (copy_layout const& layout : {contiguous_layout(bytes),
                                    rows_layout(bytes, 48, 64),
                                    rows_layout(bytes, 37, 51),
                                    planes_layout(bytes, 16, 20),
                                    planes_layout(bytes, 21, 21),
                                    transposed_layout(bytes, 2),
                                    transposed_layout(bytes, 4),
                                    transposed_layout(bytes, 16),
                                    reversed_axes_layout(bytes, 1),
                                    reversed_axes_layout(bytes, 8),
                                    swapped_axes_layout(bytes, 2),
                                    box_layout(2, box, {array, {1, 3, 2}}, {array, {2, 0, 5}}),
                                    box_layout(1, box, {array}, {box}),
                                    reversed_matrix_layout(bytes, 4, 0),
                                    reversed_matrix_layout(bytes, 1, 1),
                                    reversed_box_layout(2, box, {array, {1, 3, 2}}, 0),
                                    reversed_box_layout(2, box, {array, {1, 3, 2}}, 2),
                                    transposed_layout(bytes, 3),
                                    reversed_axes_layout(bytes, 13),
                                    swapped_axes_layout(bytes, 7),
                                    box_layout(5, box, {array, {1, 3, 2}}, {array, {2, 0, 5}}),
                                    reversed_matrix_layout(bytes, 11, 1),
                                    reversed_box_layout(15, box, {array, {1, 3, 2}}, 2)}) {
    for (operand_layout const& operand : {layout.source, layout.destination})
      f(image_around(operand), expected_memory(operand, 3));
  }
}

// Includes sizes that several threads share.
TEST(Image, PlacesElementsByStrides) {
  for (std::size_t const bytes : {1u, 9u, 4097u, (9u << 20) + 5}) {
    for_each_image(bytes, [](image const& contents, std::vector<std::byte> const& expected) {
      EXPECT_TRUE(write_to_memory(contents) == expected);
      EXPECT_FALSE(find_first_mismatch(expected.data(), contents));
    });
  }
}

// Kernels compare words at any offset.
TEST(Image, WordsAndFirstMismatchAreRightAtAnyOffset) {
  for_each_image(3001, [](image const& contents, std::vector<std::byte> memory) {
    memory.resize(contents.size() + 8, std::byte{contents.poison});
    for (std::uint64_t offset = 0; offset < contents.size(); ++offset) {
      std::uint64_t const word = image_word(contents, offset);
      ASSERT_EQ(std::memcmp(&word, &memory[offset], 8), 0) << offset;
      ASSERT_EQ(std::byte{image_byte(contents, offset)}, memory[offset]) << offset;
      memory[offset] ^= std::byte{1};
      ASSERT_EQ(find_first_mismatch(memory.data(), contents), offset);
      memory[offset] ^= std::byte{1};
    }
  });
}

TEST(FindFirstMismatch, ReturnsFirstOfSeveralBytes) {
  image const contents = image_around(rows_layout(20 << 20, 4096, 4608).destination);
  auto memory = write_to_memory(contents);
  for (std::uint64_t const offset :
       {contents.size() - 1, contents.size() / 2, guard + 4096 + 1, guard - 1}) {
    memory[offset] ^= std::byte{0x80};
    EXPECT_EQ(find_first_mismatch(memory.data(), contents), offset);
  }
}

// Five blocks of 16 bytes with gaps of 4 bytes, in a different order than in the payload.
TEST(Image, PermutesBlocks) {
  image contents{{{}, 16}, guard, 5 * 20, 1, 0};
  contents.layout.axes[0] = {5, 20, 16, 3};
  auto const memory = write_to_memory(contents);
  auto const pattern = pattern_of(5 * 16, 1);
  for (std::size_t position = 0; position < 5; ++position) {
    EXPECT_EQ(std::memcmp(&memory[guard + position * 20], &pattern[position * 3 % 5 * 16], 16), 0);
    EXPECT_EQ(memory[guard + position * 20 + 16], std::byte{0});
  }
}

TEST(Image, RepeatsValue) {
  image contents{{{}, 10}, guard, 10, 1, 0};
  contents.repeats = true;
  contents.value = 0x8483828184838281;
  auto const memory = write_to_memory(contents);
  for (std::size_t i = 0; i < 10; ++i)
    EXPECT_EQ(std::to_integer<unsigned>(memory[guard + i]), 0x81 + i % 4);
  EXPECT_FALSE(find_first_mismatch(memory.data(), contents));
}

TEST(Pattern, HasNoRepeatedWord) {
  auto const bytes = pattern_of(8 << 16, 3);
  std::vector<std::uint64_t> words(bytes.size() / 8);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  std::ranges::sort(words);
  EXPECT_EQ(std::ranges::adjacent_find(words), words.end());
}

TEST(Pattern, DiffersFromPoisonInEveryByteAndFromPreviousSampleInEveryWord) {
  for (std::uint64_t const sample : {1u, 2u, 1000u}) {
    EXPECT_LT(poison_byte(sample), 0x80);
    auto const bytes = pattern_of(8192, sample);
    auto const previous = pattern_of(8192, sample - 1);
    for (std::byte const byte : bytes) ASSERT_NE(byte & std::byte{0x80}, std::byte{0});
    for (std::size_t offset = 0; offset < bytes.size(); offset += 8)
      EXPECT_NE(std::memcmp(&bytes[offset], &previous[offset], 8), 0) << offset;
  }
}

TEST(CopyLayout, HasAllRowsThatFitAndAtLeastOne) {
  EXPECT_EQ(rows_layout(1000, 300, 400).source.extents, (roc::shape<3>{1, 3, 300}));
  EXPECT_EQ(rows_layout(100, 300, 400).source.extents, (roc::shape<3>{1, 1, 100}));
  EXPECT_EQ(planes_layout(1, 300, 400).source.extents, (roc::shape<3>{1, 1, 1}));
  EXPECT_EQ(planes_layout(128 * 300, 300, 400).source.extents, (roc::shape<3>{2, 64, 300}));
  EXPECT_EQ(planes_layout(128 * 300, 300, 400).source.strides, (roc::strides<3>{65 * 400, 400, 1}));
}

TEST(CopyLayout, SquaresAndCubesAreLargestThatFit) {
  EXPECT_EQ(transposed_layout(4 * 100, 4).source.payload_bytes(), 400u);
  EXPECT_EQ(transposed_layout(4 * 99, 4).source.payload_bytes(), 4u * 81);
  EXPECT_EQ(reversed_axes_layout(4 * 1000, 4).source.payload_bytes(), 4000u);
  EXPECT_EQ(reversed_axes_layout(4 * 999, 4).source.payload_bytes(), 4u * 729);
  EXPECT_EQ(transposed_layout(1, 4).source.payload_bytes(), 4u);
}

TEST(CopyLayout, BoxIsWithinItsArray) {
  copy_layout const layout = box_layout(4, {5, 6, 7}, {{10, 20, 30}, {1, 2, 3}}, {{5, 6, 7}});
  EXPECT_EQ(layout.source.extents, (roc::shape<3>{5, 6, 7}));
  EXPECT_EQ(layout.source.strides, (roc::strides<3>{600, 30, 1}));
  EXPECT_EQ(layout.source.positions.before, 4u * (600 + 60 + 3));
  EXPECT_EQ(layout.source.span_bytes(), 4u * 6000);
  EXPECT_EQ(layout.destination.positions.before, 0u);
  EXPECT_TRUE(layout.destination.is_contiguous());
  EXPECT_EQ(layout.destination.payload_bytes(), 4u * 210);
}

TEST(CopyLayout, ReversedAxisHasNegativeStrideAndBeginsAtItsLastElement) {
  roc::shape<3> const extents{5, 6, 7};
  box_position const box{{10, 20, 30}, {1, 2, 3}};
  std::size_t const lowest = 600 + 60 + 3;
  copy_layout const first = reversed_box_layout(4, extents, box, 0);
  EXPECT_EQ(first.source.strides, (roc::strides<3>{-600, 30, 1}));
  EXPECT_EQ(first.source.first_element_offset(), 4u * (lowest + 4 * 600));
  copy_layout const last = reversed_box_layout(4, extents, box, 2);
  EXPECT_EQ(last.source.strides, (roc::strides<3>{600, 30, -1}));
  EXPECT_EQ(last.source.first_element_offset(), 4u * (lowest + 6));
  EXPECT_EQ(last.source.span_bytes(), 4u * 6000);
  EXPECT_FALSE(last.source.is_contiguous());
  EXPECT_TRUE(last.destination.is_contiguous());
  EXPECT_EQ(reversed_matrix_layout(4 * 100, 4, 0).source.strides, (roc::strides<3>{100, -10, 1}));
  EXPECT_EQ(reversed_matrix_layout(4 * 100, 4, 1).source.first_element_offset(), 4u * 9);
}

TEST(CopyLayout, FittingBoxHasWholePlanesOrFewerRowsOrOneShorterRow) {
  EXPECT_EQ(fitting_box(1000, 10, 20), (roc::shape<3>{5, 10, 20}));
  EXPECT_EQ(fitting_box(1399, 10, 20), (roc::shape<3>{6, 10, 20}));
  EXPECT_EQ(fitting_box(199, 10, 20), (roc::shape<3>{1, 9, 20}));
  EXPECT_EQ(fitting_box(19, 10, 20), (roc::shape<3>{1, 1, 19}));
  EXPECT_EQ(fitting_box(0, 10, 20), (roc::shape<3>{1, 1, 1}));
}

// Every sum is an integer that a float can represent, and has the sign that no poison has.
TEST(ExpectedSum, IsExactAndNegative) {
  for (std::uint64_t const sample : {0u, 1u, 1000u}) {
    std::size_t repeated = 0;
    for (std::size_t i = 0; i < 100'000; ++i) {
      float const a = addend(i, 0, sample);
      float const b = addend(i, 1, sample);
      ASSERT_EQ(static_cast<double>(a) + static_cast<double>(b), expected_sum(i, sample));
      ASSERT_LT(expected_sum(i, sample), 0);
      repeated += expected_sum(i, sample) == expected_sum(i + 1, sample) ||
                  expected_sum(i, sample) == expected_sum(i, sample + 1);
    }
    EXPECT_EQ(repeated, 0u);
  }
}

// The sum of the neighbors is exact, and the weights are powers of two: only the last addition
// rounds. The result has the sign that no poison has.
TEST(ExpectedStencil, IsRoundedOnceAndNegative) {
  constexpr std::size_t columns = 300;
  for (std::uint64_t const sample : {0u, 1u, 1000u}) {
    std::size_t repeated = 0;
    for (std::size_t i = columns; i < 100'000; ++i) {
      auto const value = [&](std::size_t index) {
        return static_cast<double>(addend(index, 0, sample));
      };
      double const neighbors =
          value(i - columns) + value(i + columns) + value(i - 1) + value(i + 1);
      float const expected = expected_stencil(i, columns, sample);
      ASSERT_EQ(static_cast<float>(value(i) / 2 + neighbors / 8), expected);
      ASSERT_LT(expected, 0);
      repeated += expected == expected_stencil(i + 1, columns, sample) ||
                  expected == expected_stencil(i, columns, sample + 1);
    }
    EXPECT_EQ(repeated, 0u);
  }
}

TEST(StreamValue, IsUniqueAcrossIndicesArraysAndSamples) {
  std::vector<double> numbers;
  for (std::uint64_t sample = 0; sample < 5; ++sample) {
    for (unsigned array = 0; array < 2; ++array) {
      for (std::size_t i = 0; i < 20'000; ++i) numbers.push_back(stream_value(i, array, sample));
    }
  }
  EXPECT_GE(*std::ranges::min_element(numbers), 1);
  EXPECT_LT(*std::ranges::max_element(numbers), 2);
  std::ranges::sort(numbers);
  EXPECT_EQ(std::ranges::adjacent_find(numbers), numbers.end());
}

// Compilers may or may not fuse the product and the sum of triad.
TEST(ExpectedStreamResult, OfTriadIsIndependentOfFusedMultiplyAdd) {
  for (std::size_t i = 0; i < 100'000; ++i) {
    double const a = stream_value(i, 0, 3);
    double const b = stream_value(i, 1, 3);
    ASSERT_EQ(std::fma(stream_scalar, b, a), expected_stream_result(stream_kernel::triad, i, 3));
  }
}

TEST(ExpectedStreamResult, IsNeverPoison) {
  for (std::uint64_t sample = 0; sample < 128; ++sample) {
    double poison = 0;
    std::memset(&poison, poison_byte(sample), sizeof poison);
    for (stream_kernel const kernel :
         {stream_kernel::copy, stream_kernel::mul, stream_kernel::add, stream_kernel::triad}) {
      for (std::size_t i = 0; i < 100; ++i)
        EXPECT_NE(expected_stream_result(kernel, i, sample), poison);
    }
  }
}

// The sum of 2^33 products below 2^20 stays below 2^53 and is exact.
TEST(StreamInput, OfDotIsIntegerBelow1024) {
  for (std::uint64_t const sample : {0, 1, 511, 512, 1000}) {
    for (unsigned array = 0; array < 2; ++array) {
      for (std::size_t i = 0; i < 100'000; ++i) {
        double const value = stream_input(stream_kernel::dot, i, array, sample);
        ASSERT_TRUE(value == std::trunc(value) && value >= 0 && value < 1024) << value;
      }
    }
  }
}

}  // namespace
}  // namespace rocbench
