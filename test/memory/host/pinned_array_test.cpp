// SPDX-License-Identifier: MIT
// Pinned and mapped host arrays, their flags and device views, and the cache of pinned memory.
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

// Returns true if hipHostGetFlags reports these flags of memory that was allocated with them.
bool are_reported_by_hip(host_flags flags) {
  unsigned requested = 0;
  if (has(flags, host_flags::portable)) requested |= hipHostMallocPortable;
  if (has(flags, host_flags::mapped)) requested |= hipHostMallocMapped;
  if (has(flags, host_flags::write_combined)) requested |= hipHostMallocWriteCombined;
  void* memory = nullptr;
  ROCARRAY_HIP(hipHostMalloc, &memory, 64, requested);
  unsigned reported = 0;
  ROCARRAY_HIP(hipHostGetFlags, &reported, memory);
  ROCARRAY_HIP(hipHostFree, memory);
  return (reported & requested) == requested;
}

TEST(PinnedArray, HasTheRequestedFlags) {
  for (auto flags : {host_flags::portable, host_flags::mapped, host_flags::write_combined,
                     host_flags::portable | host_flags::write_combined,
                     host_flags::portable | host_flags::mapped | host_flags::write_combined}) {
    auto const array = roc::pinned_array<float>(roc::shape<2>{8, 100}, flags);
    EXPECT_EQ(roc::host_memory::pinned, array.kind());
    // A driver may not report all flags that were requested.
    EXPECT_EQ(are_reported_by_hip(flags), has(array.flags(), flags))
        << static_cast<unsigned>(flags);
    unsigned native = 0;
    ROCARRAY_HIP(hipHostGetFlags, &native, const_cast<float*>(array.data()));
    EXPECT_EQ(has(flags, host_flags::write_combined), (native & hipHostMallocWriteCombined) != 0);
  }
  EXPECT_TRUE(has(roc::pinned_array<float>(10).flags(), host_flags::portable));
}

TEST(PinnedArray, HasTheRequestedCoherence) {
  if (unsigned{hipHostMallocCoherent} == 0) GTEST_SKIP() << "coherence cannot be chosen on NVIDIA";
  EXPECT_TRUE(has(roc::pinned_array<int>(100, host_flags::coherent).flags(), host_flags::coherent));
  EXPECT_TRUE(
      has(roc::pinned_array<int>(100, host_flags::non_coherent).flags(), host_flags::non_coherent));
}

TEST(PinnedArray, ThrowsForContradictoryFlags) {
  try {
    static_cast<void>(roc::pinned_array<int>(100, host_flags::coherent | host_flags::non_coherent));
    FAIL();
  } catch (roc::error const& error) {
    EXPECT_EQ(std::errc::invalid_argument, error.code());
  }
}

TEST(HostArray, FlagsAreDefaultForOtherKinds) {
  EXPECT_EQ(host_flags::default_flags, roc::host_array<int>({10}).flags());
  EXPECT_EQ(host_flags::default_flags, roc::pinned_array<int>(0).flags());
  roc::host_array<int> moved_from({10});
  auto const array = std::move(moved_from);
  EXPECT_THROW(static_cast<void>(moved_from.flags()), roc::lifetime_error);
}

TEST(PinnedArray, KeepsTheOrder) {
  auto const f = roc::pinned_array<int>(roc::shape<2>{3, 4}, host_flags::portable, roc::order::f);
  EXPECT_TRUE(f.is_f_contiguous());
  auto const mapped =
      roc::mapped_array<int>(roc::shape<2>{3, 4}, host_flags::portable, roc::order::f);
  EXPECT_TRUE(mapped.is_f_contiguous());
}

TEST(PinnedArray, ThrowsOutOfMemoryForHugeSizes) {
  constexpr std::size_t tera = std::size_t{1} << 40;
  EXPECT_THROW(static_cast<void>(roc::pinned_array<char>(tera)), roc::out_of_memory);
  EXPECT_THROW(static_cast<void>(roc::mapped_array<char>(tera)), roc::out_of_memory);
  EXPECT_EQ(nullptr, roc::pinned_array<char>(0).data());
}

