// SPDX-License-Identifier: MIT
// Uses of memory by streams, and the cached queries of threads, which must not outlive changes of
// the host table.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <thread>
#include <vector>

#include "memory/device/allocation_map.hpp"
#include "memory/device/allocation_record.hpp"
#include "memory/host/host_table.hpp"
#include "runtime/stream_id.hpp"
#include "support/gate.hpp"

namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t count = page / sizeof(int);

std::vector<int> numbers(int first) {
  std::vector<int> result(count);
  std::iota(result.begin(), result.end(), first);
  return result;
}

// Provides one whole page, which nothing else pins, of a host_array (parameter true) or of a
// vector.
class TrackedUses : public testing::TestWithParam<bool> {
 protected:
  TrackedUses() { array_.copy_to_device(numbers(1)); }

  static roc::registration_options read_only() {
    roc::registration_options options;
    options.read_only = true;
    return options;
  }

  // Copies twice, so that the second copy uses the cached query.
  void copy_twice(roc::stream_ref stream) {
    for (int i = 0; i < 2; ++i) roc::copy(array_, page_, stream);
    stream.synchronize();
  }
  void clear_page() { std::fill_n(page_.data(), count, 0); }
  std::vector<int> read() const { return {page_.data(), page_.data() + count}; }

  roc::device_array<int> array_{roc::shape<1>{count}};
  roc::host_array<int> array_memory_{roc::shape<1>{3 * count}};
  std::vector<int> vector_memory_ = std::vector<int>(3 * count);
  roc::host_view<int> page_ = [this] {
    int* const memory = GetParam() ? array_memory_.data() : vector_memory_.data();
    auto const skip = page - reinterpret_cast<std::uintptr_t>(memory) % page;
    return roc::host_view<int>(memory + skip / sizeof(int), roc::shape<1>{count});
  }();
};

TEST_P(TrackedUses, DeregisterBlocksUntilACopyWithACachedQueryHasFinished) {
  roc::stream const stream;
  roc::test::gate gate;
  for (int round = 0; round < 2; ++round) {
    auto guard = roc::register_host(page_);
    copy_twice(stream);
    clear_page();
    if (round == 1) gate.close(stream);
    roc::copy(array_, page_, stream);
    std::thread opener([&] { gate.open(); });
    guard.deregister();
    EXPECT_EQ(numbers(1), read());
    opener.join();
  }
}

TEST_P(TrackedUses, DeregisterBlocksUntilAllStreamsHaveFinished) {
  roc::stream const first;
  roc::stream const second;
  auto guard = roc::register_host(page_);
  copy_twice(first);
  copy_twice(second);
  copy_twice(first);
  clear_page();
  roc::test::gate gate;
  gate.close(second);
  roc::copy(array_, page_, second);
  std::thread opener([&] { gate.open(); });
  guard.deregister();
  EXPECT_EQ(numbers(1), read());
  opener.join();
}

TEST_P(TrackedUses, DeregisterWaitsForStreamsThatReuseAHandle) {
  auto guard = roc::register_host(page_);
  for (int i = 0; i < 20; ++i) {
    // The runtime may reuse the handle of the stream before.
    roc::stream const stream;
    copy_twice(stream);
  }
  clear_page();
  roc::stream const last;
  roc::test::gate gate;
  gate.close(last);
  roc::copy(array_, page_, last);
  std::thread opener([&] { gate.open(); });
  guard.deregister();
  EXPECT_EQ(numbers(1), read());
  opener.join();
}

TEST_P(TrackedUses, PinnedMemoryIsReusedOnlyAfterCopiesWithACachedQuery) {
  roc::stream const stream;
  roc::device_array<int> destination(roc::shape<1>{count});
  for (int i = 0; i < 10; ++i) {
    // Each array probably has the same address.
    auto pinned = roc::pinned_array<int>(count);
    for (int k = 0; k < 2; ++k) roc::copy(pinned, destination, stream);
    stream.synchronize();
    auto const expected = numbers(i);
    std::copy(expected.begin(), expected.end(), pinned.begin());
    roc::test::gate gate;
    gate.close(stream);
    roc::copy(pinned, destination, stream);
    gate.open();
    // The memory must not be reused while the copy reads it.
    { auto const destroyed = std::move(pinned); }
    auto other = roc::pinned_array<int>(count);
    std::fill(other.begin(), other.end(), -1);
    std::vector<int> actual(count);
    stream.synchronize();
    destination.copy_to_host(actual);
    EXPECT_EQ(expected, actual);
  }
}

