// SPDX-License-Identifier: MIT
// Pinned, mapped, write-combined, portable, coherent host arrays, and what the device sees of them.
#include <roc/native.hpp>
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels/for_each_kernels.hpp"
#include "platform/call.hpp"
#include "support/environment.hpp"
#include "support/gate.hpp"

namespace {

using roc::host_flags;

template <class A>
void count_up(A& array) {
  std::iota(array.begin(), array.end(), 0);
}

// Whether hipHostGetFlags tells these flags of memory that was allocated with them.
bool told_by_the_runtime(host_flags flags) {
  unsigned asked = 0;
  if (has(flags, host_flags::portable)) asked |= hipHostMallocPortable;
  if (has(flags, host_flags::mapped)) asked |= hipHostMallocMapped;
  if (has(flags, host_flags::write_combined)) asked |= hipHostMallocWriteCombined;
  void* memory = nullptr;
  ROCARRAY_HIP(hipHostMalloc, &memory, 64, asked);
  unsigned told = 0;
  ROCARRAY_HIP(hipHostGetFlags, &told, memory);
  ROCARRAY_HIP(hipHostFree, memory);
  return (told & asked) == asked;
}

TEST(PinnedArray, FlagsArriveAndAreAskedBack) {
  for (auto flags : {host_flags::portable, host_flags::mapped, host_flags::write_combined,
                     host_flags::portable | host_flags::write_combined,
                     host_flags::portable | host_flags::mapped | host_flags::write_combined}) {
    auto const array = roc::pinned_array<float>(roc::shape<2>{8, 100}, flags);
    EXPECT_EQ(roc::host_memory::pinned, array.kind());
    // A driver may not tell of all that it was asked for: as much as of memory of its own.
    EXPECT_EQ(told_by_the_runtime(flags), has(array.flags(), flags)) << static_cast<unsigned>(flags);
    unsigned native = 0;
    ROCARRAY_HIP(hipHostGetFlags, &native, const_cast<float*>(array.data()));
    EXPECT_EQ(has(flags, host_flags::write_combined), (native & hipHostMallocWriteCombined) != 0);
  }
  EXPECT_TRUE(has(roc::pinned_array<float>(10).flags(), host_flags::portable));
}

TEST(PinnedArray, CoherenceArrivesWhereHipHasIt) {
  if (unsigned{hipHostMallocCoherent} == 0) GTEST_SKIP() << "coherence is not chosen on NVIDIA";
  EXPECT_TRUE(has(roc::pinned_array<int>(100, host_flags::coherent).flags(), host_flags::coherent));
  EXPECT_TRUE(
      has(roc::pinned_array<int>(100, host_flags::non_coherent).flags(), host_flags::non_coherent));
}

TEST(PinnedArray, ContraryFlagsAreAnError) {
  try {
    static_cast<void>(
        roc::pinned_array<int>(100, host_flags::coherent | host_flags::non_coherent));
    FAIL();
  } catch (roc::error const& error) {
    EXPECT_EQ(std::errc::invalid_argument, error.code());
  }
}

TEST(PinnedArray, OtherKindsHaveNoFlags) {
  EXPECT_EQ(host_flags::default_flags, roc::host_array<int>({10}).flags());
  EXPECT_EQ(host_flags::default_flags, roc::pinned_array<int>(0).flags());
  roc::host_array<int> gone({10});
  auto const taken = std::move(gone);
  EXPECT_THROW(static_cast<void>(gone.flags()), roc::lifetime_error);
}

TEST(PinnedArray, OrderAndPaddingAreKept) {
  auto const f = roc::pinned_array<int>(roc::shape<2>{3, 4}, host_flags::portable, roc::order::f);
  EXPECT_TRUE(f.is_f_contiguous());
  auto const mapped =
      roc::mapped_array<int>(roc::shape<2>{3, 4}, host_flags::portable, roc::order::f);
  EXPECT_TRUE(mapped.is_f_contiguous());
}

TEST(PinnedArray, SizesThatCannotBeAreErrors) {
  constexpr std::size_t tera = std::size_t{1} << 40;
  EXPECT_THROW(static_cast<void>(roc::pinned_array<char>(tera)), roc::out_of_memory);
  EXPECT_THROW(static_cast<void>(roc::mapped_array<char>(tera)), roc::out_of_memory);
  EXPECT_EQ(nullptr, roc::pinned_array<char>(0).data());
}

TEST(MappedArray, DeviceCopiesReachItWhereItLies) {
  auto array = roc::mapped_array<int>(roc::shape<2>{30, 40});
  EXPECT_EQ(roc::host_memory::mapped, array.kind());
  EXPECT_TRUE(has(array.flags(), host_flags::mapped));
  count_up(array);
  auto const view = array.device_view();
  EXPECT_EQ(array.shape(), view.shape());
  roc::device_array<int, 2> const device({30, 40});
  device.copy_to_device(view);  // device to device
  std::vector<int> back(1200);
  device.copy_to_host(back);
  EXPECT_TRUE(std::equal(back.begin(), back.end(), array.begin()));
  view.fill(7);
  EXPECT_EQ(7, array(29, 39));
  view.copy_to_device(back);
  EXPECT_EQ(1199, array(29, 39));
  std::vector<int> again(1200);
  view.copy_to_host(again);
  EXPECT_EQ(back, again);
}

TEST(MappedArray, KernelsUseIt) {
  auto array = roc::mapped_array<int>(roc::shape<2>{30, 40});
  roc::stream const stream;
  roc::test::number(stream, array.device_view());
  stream.synchronize();
  EXPECT_EQ(2939, array(29, 39));
}

TEST(MappedArray, RegionsAreSeenToo) {
  auto array = roc::mapped_array<int>(std::size_t{100});
  count_up(array);
  auto const reversed = array(roc::slice(90, roc::none, -10));
  auto const view = roc::device_view_of(reversed);
  std::vector<int> back(10);
  view.copy_to_host(back);
  EXPECT_EQ((std::vector<int>{90, 80, 70, 60, 50, 40, 30, 20, 10, 0}), back);
  auto const& constant = array;
  static_assert(std::is_same_v<roc::device_view<int const>, decltype(constant.device_view())>);
  auto none = roc::mapped_array<int>(std::size_t{0});
  EXPECT_EQ(nullptr, none.device_view().data());
}

TEST(MappedArray, OtherMemoryHasNoDeviceView) {
  roc::host_array<int> pageable({10});
  auto pinned = roc::pinned_array<int>(10);
  EXPECT_THROW(static_cast<void>(pageable.device_view()), roc::registration_error);
  EXPECT_THROW(static_cast<void>(pinned.device_view()), roc::registration_error);
  std::vector<int> numbers(10);
  EXPECT_THROW(static_cast<void>(roc::device_view_of(numbers)), roc::registration_error);
}

TEST(MappedArray, ItsEndWaitsForCopiesThroughItsDeviceView) {
  roc::device_array<int> const device({1000});
  roc::stream const stream;
  {
    auto array = roc::mapped_array<int>(std::size_t{1000});
    array.device_view().copy_to_device(device, stream);
  }
  EXPECT_TRUE(stream.query());
}

// What the cache does is seen in its figures.
class PinnedCache : public testing::Test {
 protected:
  void SetUp() override {
    roc::trim_pinned_cache();
    if (roc::pinned_cache().limit == 0) GTEST_SKIP() << "ROCARRAY_PINNED_CACHE=0";
    before_ = roc::pinned_cache();
  }
  void TearDown() override { roc::trim_pinned_cache(); }
  std::size_t reused() const { return roc::pinned_cache().reused - before_.reused; }
  std::size_t pinned() const { return roc::pinned_cache().pinned - before_.pinned; }

