// SPDX-License-Identifier: MIT
#include <roc/interop/span.hpp>
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

namespace {

TEST(AsSpan, HasTheElementsOfHostMemory) {
  auto array = roc::pinned_array<int>(roc::shape<2>{2, 3});
  std::iota(array.begin(), array.end(), 0);
  std::span<int> const span = roc::as_span(array);
  ASSERT_EQ(6u, span.size());
  EXPECT_EQ(array.data(), span.data());
  EXPECT_EQ(5, span[5]);
  auto const& fixed = array;
  static_assert(std::is_same_v<decltype(roc::as_span(fixed)), std::span<int const>>);
  EXPECT_EQ(3u, roc::as_span(array(1, roc::all)).size());
}

TEST(AsSpan, ConvertsBackToViewOfDeviceMemory) {
  auto const array = roc::to_device(std::vector<int>{1, 2, 3, 4});
  std::span<int> const span = roc::as_span(array);
  EXPECT_EQ(array.data(), span.data());
  auto const view = roc::as_device_view(span.subspan(1, 2), array.device_ordinal());
  EXPECT_EQ(2u, view.size());
  EXPECT_EQ(3, view(1).get());
}

TEST(AsSpan, IsInMemoryOrderForReversedOrFOrderedArray) {
  std::vector<int> numbers{1, 2, 3};
  roc::host_view<int> const view(numbers);
  auto const reversed = view(roc::slice(roc::none, roc::none, -1));
  EXPECT_EQ(3, reversed(0));
  EXPECT_EQ(numbers.data(), roc::as_span(reversed).data());
  roc::device_array<int, 2> const f({2, 3}, roc::order::f);
  EXPECT_EQ(6u, roc::as_span(f).size());
}

TEST(AsSpan, ThrowsForGaps) {
  roc::device_array<int, 2> const array({4, 6});
  EXPECT_THROW(static_cast<void>(roc::as_span(array(roc::all, roc::slice(0, 3)))),
               roc::layout_error);
  std::vector<int> numbers(8);
  roc::host_view<int, 2> const repeated(numbers.data(), {2, 4}, {0, 1});
  EXPECT_THROW(static_cast<void>(roc::as_span(repeated)), roc::layout_error);
}

TEST(AsSpan, IsEmptyForEmptyArray) {
  roc::device_array<float, 2> const none({0, 4});
  EXPECT_TRUE(roc::as_span(none).empty());
  EXPECT_EQ(0u, roc::as_device_view(roc::as_span(none)).size());
}

}  // namespace
