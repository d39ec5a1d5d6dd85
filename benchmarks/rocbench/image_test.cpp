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

image around(side_layout const& side, std::uint64_t sample = 3) {
  return {image_of(side), guard, side.span(), sample,
          std::to_integer<std::uint8_t>(poison_byte(sample))};
}

std::vector<std::byte> written(image const& of) {
  std::vector<std::byte> whole(of.whole());
  write_image(whole.data(), of);
  return whole;
}

std::vector<copy_layout> every_layout(std::size_t bytes) {
  return {contiguous_layout(bytes),       rows_layout(bytes, 48, 64),
          rows_layout(bytes, 37, 51),     planes_layout(bytes, 16, 20),
          planes_layout(bytes, 21, 21),   transposed_layout(bytes, 2),
          transposed_layout(bytes, 4),    transposed_layout(bytes, 16),
          reversed_axes_layout(bytes, 1), reversed_axes_layout(bytes, 8)};
}

// What should lie where, by the strides alone, element after element.
std::vector<std::byte> expected(side_layout const& side, std::uint64_t sample) {
  std::vector<std::byte> pattern(side.payload());
  write_pattern(pattern, sample);
  std::vector<std::byte> whole(side.span() + 2 * guard, poison_byte(sample));
  std::size_t from = 0;
  for (std::size_t i = 0; i < side.extents[0]; ++i) {
    for (std::size_t j = 0; j < side.extents[1]; ++j) {
      for (std::size_t k = 0; k < side.extents[2]; ++k, from += side.element) {
        auto const at = i * static_cast<std::size_t>(side.strides[0]) +
                        j * static_cast<std::size_t>(side.strides[1]) +
                        k * static_cast<std::size_t>(side.strides[2]);
        std::memcpy(&whole[guard + at * side.element], &pattern[from], side.element);
      }
    }
  }
  return whole;
}

// Sizes around words, and with work for several threads.
TEST(image, of_a_layout_has_every_element_where_strides_say) {
  for (std::size_t const bytes :
       {std::size_t{1}, std::size_t{9}, std::size_t{4097}, (std::size_t{9} << 20) + 5}) {
    for (copy_layout const& layout : every_layout(bytes)) {
      for (side_layout const& side : {layout.from, layout.to}) {
        image const of = around(side);
        auto const right = expected(side, 3);
        EXPECT_TRUE(written(of) == right) << bytes;
        EXPECT_FALSE(find_wrong_byte(right.data(), of)) << bytes;
      }
    }
  }
}

// As kernels see it: a word at a time, however it lies to the rows.
TEST(image, has_the_same_words_as_bytes) {
  for (copy_layout const& layout : every_layout(5003)) {
    for (side_layout const& side : {layout.from, layout.to}) {
      image const of = around(side);
      auto const right = expected(side, 3);
      for (std::uint64_t at = 0; at < of.whole(); ++at) {
        std::uint64_t const word = image_word(of, at);
        for (std::uint64_t byte = 0; byte < 8 && at + byte < of.whole(); ++byte) {
          ASSERT_EQ(static_cast<std::byte>(word >> 8 * byte), right[at + byte]) << at;
        }
        ASSERT_EQ(std::byte{image_byte(of, at)}, right[at]) << at;
      }
    }
  }
}

TEST(image, one_wrong_byte_is_found_at_any_place) {
  for (copy_layout const& layout : every_layout(3001)) {
    image const of = around(layout.to);
    auto whole = written(of);
    for (std::uint64_t at = 0; at < of.whole(); ++at) {
      whole[at] ^= std::byte{1};
      ASSERT_EQ(find_wrong_byte(whole.data(), of), at);
      whole[at] ^= std::byte{1};
    }
  }
}

TEST(image, the_first_of_several_wrong_bytes_is_found) {
  image const of = around(rows_layout(20 << 20, 4096, 4608).to);
  auto whole = written(of);
  for (std::uint64_t const at : {of.whole() - 1, of.whole() / 2, guard + 4096 + 1, guard - 1}) {
    whole[at] ^= std::byte{0x80};
    EXPECT_EQ(find_wrong_byte(whole.data(), of), at);
  }
}

TEST(image, of_another_sample_is_wrong_in_every_word_of_it) {
  side_layout const side = contiguous_layout(4096).from;
  auto const whole = written(around(side, 7));
  image const other = around(side, 8);
  for (std::uint64_t at = guard; at < guard + 4096; at += 8) {
    std::uint64_t found;
    std::memcpy(&found, &whole[at], 8);
    EXPECT_NE(found, image_word(other, at));
  }
}

// Pieces that lie in another order than in the payload: 5 of 16 bytes, 4 apart.
TEST(image, of_turned_places_has_parts_in_that_order) {
  image of{{{}, 16}, guard, 5 * 20, 1, 0};
  of.where.axes[0] = {5, 20, 16, 3};
  auto const whole = written(of);
  std::vector<std::byte> pattern(5 * 16);
  write_pattern(pattern, 1);
  for (std::size_t place = 0; place < 5; ++place) {
    EXPECT_EQ(std::memcmp(&whole[guard + place * 20], &pattern[place * 3 % 5 * 16], 16), 0);
    EXPECT_EQ(whole[guard + place * 20 + 16], std::byte{0});
  }
}

TEST(image, of_one_value_repeats_it) {
  image of{{{}, 10}, guard, 10, 1, 0};
  of.repeats = true;
  of.value = 0x8483828184838281;
  auto const whole = written(of);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(std::to_integer<unsigned>(whole[guard + i]), 0x81 + i % 4);
  }
  EXPECT_FALSE(find_wrong_byte(whole.data(), of));
}

}  // namespace
}  // namespace rocbench
