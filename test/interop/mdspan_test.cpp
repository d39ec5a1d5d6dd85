// SPDX-License-Identifier: MIT
// Conversion of arrays to std::mdspan, and to cuda::std::mdspan as an example of other libraries.
#include <roc/interop/mdspan.hpp>
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

#if __has_include(<cuda/std/mdspan>)
#include <cuda/std/mdspan>
#define ROCARRAY_TEST_CUDA_MDSPAN 1
#else
#define ROCARRAY_TEST_CUDA_MDSPAN 0
#endif

namespace {

#if ROCARRAY_TEST_CUDA_MDSPAN
namespace other = cuda::std;
template <class T, std::size_t N, class Layout = other::layout_stride>
using span_of = other::mdspan<T, other::dextents<std::size_t, N>, Layout>;

TEST(AsMdspan, HasShapeAndStridesInOtherLibrary) {
  auto array = roc::pinned_array<int>(roc::shape<2>{4, 6});
  std::iota(array.begin(), array.end(), 0);
  auto const part = array(roc::slice(1, 4, 2), roc::slice(0, 6, 3));
  auto const span = roc::as_mdspan<span_of<int, 2>>(part);
  EXPECT_EQ(2u, span.extent(0));
  EXPECT_EQ(2u, span.extent(1));
  EXPECT_EQ(12u, span.stride(0));
  EXPECT_EQ(3u, span.stride(1));
  EXPECT_EQ(part.data(), span.data_handle());
  EXPECT_EQ(part(1, 1), span.data_handle()[span.mapping()(1, 1)]);
  roc::host_view const back(span);
  EXPECT_EQ(part.strides(), back.strides());
}

TEST(AsMdspan, ConvertsBackToViewOfDeviceMemory) {
  roc::device_array<double, 3> const array({2, 3, 4}, roc::order::f);
  array.fill(2);
  auto const span = roc::as_mdspan<span_of<double, 3, other::layout_left>>(array);
  EXPECT_EQ(array.data(), span.data_handle());
  auto const view = roc::as_device_view(span, array.device_ordinal());
  EXPECT_TRUE(view.is_f_contiguous());
  EXPECT_EQ(2.0, view(1, 2, 3).get());
  auto const fixed = roc::as_mdspan<span_of<double const, 3>>(array);
  EXPECT_EQ(6u, fixed.stride(2));
}

TEST(CopyOfMdspans, FindsMemoryOfMdspansOfOtherLibrary) {
  std::vector<double> numbers(12);
  std::iota(numbers.begin(), numbers.end(), 0.0);
  roc::device_array<double, 2> const array({3, 4}, roc::order::f);
  other::mdspan<double const, other::extents<int, 3, 4>> const host(numbers.data());
  span_of<double, 2, other::layout_left> const device(array.data(), 3, 4);
  roc::copy(host, device);
  EXPECT_EQ(6.0, array(1, 2).get());
  std::vector<double> result(12);
  roc::copy(device, span_of<double, 2, other::layout_right>(result.data(), 3, 4));
  EXPECT_EQ(numbers, result);
}

TEST(AsMdspan, ThrowsForUnsupportedStrides) {
  roc::device_array<int, 2> const array({4, 6});
  using right = span_of<int, 2, other::layout_right>;
  EXPECT_NO_THROW(static_cast<void>(roc::as_mdspan<right>(array)));
  EXPECT_THROW(static_cast<void>(roc::as_mdspan<right>(array(roc::all, roc::slice(0, 3)))),
               roc::layout_error);
  EXPECT_THROW(static_cast<void>(roc::as_mdspan<span_of<int, 2>>(
                   array(roc::slice(roc::none, roc::none, -1), roc::all))),
               roc::layout_error);
  std::vector<int> numbers(8);
  roc::host_view<int, 2> const repeated(numbers.data(), {2, 4}, {0, 1});
  EXPECT_THROW(static_cast<void>(roc::as_mdspan<span_of<int, 2>>(repeated)), roc::layout_error);
  roc::host_view<int, 2> const overlapping(numbers.data(), {3, 3}, {1, 1});
  EXPECT_THROW(static_cast<void>(roc::as_mdspan<span_of<int, 2>>(overlapping)), roc::layout_error);
}

TEST(AsMdspan, ThrowsForUnsupportedExtents) {
  roc::device_array<char, 2> const array({4, 300});
  using fixed = other::mdspan<char, other::extents<std::size_t, 4, other::dynamic_extent>>;
  EXPECT_EQ(300u, roc::as_mdspan<fixed>(array).extent(1));
  using incompatible_mdspan =
      other::mdspan<char, other::extents<std::size_t, 5, other::dynamic_extent>>;
  EXPECT_THROW(static_cast<void>(roc::as_mdspan<incompatible_mdspan>(array)), roc::shape_error);
  using small = other::mdspan<char, other::dextents<std::int8_t, 2>, other::layout_stride>;
  EXPECT_THROW(static_cast<void>(roc::as_mdspan<small>(array)), roc::shape_error);
}

TEST(AsMdspan, AcceptsRankZeroAndEmptyArrays) {
  roc::device_array<int, 0> const scalar(roc::shape<0>{});
  EXPECT_EQ(scalar.data(), (roc::as_mdspan<span_of<int, 0>>(scalar).data_handle()));
  roc::device_array<int, 2> const none({0, 4});
  EXPECT_EQ(4u, (roc::as_mdspan<span_of<int, 2>>(none).extent(1)));
}
#endif

#if defined(__cpp_lib_mdspan)
TEST(AsMdspan, HasShapeAndStridesInStandardLibrary) {
  auto array = roc::pinned_array<int>(roc::shape<2>{4, 6});
  std::iota(array.begin(), array.end(), 0);
  auto const span = roc::as_mdspan(array(roc::slice(1, 3), roc::all));
  EXPECT_EQ(6, (span[std::array{0, 0}]));
  EXPECT_EQ(17, (span[std::array{1, 5}]));
  roc::device_array<int, 2> const device({4, 6});
  EXPECT_EQ(device.data(), roc::as_mdspan(device).data_handle());
}
#endif

}  // namespace
