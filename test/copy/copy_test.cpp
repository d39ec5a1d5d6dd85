// SPDX-License-Identifier: MIT
// The arguments of copies: ranges, C arrays, all ranks, sizes from one byte to many chunks of
// staging memory.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <vector>

#include "support/environment.hpp"

namespace {

template <class T>
std::vector<T> numbers(std::size_t n) {
  std::vector<T> result(n);
  for (std::size_t i = 0; i < n; ++i) result[i] = static_cast<T>(i * 2654435761u);
  return result;
}

TEST(Copy, RoundTripOfEverySizeKeepsTheBytes) {
  for (std::size_t n : {1ul, 2ul, 3ul, 255ul, 4096ul, 65'537ul, 3'000'001ul}) {
    auto const host = numbers<unsigned char>(roc::test::scaled(n));
    auto const array = roc::to_device(host);
    std::vector<unsigned char> back(host.size());
    array.copy_to_host(back);
    ASSERT_EQ(host, back) << n;
  }
}

TEST(Copy, RoundTripOfEverySizeOnStreamKeepsTheBytes) {
  roc::stream const stream;
  for (std::size_t n : {1ul, 255ul, 65'537ul, 5'000'001ul}) {
    auto const host = numbers<unsigned char>(roc::test::scaled(n));
    auto const array = roc::to_device(host, stream);
    std::vector<unsigned char> back(host.size());
    array.copy_to_host(back, stream);
    stream.synchronize();
    ASSERT_EQ(host, back) << n;
  }
}

TEST(Copy, PinnedRoundTripKeepsTheElements) {
  auto const n = roc::test::scaled(1'000'000);
  auto from = roc::pinned_array<int>(n);
  auto to = roc::pinned_array<int>(n);
  std::iota(from.begin(), from.end(), 17);
  auto const array = roc::to_device(from);
  array.copy_to_host(to);
  EXPECT_TRUE(std::equal(from.begin(), from.end(), to.begin()));
}

TEST(Copy, AllKindsOfContiguousRangesAreAccepted) {
  std::array<int, 6> const source = {1, 2, 3, 4, 5, 6};
  int plain[6] = {};
  std::vector<int> vector(6);
  auto const array = roc::to_device(source);
  array.copy_to_host(plain);
  array.copy_to_host(vector);
  EXPECT_TRUE(std::equal(source.begin(), source.end(), plain));
  EXPECT_TRUE(std::equal(source.begin(), source.end(), vector.begin()));
  std::vector<int> half(3);
  array(roc::slice(3, 6)).copy_to_host(std::span<int>(half));
  EXPECT_EQ((std::vector<int>{4, 5, 6}), half);
}

TEST(Copy, CArrayKeepsItsRank) {
  int table[2][3] = {{1, 2, 3}, {4, 5, 6}};
  auto const array = roc::to_device(table);
  static_assert(decltype(array.view())::rank == 2);
  EXPECT_EQ((roc::shape<2>{2, 3}), array.shape());
  int transposed[3][2] = {};
  array.transpose().copy_to_host(transposed);
  EXPECT_EQ(2, transposed[1][0]);
  EXPECT_EQ(6, transposed[2][1]);
}

TEST(Copy, FlatRangeRepresentsAnyShapeInCOrder) {
  std::vector<int> flat(6);
  std::iota(flat.begin(), flat.end(), 0);
  roc::device_array<int, 2> c({2, 3});
  roc::device_array<int, 2> f({2, 3}, roc::order::f);
  c.copy_to_device(flat);
  f.copy_to_device(flat);
  auto const from_c = c.copy_to_host();
  auto const from_f = f.copy_to_host();
  EXPECT_TRUE(from_f.is_f_contiguous());
  for (int i = 0; i < 2; ++i) {
    for (int k = 0; k < 3; ++k) {
      EXPECT_EQ(i * 3 + k, from_c(i, k));
      EXPECT_EQ(i * 3 + k, from_f(i, k));
    }
  }
  std::vector<int> back(6);
  f.copy_to_host(back);
  EXPECT_EQ(flat, back);
}

TEST(Copy, RankZeroArrayIsCopied) {
  int const value = 42;
  roc::device_array<int, 0> array(roc::shape<0>{});
  array.copy_to_device(roc::host_view<int const, 0>(&value, {}));
  EXPECT_EQ(42, array.copy_to_host()());
  auto const row = roc::to_device(std::vector<int>{1, 2, 3});
  EXPECT_EQ(3, row(-1).copy_to_host()());
}

TEST(Copy, ZeroSizeArrayCopiesNothing) {
  std::vector<float> none;
  auto const array = roc::to_device(none);
  EXPECT_EQ(nullptr, array.data());
  EXPECT_NO_THROW(array.copy_to_host(none));
  EXPECT_EQ(0u, array.copy_to_host().size());
  roc::device_array<float, 3> const flat({4, 0, 2});
  EXPECT_EQ(nullptr, flat.data());
  EXPECT_EQ(0u, flat.copy_to_host().size());
}

TEST(Copy, RegionsOfEitherSideAreCopied) {
  roc::host_array<int, 3> host({4, 5, 6});
  std::iota(host.begin(), host.end(), 0);
  auto const array = roc::to_device(host);
  int tile[2][2] = {};
  array(roc::slice(0, roc::none, 2), 1, roc::slice(-1, 1, -3)).copy_to_host(tile);
  EXPECT_EQ(host(0, 1, 5), tile[0][0]);
  EXPECT_EQ(host(0, 1, 2), tile[0][1]);
  EXPECT_EQ(host(2, 1, 5), tile[1][0]);
  array(3, roc::all, 0).copy_to_device(std::vector<int>{-1, -2, -3, -4, -5});
  auto const back = array.copy_to_host();
  EXPECT_EQ(-3, back(3, 2, 0));
  EXPECT_EQ(host(3, 2, 1), back(3, 2, 1));
}

TEST(Copy, VectorArgumentsWithStreamCompile) {
  // Element types and temporaries are checked at compile time, shapes at run time.
  using array = roc::device_array<float>;
  static_assert(requires(array& a, std::vector<float>& v, roc::stream& s) {
    a.copy_to_host(v, s);
    a.copy_to_device(v, s);
    roc::to_device(v, s);
  });
}

template <class A, class H>
concept takes_temporary = requires(A& a, roc::stream& s) { a.copy_to_host(H(), s); } ||
                          requires(A& a, roc::stream& s) { a.copy_to_device(H(), s); } ||
                          requires(roc::stream& s) { roc::to_device(H(), s); };
template <class A, class H>
concept takes_temporary_now = requires(A& a) { a.copy_to_device(H()); };

static_assert(!takes_temporary<roc::device_array<float>, std::vector<float>>);
static_assert(!takes_temporary<roc::device_array<float>, roc::host_array<float>>);
static_assert(!takes_temporary<roc::device_array<float>, std::array<float, 4>>);
static_assert(takes_temporary<roc::device_array<float>, std::span<float>>);
static_assert(takes_temporary<roc::device_array<float>, roc::host_view<float>>);
static_assert(takes_temporary<roc::device_array<float>, roc::device_view<float>>);
static_assert(!takes_temporary<roc::device_array<float>, roc::device_array<float>>);
static_assert(takes_temporary_now<roc::device_array<float>, std::vector<float>>);

// Views of temporaries that own memory, and host views of device memory, do not compile.
static_assert(!std::is_constructible_v<roc::host_view<float>, std::vector<float>>);
static_assert(std::is_constructible_v<roc::host_view<float>, std::vector<float>&>);
static_assert(std::is_constructible_v<roc::host_view<float>, std::span<float>>);
static_assert(!std::is_constructible_v<roc::host_view<float>, roc::device_array<float>&>);
static_assert(!std::is_constructible_v<roc::host_view<float>, roc::device_view<float>>);
static_assert(!std::is_convertible_v<roc::device_array<float>, roc::device_view<float>>);
template <class A>
concept views_temporary_host = requires { A().view(); };
static_assert(!views_temporary_host<roc::host_array<float>>);
template <class S>
concept guards_temporary = requires { S().auto_synchronize(); };
static_assert(!guards_temporary<roc::stream>);
static_assert(guards_temporary<roc::stream_ref>);

TEST(Copy, FlatDeviceArrayOfAnotherShapeThrowsShapeError) {
  roc::device_array<int> const flat({6});
  roc::device_array<int, 2> const table({2, 3});
  EXPECT_THROW(roc::copy(flat, table), roc::shape_error);
}

}  // namespace