TEST(MappedArray, DeviceViewIsCopiedAsDeviceMemory) {
  auto array = roc::mapped_array<int>(roc::shape<2>{30, 40});
  EXPECT_EQ(roc::host_memory::mapped, array.kind());
  EXPECT_TRUE(has(array.flags(), host_flags::mapped));
  count_up(array);
  auto const view = array.device_view();
  EXPECT_EQ(array.shape(), view.shape());
  roc::device_array<int, 2> const device({30, 40});
  device.copy_to_device(view);  // a copy from device to device
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

TEST(MappedArray, IsAccessibleFromKernels) {
  auto array = roc::mapped_array<int>(roc::shape<2>{30, 40});
  roc::stream const stream;
  roc::test::number(stream, array.device_view());
  stream.synchronize();
  EXPECT_EQ(2939, array(29, 39));
}

TEST(MappedArray, RegionsHaveDeviceViews) {
  auto array = roc::mapped_array<int>(std::size_t{100});
  count_up(array);
  auto const reversed = array(roc::slice(90, roc::none, -10));
  auto const view = roc::device_view_of(reversed);
  std::vector<int> back(10);
  view.copy_to_host(back);
  EXPECT_EQ((std::vector<int>{90, 80, 70, 60, 50, 40, 30, 20, 10, 0}), back);
  auto const& constant = array;
  static_assert(std::is_same_v<roc::device_view<int const>, decltype(constant.device_view())>);
  auto empty = roc::mapped_array<int>(std::size_t{0});
  EXPECT_EQ(nullptr, empty.device_view().data());
}

TEST(DeviceViewOf, ThrowsForMemoryThatIsNotMapped) {
  roc::host_array<int> pageable({10});
  auto pinned = roc::pinned_array<int>(10);
  EXPECT_THROW(static_cast<void>(pageable.device_view()), roc::registration_error);
  EXPECT_THROW(static_cast<void>(pinned.device_view()), roc::registration_error);
  std::vector<int> numbers(10);
  EXPECT_THROW(static_cast<void>(roc::device_view_of(numbers)), roc::registration_error);
}

TEST(MappedArrayDestructor, BlocksUntilCopiesOfItsDeviceViewHaveFinished) {
  auto const device = roc::to_device(std::vector<int>(1000));
  roc::stream const stream;
  {
    auto array = roc::mapped_array<int>(std::size_t{1000});
    array.device_view().copy_to_device(device, stream);
  }
  EXPECT_TRUE(stream.query());
}

// Observes the cache through its counters.
class PinnedCache : public testing::Test {
 protected:
  void SetUp() override {
    roc::trim_pinned_cache();
    if (roc::pinned_cache().limit == 0) GTEST_SKIP() << "ROCARRAY_PINNED_CACHE=0";
    initial_ = roc::pinned_cache();
  }
  void TearDown() override { roc::trim_pinned_cache(); }
  std::size_t reused() const { return roc::pinned_cache().reused - initial_.reused; }
  std::size_t pinned() const { return roc::pinned_cache().pinned - initial_.pinned; }

  roc::pinned_cache_information initial_{};
};

TEST_F(PinnedCache, ReusesMemory) {
  void const* first = nullptr;
  {
    auto const array = roc::pinned_array<char>(100'000);
    first = array.data();
  }
  EXPECT_EQ(1u, roc::pinned_cache().blocks);
  EXPECT_GE(roc::pinned_cache().bytes, 100'000u);
  auto const next = roc::pinned_array<char>(99'000);  // a similar size can use the block
  EXPECT_EQ(first, next.data());
  EXPECT_EQ(1u, reused());
  EXPECT_EQ(1u, pinned());
  EXPECT_EQ(0u, roc::pinned_cache().bytes);
}

TEST_F(PinnedCache, DoesNotReuseMemoryForOtherFlagsAndSizes) {
  static_cast<void>(roc::pinned_array<char>(100'000));
  auto const combined = roc::pinned_array<char>(100'000, host_flags::write_combined);
  EXPECT_TRUE(has(combined.flags(), host_flags::write_combined));
  auto const small = roc::pinned_array<char>(10'000);
  auto const large = roc::pinned_array<char>(200'000);
  EXPECT_EQ(0u, reused());
}

TEST_F(PinnedCache, DoesNotKeepMappedMemory) {
  static_cast<void>(roc::mapped_array<char>(100'000));
  static_cast<void>(roc::pinned_array<char>(100'000, host_flags::mapped));
  EXPECT_EQ(0u, roc::pinned_cache().blocks);
}

TEST_F(PinnedCache, KeepsTheLimit) {
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

TEST_F(PinnedCache, IsFreedIfPinnedMemoryIsExhausted) {
  static_cast<void>(roc::pinned_array<char>(100'000));
  ASSERT_TRUE(roc::platform::fail_call("hipHostMalloc", 1, hipErrorOutOfMemory));
  EXPECT_NO_THROW(static_cast<void>(roc::pinned_array<char>(1'000'000)));
  ASSERT_TRUE(roc::platform::fail_call("hipHostMalloc", 1, hipErrorOutOfMemory));
  roc::trim_pinned_cache();
  EXPECT_THROW(static_cast<void>(roc::pinned_array<char>(1'000'000)), roc::out_of_memory);
}

// The staging memory of the mapping is given back while its copy is blocked by the gate.
TEST_F(PinnedCache, DoesNotReuseMemoryOfPendingCopies) {
  if (!roc::test::gate::holds()) GTEST_SKIP() << "in mode inline no work is ever pending";
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
