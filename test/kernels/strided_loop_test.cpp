// SPDX-License-Identifier: MIT
// Loops with more words than 32-bit indices can count: their division into parts, and copies of
// ranges of them.
#include "kernels/strided_loop.hpp"

#include <roc/native.hpp>
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "kernels/strided_copy.hpp"
#include "support/environment.hpp"

namespace {

using roc::kernels::first_part;
using roc::kernels::loop_part;
using roc::kernels::max_index32;
using roc::kernels::strided_loop;
using roc::layout::axis;
using roc::layout::canonical_layout;

strided_loop loop_of(std::vector<axis> const& axes) {
  strided_loop result;
  result.source = 1'000'000;
  result.destination = 2'000'000;
  result.rank = axes.size();
  std::copy(axes.begin(), axes.end(), result.axes.begin());
  return result;
}

struct addresses {
  std::uintptr_t source;
  std::uintptr_t destination;
  bool operator==(addresses const&) const = default;
};

// Returns the addresses of a word, with 64-bit division.
addresses word_of(strided_loop const& loop, std::size_t index) {
  addresses result{loop.source, loop.destination};
  for (std::size_t i = loop.rank; i-- != 0;) {
    auto const step = static_cast<std::ptrdiff_t>(index % loop.axes[i].extent);
    result.source += static_cast<std::uintptr_t>(step * loop.axes[i].source);
    result.destination += static_cast<std::uintptr_t>(step * loop.axes[i].destination);
    index /= loop.axes[i].extent;
  }
  return result;
}

std::size_t words_of(strided_loop const& loop) {
  std::size_t result = 1;
  for (std::size_t i = 0; i < loop.rank; ++i) result *= loop.axes[i].extent;
  return result;
}

// Divides the words [begin, end) of the loop, calls f(part, number of its first word in the loop),
// and returns the number of parts.
template <class F>
std::size_t for_each_part(strided_loop const& loop, std::size_t begin, std::size_t end,
                          std::size_t max_words, F f) {
  std::size_t parts = 0;
  while (begin < end) {
    loop_part const part = first_part(loop, begin, end, max_words);
    EXPECT_LT(part.begin, part.end);
    EXPECT_LE(part.end, max_words);
    if (testing::Test::HasFailure()) return parts;
    f(part, begin);
    begin += part.end - part.begin;
    ++parts;
  }
  EXPECT_EQ(end, begin);
  return parts;
}

TEST(FirstPart, LoopThat32BitIndicesCanCountIsOnePart) {
  strided_loop const loop = loop_of({{max_index32, 8, 4}});
  loop_part const part = first_part(loop, 5, max_index32);
  EXPECT_EQ(5u, part.begin);
  EXPECT_EQ(max_index32, part.end);
  EXPECT_EQ(loop.source, part.loop.source);
  EXPECT_EQ(1u, part.loop.rank);
}

TEST(FirstPart, PartsHaveTheWordsOfTheRangeInOrder) {
  auto random = roc::test::random_generator("FirstPart.PartsHaveTheWordsOfTheRangeInOrder");
  auto const number = [&](std::size_t low, std::size_t high) {
    return std::uniform_int_distribution<std::size_t>(low, high)(random);
  };
  for (int i = 0; i < 2000; ++i) {
    std::vector<axis> axes(number(1, 5));
    for (axis& a : axes) {
      a.extent = number(1, 9);
      a.source = static_cast<std::ptrdiff_t>(number(0, 2000)) - 1000;
      a.destination = static_cast<std::ptrdiff_t>(number(0, 2000)) - 1000;
    }
    strided_loop const loop = loop_of(axes);
    std::size_t const words = words_of(loop);
    std::size_t const begin = number(0, words - 1);
    std::size_t const end = number(begin + 1, words);
    for_each_part(loop, begin, end, number(1, 100), [&](loop_part const& part, std::size_t first) {
      EXPECT_LE(part.end, words_of(part.loop));
      for (std::size_t k = part.begin; k != part.end; ++k) {
        ASSERT_EQ(word_of(loop, first + k - part.begin), word_of(part.loop, k));
      }
    });
    if (HasFailure()) return;
  }
}

TEST(FirstPart, LoopsOfEnormousExtentsAreFewParts) {
  constexpr std::size_t large = (std::size_t{1} << 33) + 5;
  struct example {
    std::vector<axis> axes;
    std::size_t max_parts;
  };
  for (auto const& [axes, max_parts] : std::vector<example>{
           {{{large, 3, 1}}, 3},                                // steps of one word
           {{{large, 300, 100}, {100, 3, 1}}, 202},             // whole rows
           {{{7, -1, 1}, {large, 7, 7}}, 7 * 3},                // rows of several parts each
           {{{5, 1, 1}, {large, 50, 50}, {10, 5, 5}}, 5 * 21},  // both
           {{{3, 1, 1}, {max_index32 / 2 + 2, 6, 6}}, 3},       // one row a part
           {{{max_index32 + 1, 2, 2}, {1, 1, 1}}, 2},           // one word too many
       }) {
    strided_loop const loop = loop_of(axes);
    std::size_t const words = words_of(loop);
    SCOPED_TRACE("a loop of " + std::to_string(words) + " words");
    std::size_t const parts =
        for_each_part(loop, 0, words, max_index32, [&](loop_part const& part, std::size_t first) {
          std::size_t const last = first + (part.end - part.begin) - 1;
          EXPECT_EQ(word_of(loop, first), word_of(part.loop, part.begin));
          EXPECT_EQ(word_of(loop, last), word_of(part.loop, part.end - 1));
        });
    EXPECT_LE(parts, max_parts);
    // A range at the end of the loop, as of a chunk of a staged copy.
    EXPECT_GE(2u, for_each_part(loop, words - 4096, words, max_index32,
                                [&](loop_part const& part, std::size_t first) {
                                  EXPECT_EQ(word_of(loop, first), word_of(part.loop, part.begin));
                                }));
  }
}

// A layout of every second byte of 8 GiB, of which only a window around the range is in memory.
class LongLayout : public testing::Test {
 protected:
  static constexpr std::size_t words = std::size_t{1} << 33;
  static constexpr std::size_t window = 4096;  // words
  // Windows before, across and after the largest number that 32 bits can hold.
  static constexpr std::size_t windows[] = {max_index32 + 1 - window, max_index32 + 1 - window / 2,
                                            words - window};

