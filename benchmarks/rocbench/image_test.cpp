// SPDX-License-Identifier: MIT
#include "host_image.hpp"

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "copy_layout.hpp"
#include "pattern.hpp"

namespace rocbench {
namespace {

constexpr std::uint64_t guard = 64;

image image_around(operand_layout const& operand, std::uint64_t sample = 3) {
  return {image_layout_of(operand), guard, operand.span_bytes(), sample,
          std::to_integer<std::uint8_t>(poison_byte(sample))};
}

std::vector<std::byte> write_to_memory(image const& contents) {
  std::vector<std::byte> memory(contents.size());
  write_image(memory.data(), contents);
  return memory;
}

std::vector<copy_layout> all_layouts(std::size_t bytes) {
  return {contiguous_layout(bytes),       rows_layout(bytes, 48, 64),
          rows_layout(bytes, 37, 51),     planes_layout(bytes, 16, 20),
          planes_layout(bytes, 21, 21),   transposed_layout(bytes, 2),
          transposed_layout(bytes, 4),    transposed_layout(bytes, 16),
          reversed_axes_layout(bytes, 1), reversed_axes_layout(bytes, 8)};
}

// Computes the expected memory from the strides alone, element by element.
std::vector<std::byte> expected_memory(operand_layout const& operand, std::uint64_t sample) {
  std::vector<std::byte> pattern(operand.payload_bytes());
  write_pattern(pattern, sample);
  std::vector<std::byte> expected_bytes(operand.span_bytes() + 2 * guard, poison_byte(sample));
  std::size_t payload_offset = 0;
  for (std::size_t i = 0; i < operand.extents[0]; ++i) {
    for (std::size_t j = 0; j < operand.extents[1]; ++j) {
      for (std::size_t k = 0; k < operand.extents[2]; ++k, payload_offset += operand.element) {
        auto const offset = i * static_cast<std::size_t>(operand.strides[0]) +
                            j * static_cast<std::size_t>(operand.strides[1]) +
                            k * static_cast<std::size_t>(operand.strides[2]);
        std::memcpy(&expected_bytes[guard + offset * operand.element], &pattern[payload_offset],
                    operand.element);
      }
    }
  }
  return expected_bytes;
}

// Includes sizes that several threads share.
TEST(Image, PlacesElementsByStrides) {
  for (std::size_t const bytes :
       {std::size_t{1}, std::size_t{9}, std::size_t{4097}, (std::size_t{9} << 20) + 5}) {
    for (copy_layout const& layout : all_layouts(bytes)) {
      for (operand_layout const& operand : {layout.source, layout.destination}) {
        image const contents = image_around(operand);
        auto const expected_bytes = expected_memory(operand, 3);
        EXPECT_TRUE(write_to_memory(contents) == expected_bytes) << bytes;
        EXPECT_FALSE(find_first_mismatch(expected_bytes.data(), contents)) << bytes;
      }
    }
  }
}

// Kernels compare words at any offset.
TEST(Image, WordsEqualBytes) {
  for (copy_layout const& layout : all_layouts(5003)) {
    for (operand_layout const& operand : {layout.source, layout.destination}) {
      image const contents = image_around(operand);
      auto const expected_bytes = expected_memory(operand, 3);
      for (std::uint64_t offset = 0; offset < contents.size(); ++offset) {
        std::uint64_t const word = image_word(contents, offset);
        for (std::uint64_t byte = 0; byte < 8 && offset + byte < contents.size(); ++byte) {
          ASSERT_EQ(static_cast<std::byte>(word >> 8 * byte), expected_bytes[offset + byte])
              << offset;
        }
        ASSERT_EQ(std::byte{image_byte(contents, offset)}, expected_bytes[offset]) << offset;
      }
    }
  }
}

TEST(FindFirstMismatch, FindsSingleByteAtAnyOffset) {
  for (copy_layout const& layout : all_layouts(3001)) {
    image const contents = image_around(layout.destination);
    auto memory = write_to_memory(contents);
    for (std::uint64_t offset = 0; offset < contents.size(); ++offset) {
      memory[offset] ^= std::byte{1};
      ASSERT_EQ(find_first_mismatch(memory.data(), contents), offset);
      memory[offset] ^= std::byte{1};
    }
  }
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

TEST(Image, DiffersFromOtherSampleInEveryWord) {
  operand_layout const operand = contiguous_layout(4096).source;
  auto const memory = write_to_memory(image_around(operand, 7));
  image const other_sample = image_around(operand, 8);
  for (std::uint64_t offset = guard; offset < guard + 4096; offset += 8) {
    std::uint64_t word;
    std::memcpy(&word, &memory[offset], 8);
    EXPECT_NE(word, image_word(other_sample, offset));
  }
}

// Five blocks of 16 bytes with gaps of 4 bytes, in a different order than in the payload.
TEST(Image, PermutesBlocks) {
  image contents{{{}, 16}, guard, 5 * 20, 1, 0};
  contents.layout.axes[0] = {5, 20, 16, 3};
  auto const memory = write_to_memory(contents);
  std::vector<std::byte> pattern(5 * 16);
  write_pattern(pattern, 1);
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
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(std::to_integer<unsigned>(memory[guard + i]), 0x81 + i % 4);
  }
  EXPECT_FALSE(find_first_mismatch(memory.data(), contents));
}

}  // namespace
}  // namespace rocbench
