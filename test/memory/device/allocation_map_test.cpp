// SPDX-License-Identifier: MIT
// record_finder, which looks up many addresses, finds the same records as single lookups; the state
// of any memory is found while other threads allocate and free it.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <sys/mman.h>

#include "memory/device/allocation_map.hpp"
#include "memory/device/allocation_record.hpp"
#include "support/environment.hpp"
#include "support/trim.hpp"

namespace {

using roc::memory::find_record;
using roc::memory::record_finder;

using array = roc::device_array<std::byte>;

void expect_same(std::vector<std::byte const*> const& addresses) {
  auto random = roc::test::random_generator("RecordFinder");
  record_finder find;
  for (int i = 0; i != 20'000; ++i) {
    std::byte const* const address = addresses[random() % addresses.size()];
    ASSERT_EQ(find_record(address), find(address)) << static_cast<void const*>(address);
    // Mostly in the range of the lookup before.
    std::byte const* const next = address + 1;
    ASSERT_EQ(find_record(next), find(next)) << static_cast<void const*>(next);
  }
}

// Adds addresses at the beginning, in the middle, at the end and just outside of a range.
void add_addresses(std::vector<std::byte const*>& addresses, std::byte const* data,
                   std::size_t bytes) {
  for (std::size_t const offset : {std::size_t{0}, bytes / 2, bytes - 2}) {
    addresses.push_back(data + offset);
  }
  addresses.push_back(data - 2);
  addresses.push_back(data + bytes);
}

TEST(RecordFinder, FindsTheRecordsOfPoolBlocks) {
  std::vector<array> arrays;
  std::vector<std::byte const*> addresses;
  for (std::size_t const bytes : {16, 300, 5000, 70'000, 3'000'000, 9'000'000}) {
    for (int i = 0; i != 4; ++i) {
      arrays.emplace_back(roc::shape<1>{bytes});
      auto const* const data = arrays.back().data();
      for (std::size_t k = 0; k + 1 < bytes; k += bytes / 4 + 1) addresses.push_back(data + k);
    }
  }
  std::vector<std::byte> host(100);
  for (std::size_t i = 0; i < 98; i += 7) addresses.push_back(host.data() + i);
  expect_same(addresses);
}

// Addresses in the inner allocations belong to these; addresses between them to the outer one.
TEST(RecordFinder, FindsTheInnermostOfNestedAllocations) {
  roc::hip_memory_resource hip_resource;
  std::size_t const bytes = std::size_t{8} << 20;
  array const outer({bytes}, hip_resource);
  auto& map = roc::memory::allocation_map::instance();
  std::vector<std::byte const*> addresses;
  add_addresses(addresses, outer.data(), bytes);
  roc::memory::allocation_record inner[3];
  std::size_t const begins[] = {4096, 40'960, (std::size_t{4} << 20) - 512};
  for (int i = 0; i != 3; ++i) {
    map.add(outer.data() + begins[i], 1024, &inner[i]);
    add_addresses(addresses, outer.data() + begins[i], 1024);
    add_addresses(addresses, outer.data() + begins[i] + 2048, 1024);
  }
  EXPECT_EQ(&inner[1], find_record(outer.data() + begins[1]));
  expect_same(addresses);
  for (std::size_t const begin : begins) map.remove(outer.data() + begin);
}

using roc::memory::allocation_map;
using memory_state = allocation_map::memory_state;

memory_state state_of(void const* address) {
  return allocation_map::instance().classify(address).state;
}

TEST(AllocationMap, ClassifiesMemory) {
  std::vector<std::byte> host(100);
  EXPECT_EQ(memory_state::unknown, state_of(host.data()));
  EXPECT_EQ(memory_state::unknown, state_of(nullptr));
  roc::hip_memory_resource hip_resource;
  roc::pool_resource pool(hip_resource);
  for (std::size_t const bytes : {std::size_t{100}, std::size_t{5} << 20}) {
    std::byte const* data = nullptr;
    {
      array const pooled(roc::shape<1>{bytes}, pool);
      data = pooled.data();
      EXPECT_EQ(memory_state::in_use, state_of(data));
      EXPECT_EQ(0, allocation_map::instance().classify(data + bytes / 2).device);
    }
    EXPECT_EQ(memory_state::free, state_of(data));
    roc::device().synchronize();
    roc::test::trim_to(pool, 0);
    EXPECT_EQ(memory_state::unknown, state_of(data));
  }
  array const single(roc::shape<1>{100}, hip_resource);
  EXPECT_EQ(memory_state::in_use, state_of(single.data()));
  EXPECT_EQ(0, allocation_map::instance().classify(single.data()).device);
}

// Another thread may destroy the slab meanwhile: nothing keeps it alive for a lookup of other
// memory.
TEST(AllocationMap, LookupsOfOtherMemoryDoNotReadASlabOfTheirRegion) {
  constexpr std::size_t region = std::size_t{2} << 20;
  // A range of addresses, and a slab that cannot be read.
  std::size_t const bytes = 5 * region;
  void* const reserved =
      ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(MAP_FAILED, reserved);
  auto* const slab = static_cast<roc::memory::pool_slab*>(reserved);
  auto const first = (reinterpret_cast<std::uintptr_t>(reserved) + region - 1) / region * region;
  auto* const begin = reinterpret_cast<std::byte*>(first);
  auto& map = allocation_map::instance();
  std::size_t const margin = region / 4;
  map.add(begin + margin, 3 * region, slab, 0);
  for (std::byte const* const address :
       {begin, begin + margin - 1, begin + margin + 3 * region, begin + 4 * region - 1}) {
    EXPECT_EQ(nullptr, find_record(address));
    EXPECT_EQ(nullptr, map.find_with_range(address).record);
  }
  map.remove(begin + margin);
  ::munmap(reserved, bytes);
}

TEST(VisitRecord, IgnoresFreeMemory) {
  roc::hip_memory_resource hip_resource;
  roc::pool_resource pool(hip_resource);
  int visits = 0;
  auto const count = [&](roc::memory::allocation_visit&, roc::memory::allocation_record&) {
    ++visits;
  };
  std::byte const* data = nullptr;
  {
    array const pooled(roc::shape<1>{100}, pool);
    data = pooled.data();
    roc::memory::visit_record(data, count);
    EXPECT_EQ(1, visits);
  }
  ASSERT_NE(nullptr, find_record(data));
  roc::memory::visit_record(data, count);
  EXPECT_EQ(1, visits);
}

// The record may not be destroyed or be given to another array during the visit.
TEST(VisitRecord, DelaysTheDeallocationOfTheMemory) {
  roc::hip_memory_resource hip_resource;
  roc::pool_resource pool(hip_resource);
  for (roc::memory_resource* const resource : {static_cast<roc::memory_resource*>(&hip_resource),
                                               static_cast<roc::memory_resource*>(&pool)}) {
    std::optional<array> freed(std::in_place, roc::shape<1>{100}, *resource);
    std::byte const* const data = freed->data();
    std::promise<void> begins;
    std::atomic<bool> is_freed = false;
    std::thread other;
    roc::memory::visit_record(data,
                              [&](roc::memory::allocation_visit&, roc::memory::allocation_record&) {
                                other = std::thread([&] {
                                  begins.set_value();
                                  freed.reset();
                                  is_freed = true;
                                });
                                begins.get_future().wait();
                                std::this_thread::sleep_for(std::chrono::milliseconds(50));
                                EXPECT_FALSE(is_freed);
                              });
    ASSERT_TRUE(other.joinable());
    other.join();
    EXPECT_TRUE(is_freed);
  }
}

// Sanitizers report an access to a record that has been destroyed.
TEST(VisitRecord, MayMeetMemoryThatAnotherThreadFrees) {
  roc::hip_memory_resource hip_resource;
  roc::pool_resource pool(hip_resource);
  std::atomic<std::byte const*> data = nullptr;
  std::atomic<bool> is_done = false;
  std::thread other([&] {
    for (int i = 0; i != 1000; ++i) {
      for (std::size_t const bytes : {std::size_t{64}, std::size_t{200'000}}) {
        array const first(roc::shape<1>{bytes}, pool);
        array const second(roc::shape<1>{bytes + 100'000}, pool);
        array const single(roc::shape<1>{bytes}, hip_resource);
        data = i % 2 == 0 ? second.data() : single.data();
      }
      if (i % 3 == 0) pool.trim();
    }
    is_done = true;
  });
  roc::stream const stream;
  auto const id = roc::runtime::stream_id_of(stream, 0);
  while (!is_done) {
    std::byte const* const address = data;
    roc::memory::visit_record(
        address, [&](roc::memory::allocation_visit& visit, roc::memory::allocation_record&) {
          static_cast<void>(visit.begin_use(id));
        });
  }
  other.join();
}

// The slabs and the blocks of freed memory are deleted meanwhile.
TEST(AllocationMap, ClassifiesMemoryThatAnotherThreadFrees) {
  roc::hip_memory_resource hip_resource;
  roc::pool_resource pool(hip_resource);
  std::atomic<std::byte const*> data = nullptr;
  std::atomic<bool> is_done = false;
  std::thread other([&] {
    for (int i = 0; i != 3000; ++i) {
      for (std::size_t const bytes : {std::size_t{64}, std::size_t{200'000}}) {
        array const first(roc::shape<1>{bytes}, pool);
        array const second(roc::shape<1>{bytes + 100'000}, pool);
        data = second.data();
      }
      if (i % 3 == 0) pool.trim();
    }
    is_done = true;
  });
  while (!is_done) {
    std::byte const* const address = data;
    for (std::size_t offset = 0; offset < 400'000; offset += 50'000) {
      auto const found = allocation_map::instance().classify(address + offset);
      if (found.state == memory_state::in_use) {
        ASSERT_EQ(0, found.device);
      }
    }
  }
  other.join();
}

TEST(RecordFinder, FindsTheRecordsOfAPoolOverAPool) {
  roc::hip_memory_resource hip_resource;
  roc::pool_resource lower(hip_resource);
  roc::pool_resource upper(static_cast<roc::memory_resource&>(lower));
  std::vector<array> arrays;
  std::vector<std::byte const*> addresses;
  for (std::size_t const bytes : {400, 40'000, 4'000'000}) {
    for (roc::memory_resource* const resource : {&upper, &lower}) {
      arrays.emplace_back(roc::shape<1>{bytes}, *resource);
      auto const* const data = arrays.back().data();
      for (std::size_t i = 0; i + 1 < bytes; i += bytes / 5 + 1) addresses.push_back(data + i);
    }
  }
  expect_same(addresses);
}

}  // namespace