TEST_P(TrackedUses, CachedQueryIsNotUsedAfterDeregistration) {
  roc::stream const stream;
  {
    auto const guard = roc::register_host(page_);
    copy_twice(stream);
    EXPECT_EQ(roc::copy_path::dma, roc::planned_path(array_, page_));
  }
  auto& table = roc::memory::host_table::instance();
  auto const range = roc::base::byte_range::of(page_.data(), page);
  EXPECT_FALSE(table.query_access(range, true).pinned);
  auto const guard = roc::register_host(read_only(), page_);
  EXPECT_TRUE(table.query_access(range, false).pinned);
  EXPECT_THROW(roc::copy(array_, page_, stream), roc::registration_error);
  EXPECT_THROW(roc::copy(array_, page_), roc::registration_error);
  roc::copy(page_, array_, stream);
  EXPECT_THROW(roc::copy(array_, page_, stream), roc::registration_error);
  stream.synchronize();
}

TEST_P(TrackedUses, CachedQueryIsNotUsedAfterAChangeByAnotherThread) {
  roc::stream const stream;
  auto guard = roc::register_host(page_);
  copy_twice(stream);
  std::thread([&] {
    copy_twice(stream);
    guard.deregister();
    guard = roc::register_host(read_only(), page_);
  }).join();
  EXPECT_THROW(roc::copy(array_, page_, stream), roc::registration_error);
}

TEST_P(TrackedUses, CachedQueryDoesNotApplyBeyondTheArray) {
  auto pinned = roc::pinned_array<int>(count);
  auto& table = roc::memory::host_table::instance();
  auto const range_of = [&](std::size_t first, std::size_t n) {
    return roc::base::byte_range::of(pinned.data() + first, n * sizeof(int));
  };
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(table.query_access(range_of(0, 1), true).pinned);
    EXPECT_TRUE(table.query_access(range_of(0, count), true).pinned);
    EXPECT_TRUE(table.query_access(range_of(count - 1, 1), true).pinned);
    EXPECT_FALSE(table.query_access(range_of(0, count + 1), true).pinned);
  }
}

TEST_P(TrackedUses, DeviceArrayIsReusedOnlyAfterAllStreamsHaveFinished) {
  constexpr std::size_t bytes = 100'000;
  roc::stream const allocation_stream;
  roc::stream const first;
  roc::stream const second;
  auto source = roc::pinned_array<unsigned char>(bytes);
  std::fill(source.begin(), source.end(), static_cast<unsigned char>(1));
  std::vector<roc::device_array<unsigned char>> kept;
  for (int round = 0; round < 2; ++round) {
    roc::test::gate gate;
    {
      // The second round reuses the memory, and only one of the streams uses it.
      roc::device_array<unsigned char> const freed({bytes}, roc::order::c, allocation_stream);
      if (round == 0) roc::copy(source, freed, second);
      second.synchronize();
      for (int i = 0; i < 2; ++i) roc::copy(source, freed, first);
      first.synchronize();
      gate.close(first);
      roc::copy(source, freed, first);
    }
    auto const& next = kept.emplace_back(roc::shape<1>{bytes}, roc::order::c, allocation_stream);
    next.fill(2, allocation_stream);
    gate.open();
    first.synchronize();
    allocation_stream.synchronize();
    std::vector<unsigned char> actual(bytes);
    next.copy_to_host(actual);
    EXPECT_EQ(std::vector<unsigned char>(bytes, 2), actual);
  }
}

TEST_P(TrackedUses, ForgetUsesOfARecordForgetsTheLastStream) {
  roc::stream const stream;
  roc::stream const other;
  auto* const record = roc::memory::find_record(array_.data());
  ASSERT_NE(nullptr, record);
  auto const has_tracked = [&](roc::stream_ref used) {
    return record->has_tracked(roc::runtime::stream_id_of(used, used.device_ordinal()));
  };
  auto const guard = roc::register_host(page_);
  EXPECT_FALSE(has_tracked(stream));
  copy_twice(stream);
  EXPECT_TRUE(has_tracked(stream));
  EXPECT_FALSE(has_tracked(other));
  copy_twice(other);
  EXPECT_TRUE(has_tracked(other));
  for (roc::stream_ref const used : {roc::stream_ref(stream), roc::stream_ref(other)}) {
    EXPECT_TRUE(record->uses().contains(roc::runtime::stream_id_of(used, used.device_ordinal())));
  }
  record->forget_uses();
  EXPECT_FALSE(has_tracked(other));
}

INSTANTIATE_TEST_SUITE_P(Memory, TrackedUses, testing::Bool(),
                         [](auto const& tested) { return tested.param ? "HostArray" : "Vector"; });

}  // namespace