  // Returns a layout whose words [first, first + window) are every second byte from `bytes` on.
  static canonical_layout layout_of(std::byte* bytes, std::size_t first) {
    canonical_layout result{};
    auto const begin = reinterpret_cast<std::uintptr_t>(bytes) - 2 * first;
    result.source = reinterpret_cast<std::byte const*>(begin);
    result.destination = reinterpret_cast<std::byte*>(begin);
    result.run = 1;
    result.rank = 1;
    result.axes[0] = {words, 2, 2};
    return result;
  }
  static std::vector<unsigned char> numbered(std::size_t size) {
    std::vector<unsigned char> result(size);
    for (std::size_t i = 0; i != size; ++i) {
      result[i] = static_cast<unsigned char>(i * 2654435761u >> 13);
    }
    return result;
  }
};

TEST_F(LongLayout, GatherOfARangeIsExact) {
  roc::stream const stream;
  for (std::size_t const first : windows) {
    SCOPED_TRACE(first);
    std::vector<unsigned char> const strided = numbered(2 * window);
    auto const from = roc::to_device(strided);
    roc::device_array<unsigned char> packed({window});
    packed.fill(0);
    roc::kernels::gather(layout_of(reinterpret_cast<std::byte*>(from.data()), first),
                         {first, first + window}, reinterpret_cast<std::byte*>(packed.data()),
                         roc::native(stream));
    stream.synchronize();
    auto const result = packed.copy_to_host();
    for (std::size_t i = 0; i != window; ++i) {
      ASSERT_EQ(strided[2 * i], result(static_cast<std::ptrdiff_t>(i))) << i;
    }
  }
}

TEST_F(LongLayout, ScatterOfARangeIsExact) {
  roc::stream const stream;
  for (std::size_t const first : windows) {
    SCOPED_TRACE(first);
    std::vector<unsigned char> const packed = numbered(window);
    auto const from = roc::to_device(packed);
    roc::device_array<unsigned char> strided({2 * window});
    strided.fill(7);
    roc::kernels::scatter(layout_of(reinterpret_cast<std::byte*>(strided.data()), first),
                          {first, first + window}, reinterpret_cast<std::byte*>(from.data()),
                          roc::native(stream));
    stream.synchronize();
    auto const result = strided.copy_to_host();
    for (std::size_t i = 0; i != window; ++i) {
      ASSERT_EQ(packed[i], result(static_cast<std::ptrdiff_t>(2 * i))) << i;
      ASSERT_EQ(7, result(static_cast<std::ptrdiff_t>(2 * i + 1))) << i;
    }
  }
}

}  // namespace
