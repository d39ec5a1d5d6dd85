// SPDX-License-Identifier: MIT
#include "stream_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "pattern.hpp"

namespace rocbench {
namespace {

constexpr stream_kernel elementwise[] = {stream_kernel::copy, stream_kernel::mul,
                                         stream_kernel::add, stream_kernel::triad};

TEST(stream_values, are_all_different_over_indices_arrays_and_samples) {
  std::vector<double> numbers;
  for (std::uint64_t sample = 0; sample < 5; ++sample) {
    for (unsigned array = 0; array < 2; ++array) {
      for (std::size_t i = 0; i < 20'000; ++i) {
        numbers.push_back(stream_number(i, array, sample));
      }
    }
  }
  EXPECT_GE(*std::ranges::min_element(numbers), 1);
  EXPECT_LT(*std::ranges::max_element(numbers), 2);
  std::ranges::sort(numbers);
  EXPECT_EQ(std::ranges::adjacent_find(numbers), numbers.end());
}

// A compiler may fuse the product and the sum of triad, or not.
TEST(stream_values, of_triad_are_the_same_with_and_without_a_fused_multiply_add) {
  for (std::size_t i = 0; i < 100'000; ++i) {
    double const a = stream_number(i, 0, 3);
    double const b = stream_number(i, 1, 3);
    ASSERT_EQ(std::fma(stream_factor, b, a), stream_result(stream_kernel::triad, i, 3));
  }
}

TEST(stream_values, are_what_the_kernels_compute) {
  for (std::size_t const i : {0, 1, 255, 1 << 20}) {
    double const a = stream_source(stream_kernel::add, i, 0, 7);
    double const b = stream_source(stream_kernel::add, i, 1, 7);
    EXPECT_EQ(stream_result(stream_kernel::copy, i, 7), a);
    EXPECT_EQ(stream_result(stream_kernel::mul, i, 7), 0.5 * a);
    EXPECT_EQ(stream_result(stream_kernel::add, i, 7), a + b);
    EXPECT_EQ(stream_result(stream_kernel::triad, i, 7), a + 0.5 * b);
  }
}

TEST(stream_values, are_never_poison) {
  for (std::uint64_t sample = 0; sample < 128; ++sample) {
    double poison = 0;
    std::memset(&poison, std::to_integer<int>(poison_byte(sample)), sizeof poison);
    for (stream_kernel const what : elementwise) {
      for (std::size_t i = 0; i < 100; ++i) EXPECT_NE(stream_result(what, i, sample), poison);
    }
  }
}

// 2^33 products below 2^20 stay below 2^53.
TEST(stream_values, of_dot_are_whole_numbers_whose_sums_are_exact) {
  double highest = 0;
  double lowest = 1024;
  for (std::uint64_t const sample : {0, 1, 511, 512, 1000}) {
    for (unsigned array = 0; array < 2; ++array) {
      for (std::size_t i = 0; i < 100'000; ++i) {
        double const value = stream_source(stream_kernel::dot, i, array, sample);
        ASSERT_EQ(value, std::trunc(value));
        highest = std::max(highest, value);
        lowest = std::min(lowest, value);
      }
    }
  }
  EXPECT_LT(highest, 1024);
  EXPECT_GE(lowest, 0);
}

}  // namespace
}  // namespace rocbench
