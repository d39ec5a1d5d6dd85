// SPDX-License-Identifier: MIT
// Pageable memory of destroyed host arrays is reused by arrays of a similar size.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <thread>
#include <vector>

#include "support/environment.hpp"
#include "support/failing_new.hpp"
#include "support/gate.hpp"

namespace {

constexpr std::size_t mebi = std::size_t{1} << 20;

using array = roc::host_array<unsigned char>;

class PageableCache : public testing::Test {
 protected:
  PageableCache() {
    roc::trim_pageable_cache();
    initial_ = roc::pageable_cache();
  }
  ~PageableCache() override { roc::trim_pageable_cache(); }

  std::size_t reused() const { return roc::pageable_cache().reused - initial_.reused; }
  std::size_t allocated() const { return roc::pageable_cache().allocated - initial_.allocated; }

  roc::pageable_cache_information initial_{};
};

unsigned char const* address_of_destroyed_array(std::size_t bytes) { return array({bytes}).data(); }

TEST_F(PageableCache, GivesMemoryToArraysOfASimilarSize) {
  auto const* const address = address_of_destroyed_array(8 * mebi);
  EXPECT_EQ(1u, roc::pageable_cache().blocks);
  EXPECT_EQ(8 * mebi, roc::pageable_cache().bytes);
  array const again({8 * mebi - 1000});
  EXPECT_EQ(address, again.data());
  EXPECT_EQ(0u, roc::pageable_cache().blocks);
  EXPECT_EQ(0u, roc::pageable_cache().bytes);
  EXPECT_EQ(1u, reused());
  EXPECT_EQ(1u, allocated());
}

TEST_F(PageableCache, DoesNotGiveMemoryToArraysOfAnotherSize) {
  static_cast<void>(address_of_destroyed_array(8 * mebi));
  array const smaller({4 * mebi});
  array const larger({16 * mebi});
  EXPECT_EQ(1u, roc::pageable_cache().blocks);
  EXPECT_EQ(0u, reused());
  EXPECT_EQ(3u, allocated());
}

TEST_F(PageableCache, PrefersTheMemoryThatWasFreedLast) {
  unsigned char const* last = nullptr;
  {
    array first({4 * mebi});
    array second({4 * mebi});
    last = second.data();
    first = {};
    second = {};
  }
  EXPECT_EQ(2u, roc::pageable_cache().blocks);
  EXPECT_EQ(last, array({4 * mebi}).data());
}

TEST_F(PageableCache, KeepsNoSmallMemory) {
  static_cast<void>(address_of_destroyed_array(2 * mebi - 1));
  EXPECT_EQ(0u, roc::pageable_cache().blocks);
  EXPECT_EQ(0u, allocated());
  static_cast<void>(address_of_destroyed_array(2 * mebi));
  EXPECT_EQ(1u, roc::pageable_cache().blocks);
}

TEST_F(PageableCache, KeepsNoPinnedMemoryAndNoneOfResources) {
  static_cast<void>(roc::pinned_array<char>(4 * mebi));
  roc::hip_pinned_memory_resource resource;
  static_cast<void>(roc::host_array<char>(roc::shape<1>{4 * mebi}, resource));
  EXPECT_EQ(0u, roc::pageable_cache().blocks);
}

TEST_F(PageableCache, FreesTheOldestMemoryBeyondItsLimit) {
  roc::scoped_options const scope({.pageable_cache = 8 * mebi});
  EXPECT_EQ(8 * mebi, roc::pageable_cache().limit);
  static_cast<void>(address_of_destroyed_array(6 * mebi));
  static_cast<void>(address_of_destroyed_array(4 * mebi));
  EXPECT_EQ(1u, roc::pageable_cache().blocks);
  EXPECT_EQ(4 * mebi, roc::pageable_cache().bytes);
  static_cast<void>(address_of_destroyed_array(9 * mebi));
  EXPECT_EQ(4 * mebi, roc::pageable_cache().bytes);
}

TEST_F(PageableCache, IsDisabledByALimitOfZero) {
  roc::scoped_options const scope({.pageable_cache = 0});
  static_cast<void>(address_of_destroyed_array(4 * mebi));
  EXPECT_EQ(0u, roc::pageable_cache().blocks);
}

TEST_F(PageableCache, IsTrimmedOldestFirst) {
  array first({2 * mebi});
  array second({4 * mebi});
  first = {};
  second = {};
  roc::trim_pageable_cache(5 * mebi);
  EXPECT_EQ(4 * mebi, roc::pageable_cache().bytes);
  roc::trim_pageable_cache(3 * mebi);
  EXPECT_EQ(0u, roc::pageable_cache().blocks);
}

TEST_F(PageableCache, DoesNotKeepMemoryThatPendingCopiesWrite) {
  roc::stream const stream;
  roc::device_array<unsigned char> const device({4 * mebi});
  device.fill(1);
  auto host = std::make_optional<array>(roc::shape<1>{4 * mebi});
  roc::test::gate gate;
  gate.close(stream);
  device.copy_to_host(*host, stream);
  std::thread opener([&] { gate.open(); });
  host.reset();  // waits
  opener.join();
  array again({4 * mebi});
  EXPECT_EQ(1u, reused());
  std::fill(again.begin(), again.end(), static_cast<unsigned char>(2));
  stream.synchronize();
  EXPECT_TRUE(std::all_of(again.begin(), again.end(), [](auto value) { return value == 2; }));
}

TEST_F(PageableCache, IsFreedIfMemoryIsExhausted) {
  static_cast<void>(address_of_destroyed_array(16 * mebi));
  {
    roc::test::failing_new const failure(1);
    array const other({4 * mebi});
    EXPECT_TRUE(failure.has_failed());
    EXPECT_EQ(4 * mebi, other.size());
  }
  EXPECT_EQ(0u, reused());
  EXPECT_EQ(1u, roc::pageable_cache().blocks);  // that of `other`
  EXPECT_EQ(4 * mebi, roc::pageable_cache().bytes);
}

TEST_F(PageableCache, ServesSeveralThreads) {
  constexpr int threads = 4;
  std::vector<std::thread> work;
  std::vector<int> wrong(threads);
  for (int number = 0; number != threads; ++number) {
    work.emplace_back([&wrong, number] {
      for (std::size_t round = 0; round != 50; ++round) {
        array memory({(2 + round % 3) * mebi});
        auto const value = static_cast<unsigned char>(16 * number + static_cast<int>(round % 16));
        for (std::size_t i = 0; i < memory.size(); i += 4096) memory.data()[i] = value;
        for (std::size_t i = 0; i < memory.size(); i += 4096) {
          wrong[static_cast<std::size_t>(number)] += memory.data()[i] != value ? 1 : 0;
        }
      }
    });
  }
  for (std::thread& thread : work) thread.join();
  for (int const count : wrong) EXPECT_EQ(0, count);
  EXPECT_EQ(200u, reused() + allocated());
  EXPECT_GE(12u, allocated());  // of each size as many as threads
}

#if defined(__SANITIZE_ADDRESS__)
TEST(PageableCacheDeathTest, AccessesBeyondAnArrayAndToFreedMemoryAreReported) {
  static_cast<void>(address_of_destroyed_array(4 * mebi));
  array small({4 * mebi - 1000});
  auto* const data = const_cast<unsigned char volatile*>(small.data());
  EXPECT_DEATH(data[4 * mebi - 10] = 1, "use-after-poison");
  small = {};
  EXPECT_DEATH(data[100] = 1, "use-after-poison");
}
#endif

}  // namespace
