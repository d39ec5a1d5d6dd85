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

constexpr stream_kernel elementwise_kernels[] = {stream_kernel::copy, stream_kernel::mul,
                                                 stream_kernel::add, stream_kernel::triad};

TEST(StreamValue, IsUniqueAcrossIndicesArraysAndSamples) {
  std::vector<double> numbers;
  for (std::uint64_t sample = 0; sample < 5; ++sample) {
    for (unsigned array = 0; array < 2; ++array) {
      for (std::size_t i = 0; i < 20'000; ++i) {
        numbers.push_back(stream_value(i, array, sample));
      }
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

TEST(ExpectedStreamResult, EqualsKernelDefinition) {
  for (std::size_t const i : {0, 1, 255, 1 << 20}) {
    double const a = stream_input(stream_kernel::add, i, 0, 7);
    double const b = stream_input(stream_kernel::add, i, 1, 7);
    EXPECT_EQ(expected_stream_result(stream_kernel::copy, i, 7), a);
    EXPECT_EQ(expected_stream_result(stream_kernel::mul, i, 7), 0.5 * a);
    EXPECT_EQ(expected_stream_result(stream_kernel::add, i, 7), a + b);
    EXPECT_EQ(expected_stream_result(stream_kernel::triad, i, 7), a + 0.5 * b);
  }
}

TEST(ExpectedStreamResult, IsNeverPoison) {
  for (std::uint64_t sample = 0; sample < 128; ++sample) {
    double poison = 0;
    std::memset(&poison, std::to_integer<int>(poison_byte(sample)), sizeof poison);
    for (stream_kernel const kernel : elementwise_kernels) {
      for (std::size_t i = 0; i < 100; ++i)
        EXPECT_NE(expected_stream_result(kernel, i, sample), poison);
    }
  }
}

// The sum of 2^33 products below 2^20 stays below 2^53 and is exact.
TEST(StreamInput, OfDotIsIntegerBelow1024) {
  double highest = 0;
  double lowest = 1024;
  for (std::uint64_t const sample : {0, 1, 511, 512, 1000}) {
    for (unsigned array = 0; array < 2; ++array) {
      for (std::size_t i = 0; i < 100'000; ++i) {
        double const value = stream_input(stream_kernel::dot, i, array, sample);
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