  roc::pinned_cache_information before_{};
};

TEST_F(PinnedCache, MemoryIsUsedAgain) {
  void const* first = nullptr;
  {
    auto const array = roc::pinned_array<char>(100'000);
    first = array.data();
  }
  EXPECT_EQ(1u, roc::pinned_cache().blocks);
  EXPECT_GE(roc::pinned_cache().bytes, 100'000u);
  auto const next = roc::pinned_array<char>(99'000);  // nearly the same will do
  EXPECT_EQ(first, next.data());
  EXPECT_EQ(1u, reused());
  EXPECT_EQ(1u, pinned());
  EXPECT_EQ(0u, roc::pinned_cache().bytes);
}

TEST_F(PinnedCache, OtherFlagsAndSizesAreNotServed) {
  static_cast<void>(roc::pinned_array<char>(100'000));
  auto const combined = roc::pinned_array<char>(100'000, host_flags::write_combined);
  EXPECT_TRUE(has(combined.flags(), host_flags::write_combined));
  auto const small = roc::pinned_array<char>(10'000);
  auto const large = roc::pinned_array<char>(200'000);
  EXPECT_EQ(0u, reused());
}

TEST_F(PinnedCache, MappedMemoryIsNotKept) {
  static_cast<void>(roc::mapped_array<char>(100'000));
  static_cast<void>(roc::pinned_array<char>(100'000, host_flags::mapped));
  EXPECT_EQ(0u, roc::pinned_cache().blocks);
}

TEST_F(PinnedCache, TheLimitHolds) {
  std::size_t const half = roc::pinned_cache().limit / 2 + 1;
  {
    auto const a = roc::pinned_array<char>(half);
    auto const b = roc::pinned_array<char>(half);
  }
  EXPECT_EQ(1u, roc::pinned_cache().blocks);
  EXPECT_LE(roc::pinned_cache().bytes, roc::pinned_cache().limit);
  static_cast<void>(roc::pinned_array<char>(roc::pinned_cache().limit + 1));
  EXPECT_EQ(1u, roc::pinned_cache().blocks);
}

TEST_F(PinnedCache, GivesWayWhenMemoryRunsOut) {
  static_cast<void>(roc::pinned_array<char>(100'000));
  ASSERT_TRUE(roc::platform::fail_call("hipHostMalloc", 1, hipErrorOutOfMemory));
  EXPECT_NO_THROW(static_cast<void>(roc::pinned_array<char>(1'000'000)));
  ASSERT_TRUE(roc::platform::fail_call("hipHostMalloc", 1, hipErrorOutOfMemory));
  roc::trim_pinned_cache();
  EXPECT_THROW(static_cast<void>(roc::pinned_array<char>(1'000'000)), roc::out_of_memory);
}

// The mapping's staging memory goes back while its copy is held up.
TEST_F(PinnedCache, ABlockInUseIsNotGivenOut) {
  if (!roc::test::gate::holds()) GTEST_SKIP() << "nothing can be held up in mode inline";
  roc::device_array<char> const device({100'000});
  roc::stream const stream;
  auto mapping = roc::map(device, roc::access::write, stream);
  auto const* const staging = mapping.data();
  std::fill(mapping.view().data(), mapping.view().data() + 100'000, 'x');
  roc::test::gate gate;
  gate.close(stream);
  mapping.unmap();
  EXPECT_EQ(1u, roc::pinned_cache().blocks);
  auto other = roc::pinned_array<char>(100'000);
  EXPECT_NE(staging, other.data());
  std::fill(other.begin(), other.end(), 'y');
  gate.open();
  stream.synchronize();
  EXPECT_EQ(std::vector<char>(100'000, 'x'), [&] {
    std::vector<char> back(100'000);
    device.copy_to_host(back);
    return back;
  }());
  auto const later = roc::pinned_array<char>(100'000);
  EXPECT_EQ(staging, later.data());
}

}  // namespace
