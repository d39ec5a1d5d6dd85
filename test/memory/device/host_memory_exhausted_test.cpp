// SPDX-License-Identifier: MIT
// Exhausted host memory: the tables of device memory stay consistent, and no device memory is lost.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "memory/device/allocation_map.hpp"
#include "memory/device/allocation_record.hpp"
#include "support/failing_new.hpp"
#include "support/trim.hpp"

namespace {

using array = roc::device_array<unsigned char>;

constexpr std::size_t mebi = std::size_t{1} << 20;

struct log_silencer {
  roc::log_hook previous_hook = roc::set_log_hook([](char const*) noexcept {});
  ~log_silencer() { roc::set_log_hook(previous_hook); }
};

// Runs work on the stream, so that HIP on the CPU starts the stream's thread.
void warm_up(roc::stream_ref stream) {
  roc::event event;
  event.record(stream);
  event.synchronize();
}

TEST(AllocationMap, IsUnchangedIfAddFails) {
  auto& map = roc::memory::allocation_map::instance();
  roc::memory::allocation_record record;
  // Addresses of no memory, in parts of the tree that have no nodes yet.
  std::uintptr_t address = std::uintptr_t{0x70} << 48;
  long const failures = roc::test::fail_each_new([&] {
    address += std::uintptr_t{1} << 45;
    auto* const data = reinterpret_cast<std::byte*>(address);
    try {
      map.add(data, mebi, &record);
    } catch (std::bad_alloc const&) {
      // Another entry of the region, for which a lookup searches all entries there.
      map.add(data + mebi, 256, &record);
      EXPECT_EQ(nullptr, roc::memory::find_record(data));
      map.remove(data + mebi);
      throw;
    }
    EXPECT_EQ(&record, roc::memory::find_record(data));
    map.remove(data);
    EXPECT_EQ(nullptr, roc::memory::find_record(data));
  });
  EXPECT_GE(failures, 3);  // two nodes and an entry
}

// Memory of the resource, freed at the end of the scope.
class scoped_block {
 public:
  scoped_block(roc::memory_resource& resource, std::size_t bytes, roc::stream_ref stream)
      : resource_(resource),
        bytes_(bytes),
        stream_(stream),
        data_(resource.allocate(bytes, stream)) {}
  ~scoped_block() { resource_.deallocate(data_, bytes_, stream_); }
  scoped_block(scoped_block const&) = delete;
  scoped_block& operator=(scoped_block const&) = delete;

 private:
  roc::memory_resource& resource_;
  std::size_t bytes_;
  roc::stream_ref stream_;
  void* data_;
};

void expect_no_memory_lost(roc::pool_resource& pool) {
  roc::device().synchronize();
  roc::test::trim_to(pool, 0);
  auto const statistics = pool.statistics();
  EXPECT_EQ(0u, statistics.current_blocks);
  EXPECT_EQ(0u, statistics.reserved_bytes);
}

TEST(PoolResource, LosesNoMemoryIfAnAllocationOfHostMemoryFails) {
  log_silencer const silent;
  roc::hip_memory_resource hip_resource;
  roc::stream const stream;
  roc::stream const other(roc::non_blocking);
  for (roc::stream_ref const used :
       {roc::stream_ref(), roc::stream_ref(stream), roc::stream_ref(other)}) {
    warm_up(used);
  }
  for (bool const over_pool : {false, true}) {
    roc::pool_resource lower(hip_resource);
    roc::statistics_resource_adaptor upstream(over_pool ? static_cast<roc::memory_resource&>(lower)
                                                        : hip_resource);
    // Each time with a new pool, which allocates more.
    long const failures = roc::test::fail_each_new([&] {
      roc::pool_resource pool(upstream, {.slab_bytes = 4 * mebi});
      scoped_block const small(pool, 700, {});
      scoped_block const large(pool, 3 * mebi, stream);
      scoped_block const larger(pool, 6 * mebi, other);
      scoped_block const last(pool, 70'000, other);
    });
    EXPECT_GE(failures, 20);
    EXPECT_EQ(0u, upstream.statistics().current_bytes);
    expect_no_memory_lost(lower);
  }
}

// Deallocation must neither throw nor lose memory, also on a stream that the pool does not know.
TEST(PoolResource, LosesNoMemoryIfHostMemoryIsExhaustedInADeallocation) {
  log_silencer const silent;
  roc::hip_memory_resource hip_resource;
  roc::stream const stream;
  roc::stream const other(roc::non_blocking);
  for (roc::stream_ref const used :
       {roc::stream_ref(), roc::stream_ref(stream), roc::stream_ref(other)}) {
    warm_up(used);
  }
  for (long nth = 1; nth <= 12; ++nth) {
    roc::pool_resource pool(hip_resource, {.slab_bytes = 4 * mebi});
    std::vector<void*> blocks;
    std::size_t const sizes[] = {700, 70'000, 3 * mebi, 6 * mebi};
    for (std::size_t const bytes : sizes) blocks.push_back(pool.allocate(bytes, stream));
    array used({3 * mebi}, pool, roc::order::c, stream);
    used.fill(1, other);
    std::optional<roc::stream> unknown(std::in_place);
    warm_up(*unknown);
    for (std::size_t i = 0; i != blocks.size(); ++i) {
      roc::test::failing_new const failure(nth);
      pool.deallocate(blocks[i], sizes[i], *unknown);
    }
    {
      roc::test::failing_new const failure(nth);
      used = {};
    }
    unknown.reset();
    expect_no_memory_lost(pool);
  }
}

// The blocks are in caches of a thread that ends.
TEST(PoolResource, LosesNoMemoryIfHostMemoryIsExhaustedAtTheEndOfAThread) {
  roc::hip_memory_resource hip_resource;
  for (long nth = 1; nth <= 6; ++nth) {
    roc::pool_resource pool(hip_resource);
    std::thread([&] {
      static thread_local std::optional<roc::test::failing_new> failure;  // until after the caches
      failure.emplace(1'000'000);
      std::optional<roc::stream> stream(std::in_place);
      { array const a({2000}, pool, roc::order::c, *stream); }
      stream.reset();
      failure.emplace(nth);
    }).join();
    expect_no_memory_lost(pool);
  }
}

TEST(DeviceArray, LosesNoMemoryIfAnAllocationOfHostMemoryFails) {
  log_silencer const silent;
  roc::hip_memory_resource hip_resource;
  roc::statistics_resource_adaptor counted(hip_resource);
  auto* const data = static_cast<unsigned char*>(counted.allocate(1000));
  warm_up({});
  int adopted = 0;
  int finalized = 0;
  long const failures = roc::test::fail_each_new([&] {
    array const a({3 * mebi}, counted);
    auto const b = roc::adopt(data, roc::shape<1>{1000}, [&](void*) { ++finalized; });
    ++adopted;
  });
  EXPECT_GE(failures, 3);
  EXPECT_GE(adopted, 1);
  EXPECT_EQ(adopted, finalized);
  counted.deallocate(data, 1000);
  EXPECT_EQ(0u, counted.statistics().current_bytes);
}

}  // namespace
