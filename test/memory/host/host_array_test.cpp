// SPDX-License-Identifier: MIT
// host_array: shape, access, lifetime, pinned memory.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "platform/call.hpp"
#include "support/gate.hpp"

namespace {

static_assert(!std::is_copy_constructible_v<roc::host_array<int>>);
static_assert(std::is_nothrow_move_constructible_v<roc::host_array<int>>);
static_assert(std::is_trivially_copyable_v<roc::host_view<int, 3>>);

TEST(HostArray, HasShapeAndOrder) {
  roc::host_array<int, 2> const c({2, 3});
  EXPECT_EQ((roc::strides<2>{3, 1}), c.strides());
  EXPECT_TRUE(c.is_c_contiguous());
  roc::host_array<int, 2> const f({2, 3}, roc::order::f);
  EXPECT_EQ((roc::strides<2>{1, 2}), f.strides());
  EXPECT_TRUE(f.is_f_contiguous());
  EXPECT_EQ(6u, f.size());
  EXPECT_EQ(24u, f.size_bytes());
}

TEST(HostArray, IndexReturnsElements) {
  roc::host_array<int, 2> array({2, 3});
  std::iota(array.begin(), array.end(), 0);
  EXPECT_EQ(5, array(1, 2));
  EXPECT_EQ(5, array(-1, -1));
  array(0, 1) = 40;
  EXPECT_EQ(40, array.data()[1]);
  EXPECT_THROW(array(2, 0), roc::shape_error);
  EXPECT_THROW(array(0, -4), roc::shape_error);
}

TEST(HostArray, IndexWithSlicesReturnsAView) {
  roc::host_array<int, 2> array({4, 5});
  std::iota(array.begin(), array.end(), 0);
  auto const region = array(roc::slice(1, 4, 2), roc::slice(roc::none, roc::none, -2));
  EXPECT_EQ((roc::shape<2>{2, 3}), region.shape());
  EXPECT_EQ(9, region(0, 0));
  EXPECT_EQ(15, region(1, 2));
}

TEST(HostArray, IsNullIfEmpty) {
  roc::host_array<int, 2> array({0, 3});
  EXPECT_EQ(nullptr, array.data());
  EXPECT_EQ(array.begin(), array.end());
}

TEST(HostArray, ThrowsShapeErrorIfTheSizeOverflows) {
  EXPECT_THROW((roc::host_array<double, 2>({std::size_t{1} << 40, std::size_t{1} << 40})),
               roc::shape_error);
}

TEST(HostArray, ThrowsLifetimeErrorAfterMove) {
  roc::host_array<int> first({4});
  auto const second = std::move(first);
  EXPECT_THROW(first.data(), roc::lifetime_error);
  EXPECT_THROW(first.view(), roc::lifetime_error);
  EXPECT_EQ(0u, roc::host_array<int>().size());
  EXPECT_EQ(4u, second.size());
}

TEST(PinnedArray, IsCopiedByDma) {
  auto pinned = roc::pinned_array<float>(256);
  auto const device = roc::device_array_like(pinned);
  EXPECT_EQ(roc::copy_path::dma, roc::planned_path(pinned, device));
  unsigned flags = 0;
  ROCARRAY_HIP(hipHostGetFlags, &flags, pinned.data());
  EXPECT_NE(0u, flags & hipHostMallocPortable);
}

TEST(PinnedArray, ThrowsOutOfMemoryIfHipFails) {
  roc::trim_pinned_cache();  // otherwise cached memory would be used
  ASSERT_TRUE(roc::platform::fail_call("hipHostMalloc", 1, hipErrorOutOfMemory));
  EXPECT_THROW(static_cast<void>(roc::pinned_array<float>(256)), roc::out_of_memory);
}

// The stream is idle afterwards because the destructor has waited. A copy that writes freed memory
// would be found by the sanitizers.
TEST(HostArrayDestructor, BlocksUntilPendingCopiesHaveFinished) {
  for (auto kind : {roc::host_memory::pageable, roc::host_memory::pinned}) {
    auto const array = roc::to_device(std::vector<int>(1000));
    roc::stream const stream;
    {
      roc::host_array<int> into({1000}, roc::order::c, kind);
      array.copy_to_host(into, stream);
    }
    EXPECT_TRUE(stream.query());
  }
}

}  // namespace
