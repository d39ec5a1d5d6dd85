// SPDX-License-Identifier: MIT
// Ownership, moves, reshapes and copies of device arrays.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "platform/call.hpp"
#include "support/environment.hpp"

namespace {

using array2 = roc::device_array<int, 2>;

static_assert(!std::is_copy_constructible_v<array2>);
static_assert(std::is_nothrow_move_constructible_v<array2>);
static_assert(std::is_nothrow_move_assignable_v<array2>);

// A view of a temporary array does not compile.
template <class A>
concept views_temporary = requires {
  A({2, 3}).view();
} || requires {
  A({2, 3}).padded_view();
} || requires {
  A({2, 3}).split(1);
} || requires { std::declval<A const>().view(); } || requires {
  std::declval<A const>()(0, 0);
} || requires(A const a) { a.bind(roc::stream()); } || requires {
  A({2, 3}).bind(roc::stream_ref());
};
static_assert(!views_temporary<array2>);
// An asynchronous copy of a temporary array does not compile.
template <class A>
concept copies_temporary = requires(std::vector<int> v, roc::stream s) {
  A({2, 3}).copy_to_host(v, s);
} || requires(std::vector<int> v, roc::stream s) {
  A({2, 3}).copy_to_device(v, s);
} || requires(roc::stream s) {
  A({2, 3}).copy_to_host(s);
} || requires(std::vector<int> v, roc::stream s) {
  roc::to_device(v, A({2, 3}), s);
};
static_assert(!copies_temporary<array2>);

template <class A, class... E>
concept indexable = requires(A const& a, E... e) { a(e...); };
static_assert(indexable<array2, int, int>);
static_assert(indexable<array2, roc::slice, roc::all_t>);
static_assert(indexable<array2, roc::ellipsis_t>);
static_assert(!indexable<array2, int>);
static_assert(!indexable<array2, int, int, int>);
static_assert(!indexable<array2, double, int>);
static_assert(!indexable<array2, roc::ellipsis_t, roc::ellipsis_t>);

TEST(DeviceArrayMove, LeavesTheSourceWithoutMemory) {
  array2 first({2, 3});
  int* const data = first.data();
  array2 second = std::move(first);
  EXPECT_EQ(data, second.data());
  EXPECT_THROW(first.data(), roc::lifetime_error);
  EXPECT_THROW(static_cast<void>(first.shape()), roc::lifetime_error);
  EXPECT_THROW(first.view(), roc::lifetime_error);
  EXPECT_THROW(first(0, 0), roc::lifetime_error);
  EXPECT_THROW(static_cast<void>(first.copy_to_host()), roc::lifetime_error);
  EXPECT_THROW(static_cast<void>(roc::device_array_like(first)), roc::lifetime_error);
  EXPECT_THROW(first.fill(1), roc::lifetime_error);
  EXPECT_THROW(static_cast<void>(first.is_c_contiguous()), roc::lifetime_error);
  EXPECT_EQ(0u, first.size());
  EXPECT_EQ(0u, first.size_bytes());
  first = std::move(second);
  EXPECT_EQ(data, first.data());
}

TEST(DeviceArrayDefaultConstructor, OwnsNothing) {
  roc::device_array<float> array;
  EXPECT_EQ(0u, array.size());
  EXPECT_EQ(0u, array.size_bytes());
  EXPECT_EQ(0u, (roc::device_array<float, 0>().size()));
  EXPECT_THROW(array.data(), roc::lifetime_error);
  array = roc::device_array<float>({3});
  EXPECT_EQ(3u, array.size());
}

TEST(DeviceArrayReshape, MovesOwnershipOfAnRvalue) {
  std::vector<int> const host = {0, 1, 2, 3, 4, 5};
  auto array = roc::to_device(host);
  int* const data = array.data();
  auto table = std::move(array).reshape(2, -1);
  static_assert(std::is_same_v<decltype(table), array2>);
  EXPECT_EQ(data, table.data());
  EXPECT_THROW(array.data(), roc::lifetime_error);
  auto turned = std::move(table).transpose();
  EXPECT_EQ((roc::shape<2>{3, 2}), turned.shape());
  auto const back = turned.copy_to_host();
  EXPECT_EQ(4, back(1, 1));
  auto flat = std::move(turned).ravel(roc::order::f);
  EXPECT_EQ(6u, flat.size());
}

TEST(DeviceArrayReshape, BorrowsFromAnLvalue) {
  array2 const array({4, 6});
  auto const view = array.reshape(3, 8);
  static_assert(std::is_same_v<decltype(view), roc::device_view<int, 2> const>);
  EXPECT_EQ(array.data(), view.data());
  EXPECT_THROW(array.reshape(5, 5), roc::shape_error);
  EXPECT_THROW(array.reshape(-1, -1), roc::shape_error);
  EXPECT_THROW(array.reshape(-1, 7), roc::shape_error);
}

TEST(DeviceArrayReshape, KeepsTheArrayIfItFails) {
  array2 array({4, 6}, roc::order::f);
  EXPECT_THROW(std::move(array).reshape(24), roc::layout_error);
  EXPECT_NE(nullptr, array.data());
}

// The elements keep their logical order, which differs from the order in memory.
TEST(DeviceArrayReshape, ThrowsLayoutErrorFromFOrderToCOrder) {
  array2 const f({2, 3}, roc::order::f);
  EXPECT_THROW(f.reshape(3, 2), roc::layout_error);
  EXPECT_THROW(f.ravel(), roc::layout_error);
  EXPECT_NO_THROW(f.reshape(roc::shape<2>{3, 2}, roc::order::f));
  EXPECT_NO_THROW(f.ravel(roc::order::f));
}

TEST(DeviceArrayTranspose, AcceptsPermutationsOnly) {
  roc::device_array<int, 3> const array({2, 3, 4});
  EXPECT_EQ((roc::shape<3>{4, 3, 2}), array.transpose().shape());
  EXPECT_EQ((roc::shape<3>{3, 4, 2}), array.transpose({1, 2, 0}).shape());
  EXPECT_THROW(array.transpose({0, 0, 1}), roc::layout_error);
  EXPECT_THROW(array.transpose({0, 1, 3}), roc::layout_error);
}

TEST(DeviceArray, AllocationErrorNamesTheHipCall) {
  roc::hip_memory_resource direct;
  ASSERT_TRUE(roc::platform::fail_call("hipMalloc", 1, hipErrorOutOfMemory));
  try {
    array2 const array({10, 10}, direct);
    FAIL();
  } catch (roc::out_of_memory const& error) {
    EXPECT_STREQ("hipMalloc", error.call());
  }
}

TEST(ToDevice, CopiesIntoAnExistingArray) {
  std::vector<int> const host = {1, 2, 3, 4};
  roc::device_array<int> array({4});
  roc::to_device(host, array);
  EXPECT_EQ(4, array.copy_to_host()(3));
  roc::stream const stream;
  std::vector<int> const half = {8, 9};
  roc::to_device(half, array(roc::slice(1, 3)), stream);
  stream.synchronize();
  auto const back = array.copy_to_host();
  EXPECT_EQ(1, back(0));
  EXPECT_EQ(8, back(1));
  EXPECT_EQ(9, back(2));
}

TEST(DeviceArrayCopyToHost, IsCompleteAfterSynchronizationOfItsStream) {
  std::vector<int> const host = {1, 2, 3, 4};
  roc::stream const stream;
  auto const array = roc::to_device(host, stream);
  auto const back = array.copy_to_host(stream);
  stream.synchronize();
  EXPECT_TRUE(std::equal(host.begin(), host.end(), back.begin()));
}

}  // namespace
