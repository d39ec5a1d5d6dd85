// SPDX-License-Identifier: MIT
// Conversion of arrays to mdspan and back, and copies and fills of mdspans: of std::mdspan, or of
// cuda::std::mdspan as an example of other libraries if ROCARRAY_TEST_CUDA_MDSPAN is 1.
#include <roc/interop/mdspan.hpp>
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#if ROCARRAY_TEST_CUDA_MDSPAN
#include <cuda/std/array>
#include <cuda/std/mdspan>
#else
#include <mdspan>
#endif

namespace {

#if ROCARRAY_TEST_CUDA_MDSPAN
namespace library = cuda::std;
#else
namespace library = std;
#endif
template <class T, std::size_t N, class Layout = library::layout_stride>
using span_of = library::mdspan<T, library::dextents<std::size_t, N>, Layout>;

TEST(AsMdspan, HasShapeAndStrides) {
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
  auto const span = roc::as_mdspan<span_of<double, 3, library::layout_left>>(array);
  EXPECT_EQ(array.data(), span.data_handle());
  auto const view = roc::as_device_view(span, array.device_ordinal());
  EXPECT_TRUE(view.is_f_contiguous());
  EXPECT_EQ(2.0, view(1, 2, 3).get());
  auto const fixed = roc::as_mdspan<span_of<double const, 3>>(array);
  EXPECT_EQ(6u, fixed.stride(2));
}

TEST(CopyOfMdspans, FindsMemoryOfMdspans) {
  std::vector<double> numbers(12);
  std::iota(numbers.begin(), numbers.end(), 0.0);
  roc::device_array<double, 2> const array({3, 4}, roc::order::f);
  library::mdspan<double const, library::extents<int, 3, 4>> const host(numbers.data());
  span_of<double, 2, library::layout_left> const device(array.data(), 3, 4);
  roc::copy(host, device);
  EXPECT_EQ(6.0, array(1, 2).get());
  std::vector<double> result(12);
  roc::copy(device, span_of<double, 2, library::layout_right>(result.data(), 3, 4));
  EXPECT_EQ(numbers, result);
}

// The calls that std::copy and std::fill of C++29 accept for mdspans, and those that roc::copy and
// roc::fill accept: docs/any-memory.md lists the differences.
template <class S, class D>
concept copyable = requires(S const& from, D const& to) {
  { roc::copy(from, to) } -> std::same_as<void>;
};
template <class S, class D>
concept copyable_on_stream = requires(S const& from, D const& to, roc::stream& stream) {
  { roc::copy(from, to, stream) } -> std::same_as<void>;
};
template <class M, class V>
concept fillable = requires(M const& to, V const& value) {
  { roc::fill(to, value) } -> std::same_as<void>;
};

// An mdspan in C order, of static or dynamic extents.
template <class T, class Index, std::size_t... Extents>
using extents_span = library::mdspan<T, library::extents<Index, Extents...>>;
inline constexpr std::size_t any = library::dynamic_extent;

// Ranks and static extents are compared at compile time; index types may differ.
static_assert(copyable<extents_span<int, int, 2, 3>, extents_span<int, std::size_t, 2, 3>>);
static_assert(copyable<extents_span<int, int, 2, any>, extents_span<int, std::uint8_t, any, 3>>);
static_assert(!copyable<extents_span<int, int, 2, 3>, extents_span<int, int, 3, 2>>);
static_assert(!copyable<extents_span<int, int, 2, any>, extents_span<int, int, 3, any>>);
static_assert(!copyable<extents_span<int, int, 6>, extents_span<int, int, 2, 3>>);
static_assert(!copyable<extents_span<int, int, any, any>, extents_span<int, int, any>>);
static_assert(copyable<extents_span<int, int>, extents_span<int, std::size_t>>);
static_assert(copyable_on_stream<extents_span<int, int, 2, any>, extents_span<int, int, 2, 3>>);
static_assert(!copyable_on_stream<extents_span<int, int, 2>, extents_span<int, int, 3>>);

// The element types must be equal, except for const of the source.
static_assert(copyable<extents_span<int const, int, 4>, extents_span<int, int, 4>>);
static_assert(!copyable<extents_span<int, int, 4>, extents_span<int const, int, 4>>);
static_assert(!copyable<extents_span<float, int, 4>, extents_span<double, int, 4>>);
static_assert(!copyable<extents_span<std::string, int, 4>, extents_span<std::string, int, 4>>);

static_assert(fillable<extents_span<double, int, 4>, int>);
static_assert(!fillable<extents_span<double const, int, 4>, double>);
static_assert(!fillable<extents_span<double, int, 4>, std::string>);
static_assert(!fillable<extents_span<std::array<double, 3>, int, 4>, std::array<double, 3>>);

// An accessor that returns references, but does not access the element that the pointer refers to.
struct next_element_accessor {
  using element_type = int;
  using offset_policy = next_element_accessor;
  using data_handle_type = int*;
  using reference = int&;
  constexpr reference access(int* data, std::size_t i) const { return data[i + 1]; }
  constexpr int* offset(int* data, std::size_t i) const { return data + i; }
};
// An accessor that returns values.
struct value_accessor {
  using element_type = int;
  using offset_policy = value_accessor;
  using data_handle_type = int*;
  using reference = int;
  constexpr reference access(int* data, std::size_t i) const { return data[i]; }
  constexpr int* offset(int* data, std::size_t i) const { return data + i; }
};
template <class Accessor>
using accessor_span =
    library::mdspan<int, library::extents<int, 2, 2>, library::layout_right, Accessor>;
static_assert(!copyable<accessor_span<value_accessor>, extents_span<int, int, 2, 2>>);

// Rows are padded to Pitch elements, as by a layout of C++26.
template <std::size_t Pitch>
struct layout_of_padded_rows {
  template <class Extents>
  struct mapping {
    using extents_type = Extents;
    using index_type = typename Extents::index_type;
    using size_type = typename Extents::size_type;
    using rank_type = typename Extents::rank_type;
    using layout_type = layout_of_padded_rows;

