// SPDX-License-Identifier: MIT
// Fills with patterns of 1 to 16 bytes in any layout, with and without a stream.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "platform/call.hpp"
#include "support/environment.hpp"
#include "support/gate.hpp"
#include "support/layouts.hpp"

namespace {

using roc::test::element_of;
using roc::test::gate;

// Fills random strided regions of device memory and checks that nothing else is written.
template <std::size_t Size>
void fill_regions(std::mt19937_64& random) {
  using T = element_of<Size>;
  for (int round = 0; round < 12; ++round) {
    roc::shape<3> const extents{1 + random() % 6, 1 + random() % 9, 1 + random() % 40};
    auto const strides = roc::test::random_strides(extents, random, true);
    auto const range = roc::layout::element_range(extents, strides);
    std::size_t const before = random() % 5;
    roc::device_array<T> const memory(
        {static_cast<std::size_t>(range.high - range.low) + before + 3});
    std::vector<T> expected_memory(memory.size(), T::number(1));
    memory.copy_to_device(expected_memory);
    roc::device_view<T, 3> const view(
        memory.data() + static_cast<std::ptrdiff_t>(before) - range.low, extents, strides);
    auto const value = std::make_unique<T>(T::number(random() % 1000));
    if (round % 4 == 3) {
      view.zero();
      std::memset(value.get(), 0, Size);
    } else if (round % 2 == 0) {
      view.fill(*value);
    } else {
      roc::stream const stream;
      T const expected = *value;
      view.fill(*value, stream);
      std::memset(value.get(), 0xFF, Size);  // allowed: the pattern has been read
      stream.synchronize();
      *value = expected;
    }
    for (std::size_t i = 0; i < extents[0]; ++i) {
      for (std::size_t k = 0; k < extents[1]; ++k) {
        for (std::size_t l = 0; l < extents[2]; ++l) {
          auto const offset = static_cast<std::ptrdiff_t>(before) - range.low +
                              static_cast<std::ptrdiff_t>(i) * strides[0] +
                              static_cast<std::ptrdiff_t>(k) * strides[1] +
                              static_cast<std::ptrdiff_t>(l) * strides[2];
          expected_memory[static_cast<std::size_t>(offset)] = *value;
        }
      }
    }
    std::vector<T> found(expected_memory.size());
    memory.copy_to_host(found);
    ASSERT_TRUE(found == expected_memory) << Size << " bytes, round " << round;
  }
}

TEST(Fill, PatternOf1To16BytesFillsAnyLayout) {
  auto random = roc::test::random_generator("Fill.PatternOf1To16BytesFillsAnyLayout");
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (fill_regions<I + 1>(random), ...);
  }(std::make_index_sequence<16>{});
}

// Fills contiguous memory and long rows whose begins and ends are not aligned for wide accesses.
template <std::size_t Size>
void fill_at_offsets() {
  using T = element_of<Size>;
  constexpr std::size_t n = 3000;
  for (std::size_t offset = 0; offset < 18; ++offset) {
    roc::device_array<T, 2> const memory({2, n}, roc::padded<2>{2, 3200});  // rows of 16 Size
    memory.fill(T::number(1));
    memory(0, roc::slice(offset, n - 2 * offset)).fill(T::number(500));
    if (offset > 8) memory(roc::all, roc::slice(offset, n)).fill(T::number(900));
    auto const back = memory.copy_to_host();
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t k = 0; k < n; ++k) {
        std::size_t expected = i == 0 && k >= offset && k < n - 2 * offset ? 500 : 1;
        if (offset > 8 && k >= offset) expected = 900;
        ASSERT_EQ(T::number(expected), back(i, k)) << Size << ": " << offset << ", " << k;
      }
    }
  }
}

TEST(Fill, UnalignedOffsetsAndLengthsAreFilledExactly) {
  fill_at_offsets<1>();
  fill_at_offsets<3>();
  fill_at_offsets<4>();
  fill_at_offsets<12>();
}

TEST(Fill, FillOnStreamRunsAfterEarlierWorkOfTheStream) {
  if (!gate::holds()) GTEST_SKIP() << "in mode inline, work is done by the call that enqueues it";
  roc::stream const stream;
  roc::device_array<int> const array({1000});
  array.fill(1);
  auto pinned = roc::pinned_array<int>(1000);
  gate stream_gate;
  stream_gate.close(stream);
  array.copy_to_host(pinned, stream);
  array.fill(2, stream);
  EXPECT_FALSE(stream.query());
  stream_gate.open();
  stream.synchronize();
  EXPECT_EQ(1, pinned(999));
  EXPECT_EQ(2, array(999).get());
}

TEST(Fill, FillWithoutStreamRunsAfterAllStreams) {
  roc::stream const first;
  roc::stream const second;
  roc::device_array<int> const array({50'000});
  array.fill(1, first);
  array(roc::slice(0, 10)).zero(second);
  array.fill(3);
  std::vector<int> back(50'000);
  array.copy_to_host(back);
  EXPECT_EQ(std::vector<int>(50'000, 3), back);
}

TEST(Fill, RecordsAndNegativeZeroAreWrittenBitForBit) {
  struct complex {
    double re;
    double im;
  };
  roc::device_array<complex> const array({100});
  array.fill({1.5, -2.5});
  EXPECT_EQ(-2.5, array(99).get().im);
  roc::device_array<float, 2> const f({3, 4}, roc::order::f);
  f.fill(-0.0f);
  EXPECT_TRUE(std::signbit(f(2, 3).get()));
  roc::device_array<element_of<40>> const large({7});
  large.zero();  // works for elements of more than 16 bytes
  EXPECT_EQ(element_of<40>{}, large(6).get());
}

TEST(Fill, AcceptsEmptyAndRankZeroArraysAndThrowsForMovedFromOnes) {
  roc::device_array<int, 2> const empty({0, 4});
  EXPECT_NO_THROW(empty.fill(1));
  EXPECT_NO_THROW(empty.zero());
  roc::device_array<int, 0> const scalar(roc::shape<0>{});
  scalar.fill(42);
  EXPECT_EQ(42, scalar.get());
  EXPECT_THROW(roc::device_view<int>(nullptr, {3}).fill(1), roc::lifetime_error);
  roc::device_array<int> moved({3});
  auto const other = std::move(moved);
  EXPECT_THROW(moved.fill(1), roc::lifetime_error);
  EXPECT_THROW(moved.zero(), roc::lifetime_error);
}

TEST(Fill, FailedHipCallThrowsErrorWithItsName) {
  roc::device_array<int> const array({100});
  ASSERT_TRUE(roc::platform::fail_call("hipMemsetAsync", 1, hipErrorInvalidValue));
  try {
    array.zero();
    FAIL();
  } catch (roc::error const& error) {
    EXPECT_STREQ("hipMemsetAsync", error.call());
  }
  array.zero();
  EXPECT_EQ(0, array(99).get());
}

}  // namespace
