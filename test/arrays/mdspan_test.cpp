// SPDX-License-Identifier: MIT
// Host views of std::mdspan, if the standard library has it, and of classes with its members.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <vector>

#if __has_include(<mdspan>)
#include <mdspan>
#endif

#include "support/environment.hpp"

namespace {

// A class with the members of std::mdspan that the library uses.
template <class T, std::size_t N>
class span_of_axes {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  using data_handle_type = T*;
  using reference = T&;
  using mapping_type = std::array<std::ptrdiff_t, N>;

  span_of_axes(T* data, std::array<int, N> extents, std::array<std::ptrdiff_t, N> strides)
      : data_(data), extents_(extents), strides_(strides) {}

  static constexpr std::size_t rank() { return N; }
  static constexpr bool is_always_unique() { return true; }
  static constexpr bool is_always_strided() { return true; }
  data_handle_type const& data_handle() const { return data_; }
  int extent(std::size_t axis) const { return extents_[axis]; }
  std::ptrdiff_t stride(std::size_t axis) const { return strides_[axis]; }

 private:
  T* data_;
  std::array<int, N> extents_;
  std::array<std::ptrdiff_t, N> strides_;
};

// A mdspan whose accessor computes values is not accepted.
template <class T>
struct computing : span_of_axes<T, 1> {
  using reference = T;
};
static_assert(roc::detail::mdspan_like<span_of_axes<int, 1>>);
static_assert(!roc::detail::mdspan_like<computing<int>>);

// A mdspan whose layout may be strided, and may map several indices to one element.
template <class T, std::size_t N>
class sometimes_strided : public span_of_axes<T, N> {
 public:
  sometimes_strided(span_of_axes<T, N> const& span, bool is_strided)
      : span_of_axes<T, N>(span), is_strided_(is_strided) {}
  static constexpr bool is_always_unique() { return false; }
  static constexpr bool is_always_strided() { return false; }
  bool is_strided() const { return is_strided_; }

 private:
  bool is_strided_;
};

TEST(MdspanView, HasTheShapeAndStridesOfTheMdspan) {
  std::vector<int> numbers(40);
  std::iota(numbers.begin(), numbers.end(), 0);
  span_of_axes<int, 2> const span(numbers.data(), {3, 4}, {10, 2});
  roc::host_view const view(span);
  static_assert(std::is_same_v<decltype(view), roc::host_view<int, 2> const>);
  EXPECT_EQ((roc::strides<2>{10, 2}), view.strides());
  EXPECT_EQ(24, view(2, 2));
  roc::host_view<int const, 2> const fixed = span;
  EXPECT_EQ(24, fixed(2, 2));

  auto const array = roc::to_device(span);
  EXPECT_EQ((roc::shape<2>{3, 4}), array.shape());
  EXPECT_EQ(24, array(2, 2).get());
  array.fill(-1);
  array.copy_to_host(span);
  EXPECT_EQ(-1, numbers[26]);
  EXPECT_EQ(25, numbers[25]);  // a gap
}

// A mdspan does not tell where its memory is: roc::copy finds out.
TEST(MdspanCopy, CopiesBetweenMdspansOfAnyMemory) {
  std::vector<int> numbers(40);
  std::iota(numbers.begin(), numbers.end(), 0);
  roc::device_array<int, 2> const array({3, 4}, roc::order::f);
  span_of_axes<int, 2> const host(numbers.data(), {3, 4}, {10, 2});
  span_of_axes<int, 2> const device(array.data(), {3, 4}, {1, 3});
  roc::copy(host, device);
  EXPECT_EQ(24, array(2, 2).get());
  roc::stream stream;
  roc::copy(span_of_axes<int const, 2>(numbers.data(), {3, 4}, {4, 1}), device, stream);
  stream.synchronize();
  EXPECT_EQ(10, array(2, 2).get());
  array.fill(-1);
  roc::copy(device, host);
  EXPECT_EQ(-1, numbers[26]);
  EXPECT_EQ(25, numbers[25]);  // a gap
  roc::copy(array, host);
  roc::copy(host, roc::memory_view(device));
  EXPECT_THROW(roc::copy(host, span_of_axes<int, 2>(array.data(), {4, 3}, {3, 1})),
               roc::shape_error);
  int zero_dimensional = 5;
  span_of_axes<int, 0> const scalar(&zero_dimensional, {}, {});
  roc::device_array<int, 0> const element(roc::shape<0>{});
  roc::copy(scalar, span_of_axes<int, 0>(element.data(), {}, {}));
  EXPECT_EQ(5, element.get());
}

TEST(MdspanCopy, OfALayoutThatIsNotAlwaysStridedIsCheckedAtRunTime) {
  std::vector<int> numbers(12);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::vector<int> const expected = numbers;
  roc::device_array<int, 2> const array({3, 2});
  span_of_axes<int, 2> const span(numbers.data(), {3, 2}, {4, 2});
  roc::copy(sometimes_strided(span, true), array);
  EXPECT_EQ(10, array(2, 1).get());
  sometimes_strided const other(span, false);
  EXPECT_THROW(roc::copy(other, array), roc::layout_error);
  EXPECT_THROW(roc::copy(array, other), roc::layout_error);
  EXPECT_THROW(static_cast<void>(roc::to_device(other)), roc::layout_error);
  EXPECT_THROW(array.copy_to_host(other), roc::layout_error);
  EXPECT_EQ(expected, numbers);
  EXPECT_EQ(10, array(2, 1).get());
  // Elements that share memory can be read, but not written.
  sometimes_strided const shared(span_of_axes<int, 2>(numbers.data() + 5, {3, 2}, {0, 1}), true);
  roc::copy(shared, array);
  EXPECT_EQ(6, array(2, 1).get());
  EXPECT_THROW(roc::copy(array, shared), roc::layout_error);
  EXPECT_EQ(expected, numbers);
}

#if defined(__cpp_lib_mdspan)
TEST(MdspanView, AcceptsTheStandardLibrarysMdspan) {
  std::vector<float> numbers(24);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  std::mdspan const c(numbers.data(), 4, 6);
  roc::host_view const view(c);
  static_assert(decltype(view)::rank == 2);
  EXPECT_EQ(13.0f, view(2, 1));
  std::mdspan<float, std::dextents<std::size_t, 2>, std::layout_left> const f(numbers.data(), 4, 6);
  EXPECT_TRUE(roc::host_view(f).is_f_contiguous());
  auto const array = roc::to_device(f);
  EXPECT_TRUE(array.is_f_contiguous());
  EXPECT_EQ(13.0f, array(1, 3).get());
  array.zero();
  array.copy_to_host(c);
  EXPECT_EQ(0.0f, numbers[23]);
}

TEST(MdspanCopy, AcceptsTheStandardLibrarysMdspan) {
  std::vector<float> numbers(24);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  roc::device_array<float, 2> const array({4, 6}, roc::order::f);
  std::mdspan<float, std::extents<int, 4, std::dynamic_extent>, std::layout_left> const device(
      array.data(), 6);
  std::mdspan const host(numbers.data(), 4, 6);
  roc::copy(host, device);
  EXPECT_EQ(13.0f, array(2, 1).get());
}
#endif

}  // namespace