    Extents extents_of_rows;

    constexpr mapping() = default;
    constexpr mapping(Extents const& extents) : extents_of_rows(extents) {}
    constexpr Extents const& extents() const { return extents_of_rows; }
    constexpr index_type required_span_size() const {
      return static_cast<index_type>(Pitch * static_cast<std::size_t>(extents().extent(0)));
    }
    template <class I, class J>
    constexpr index_type operator()(I row, J column) const {
      return static_cast<index_type>(static_cast<index_type>(row) * stride(0) +
                                     static_cast<index_type>(column));
    }
    static constexpr bool is_always_unique() { return true; }
    static constexpr bool is_always_exhaustive() { return false; }
    static constexpr bool is_always_strided() { return true; }
    static constexpr bool is_unique() { return true; }
    static constexpr bool is_exhaustive() { return false; }
    static constexpr bool is_strided() { return true; }
    static constexpr index_type stride(rank_type axis) {
      return axis == 0 ? static_cast<index_type>(Pitch) : 1;
    }
    friend constexpr bool operator==(mapping const&, mapping const&) = default;
  };
};

// Stores pairs of rows one after the other: no strides describe it, and it has no member stride.
struct layout_of_row_pairs {
  template <class Extents>
  struct mapping {
    using extents_type = Extents;
    using index_type = typename Extents::index_type;
    using size_type = typename Extents::size_type;
    using rank_type = typename Extents::rank_type;
    using layout_type = layout_of_row_pairs;

    Extents extents_of_rows;

