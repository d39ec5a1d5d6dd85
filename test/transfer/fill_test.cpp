// SPDX-License-Identifier: MIT
// Fills: any pattern of 1 to 16 bytes into any layout, on a stream or not.
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

// A strided region of a device array, at some offset: filled and nothing else.
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
    std::vector<T> truth(memory.size(), T::number(1));
    memory.copy_to_device(truth);
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
      std::memset(value.get(), 0xFF, Size);  // the pattern was read
      stream.synchronize();
      *value = expected;
    }
    for (std::size_t i = 0; i < extents[0]; ++i) {
      for (std::size_t k = 0; k < extents[1]; ++k) {
        for (std::size_t l = 0; l < extents[2]; ++l) {
          auto const at = static_cast<std::ptrdiff_t>(before) - range.low +
                          static_cast<std::ptrdiff_t>(i) * strides[0] +
                          static_cast<std::ptrdiff_t>(k) * strides[1] +
                          static_cast<std::ptrdiff_t>(l) * strides[2];
          truth[static_cast<std::size_t>(at)] = *value;
        }
      }
    }
    std::vector<T> found(truth.size());
    memory.copy_to_host(found);
    ASSERT_TRUE(found == truth) << Size << " bytes, round " << round;
  }
}

TEST(Fill, PatternsOf1To16BytesIntoAnyLayout) {
  auto random = roc::test::random_generator("Fill.PatternsOf1To16BytesIntoAnyLayout");
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (fill_regions<I + 1>(random), ...);
  }(std::make_index_sequence<16>{});
}

// Contiguous memory whose beginning suits no wide access.
TEST(Fill, OffsetAndLength) {
  for (std::size_t offset = 0; offset < 20; ++offset) {
    roc::device_array<element_of<3>> const memory({200});
    memory.fill(element_of<3>::number(1));
    memory(roc::slice(offset, 200 - 2 * offset)).fill(element_of<3>::number(500));
    auto const back = memory.copy_to_host();
    for (std::size_t i = 0; i < 200; ++i) {
      bool const inside = i >= offset && i < 200 - 2 * offset;
      ASSERT_EQ(element_of<3>::number(inside ? 500 : 1), back(i)) << offset << ", " << i;
    }
  }
}

TEST(Fill, HonoursItsStream) {
  if (!gate::holds()) GTEST_SKIP() << "in mode inline work is done by the call that enqueues it";
  roc::stream const stream;
  roc::device_array<int> const array({1000});
  array.fill(1);
  auto pinned = roc::pinned_array<int>(1000);
  gate held;
  held.close(stream);
  array.copy_to_host(pinned, stream);
  array.fill(2, stream);
  EXPECT_FALSE(stream.query());
  held.open();
  stream.synchronize();
  EXPECT_EQ(1, pinned(999));
  EXPECT_EQ(2, array(999).get());
}

TEST(Fill, WithoutAStreamComesAfterAllAndIsDone) {
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

TEST(Fill, RecordsAndFloats) {
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
  large.zero();  // of any size
  EXPECT_EQ(element_of<40>{}, large(6).get());
}

TEST(Fill, EmptyAndScalar) {
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

TEST(Fill, AnErrorOfHipIsTyped) {
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