    constexpr mapping() = default;
    constexpr mapping(Extents const& extents) : extents_of_rows(extents) {}
    constexpr Extents const& extents() const { return extents_of_rows; }
    constexpr index_type required_span_size() const {
      return extents().extent(0) * extents().extent(1);
    }
    template <class I, class J>
    constexpr index_type operator()(I row, J column) const {
      return static_cast<index_type>(row / 2 * 2 * extents().extent(1) + column * 2 + row % 2);
    }
    static constexpr bool is_always_unique() { return true; }
    static constexpr bool is_always_exhaustive() { return true; }
    static constexpr bool is_always_strided() { return false; }
    static constexpr bool is_unique() { return true; }
    static constexpr bool is_exhaustive() { return true; }
    static constexpr bool is_strided() { return false; }
    friend constexpr bool operator==(mapping const&, mapping const&) = default;
  };
};
using row_pairs_span = library::mdspan<int, library::dextents<int, 2>, layout_of_row_pairs>;
static_assert(!copyable<row_pairs_span, span_of<int, 2>>);
static_assert(!copyable<span_of<int, 2>, row_pairs_span>);
static_assert(!fillable<row_pairs_span, int>);

TEST(CopyOfMdspans, CopiesBetweenLayoutsAndIndexTypes) {
  std::vector<int> numbers(12);
  std::iota(numbers.begin(), numbers.end(), 0);
  roc::device_array<int, 2> const array({3, 8});
  array.fill(-1);
  using padded =
      library::mdspan<int, library::extents<std::uint8_t, 3, 4>, layout_of_padded_rows<8>>;
  padded const device(array.data(), library::extents<std::uint8_t, 3, 4>());
  roc::copy(span_of<int, 2, library::layout_left>(numbers.data(), 3, 4), device);
  EXPECT_EQ(5, array(2, 1).get());
  EXPECT_EQ(-1, array(2, 4).get());  // padding
  std::vector<int> result(12);
  roc::copy(device, extents_span<int, int, any, any>(result.data(), 3, 4));
  EXPECT_EQ((std::vector<int>{0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11}), result);
}

TEST(CopyOfMdspans, ThrowsForDifferentExtents) {
  std::vector<int> numbers(12);
  std::vector<int> result(12, -1);
  span_of<int, 2, library::layout_right> const from(numbers.data(), 3, 4);
  using right = span_of<int, 2, library::layout_right>;
  EXPECT_THROW(roc::copy(from, right(result.data(), 4, 3)), roc::shape_error);
  EXPECT_THROW(roc::copy(from, right(result.data(), 2, 4)), roc::shape_error);
  EXPECT_THROW(roc::copy(from, extents_span<int, int, any, 3>(result.data(), 4)), roc::shape_error);
  roc::stream stream;
  EXPECT_THROW(roc::copy(from, right(result.data(), 4, 3), stream), roc::shape_error);
  EXPECT_EQ(std::vector<int>(12, -1), result);
}

TEST(CopyOfMdspans, ThrowsIfAnElementIsShared) {
  std::vector<int> numbers(12);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::vector<int> const expected = numbers;
  using right = span_of<int, 2, library::layout_right>;
  right const from(numbers.data(), 2, 4);
  EXPECT_THROW(roc::copy(from, right(numbers.data() + 4, 2, 4)), roc::overlap_error);
  EXPECT_THROW(roc::copy(from, from), roc::overlap_error);
  // The destination is not unique; a source need not be.
  using strided = span_of<int, 2>;
  library::dextents<std::size_t, 2> const extents(2, 2);
  using mapping = strided::mapping_type;
  strided const shared(numbers.data() + 8, mapping(extents, library::array<std::size_t, 2>{1, 1}));
  right const apart(numbers.data(), 2, 2);
  EXPECT_THROW(roc::copy(apart, shared), roc::layout_error);
  EXPECT_EQ(expected, numbers);
  roc::copy(shared, apart);
  EXPECT_EQ((std::vector<int>{8, 9, 9, 10}),
            std::vector<int>(numbers.begin(), numbers.begin() + 4));
}

TEST(CopyOfMdspans, CopiesBetweenInterleavedElements) {
  std::vector<int> numbers(12);
  std::iota(numbers.begin(), numbers.end(), 0);
  using strided = span_of<int, 2>;
  library::dextents<std::size_t, 2> const extents(3, 2);
  strided::mapping_type const even_columns(extents, library::array<std::size_t, 2>{4, 2});
  roc::copy(strided(numbers.data(), even_columns), strided(numbers.data() + 1, even_columns));
  EXPECT_EQ((std::vector<int>{0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10}), numbers);
}

TEST(CopyOfMdspans, IgnoresTheFunctionsOfAccessors) {
  std::vector<int> numbers{0, 1, 2, 3, 4};
  std::vector<int> result(4);
  accessor_span<next_element_accessor> const from(numbers.data(), library::extents<int, 2, 2>());
  roc::copy(from, extents_span<int, int, 2, 2>(result.data()));
  EXPECT_EQ((std::vector<int>{0, 1, 2, 3}), result);
}

TEST(CopyOfMdspans, CopiesNothingIfAnExtentIsZero) {
  std::vector<int> numbers(4, 1);
  using right = span_of<int, 2, library::layout_right>;
  roc::copy(right(numbers.data(), 0, 4), right(numbers.data(), 0, 4));
  roc::copy(right(nullptr, 0, 4), right(nullptr, 0, 4));
  EXPECT_THROW(roc::copy(right(nullptr, 0, 4), right(nullptr, 4, 0)), roc::shape_error);
  EXPECT_EQ(std::vector<int>(4, 1), numbers);
}

TEST(FillOfMdspans, FillsMemoryOfAnyKind) {
  std::vector<double> numbers(12);
  using left = span_of<double, 2, library::layout_left>;
  roc::fill(left(numbers.data(), 3, 2), 2);
  roc::fill(extents_span<double, int>(numbers.data() + 11), 3);
  EXPECT_EQ((std::vector<double>{2, 2, 2, 2, 2, 2, 0, 0, 0, 0, 0, 3}), numbers);
  roc::fill(left(numbers.data(), 3, 2), {});
  EXPECT_EQ(0.0, numbers[5]);
  roc::device_array<double, 2> const array({3, 4});
  roc::fill(span_of<double, 2, library::layout_right>(array.data(), 3, 4), 5);
  EXPECT_EQ(5.0, array(2, 3).get());
}

TEST(FillOfMdspans, AcceptsElementsThatShareMemory) {
  std::vector<int> numbers(6);
  library::dextents<std::size_t, 2> const extents(3, 3);
  span_of<int, 2>::mapping_type const mapping(extents, library::array<std::size_t, 2>{1, 1});
  roc::fill(span_of<int, 2>(numbers.data(), mapping), 4);
  EXPECT_EQ((std::vector<int>{4, 4, 4, 4, 4, 0}), numbers);
}

TEST(AsMdspan, ThrowsForUnsupportedStrides) {
  roc::device_array<int, 2> const array({4, 6});
  using right = span_of<int, 2, library::layout_right>;
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
  using fixed = library::mdspan<char, library::extents<std::size_t, 4, library::dynamic_extent>>;
  EXPECT_EQ(300u, roc::as_mdspan<fixed>(array).extent(1));
  using incompatible_mdspan =
      library::mdspan<char, library::extents<std::size_t, 5, library::dynamic_extent>>;
  EXPECT_THROW(static_cast<void>(roc::as_mdspan<incompatible_mdspan>(array)), roc::shape_error);
  using small = library::mdspan<char, library::dextents<std::int8_t, 2>, library::layout_stride>;
  EXPECT_THROW(static_cast<void>(roc::as_mdspan<small>(array)), roc::shape_error);
}

TEST(AsMdspan, AcceptsRankZeroAndEmptyArrays) {
  roc::device_array<int, 0> const scalar(roc::shape<0>{});
  EXPECT_EQ(scalar.data(), (roc::as_mdspan<span_of<int, 0>>(scalar).data_handle()));
  roc::device_array<int, 2> const none({0, 4});
  EXPECT_EQ(4u, (roc::as_mdspan<span_of<int, 2>>(none).extent(1)));
}

#if !ROCARRAY_TEST_CUDA_MDSPAN
TEST(AsMdspan, IsOfStandardLibraryWithoutType) {
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
