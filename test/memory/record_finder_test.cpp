// SPDX-License-Identifier: MIT
// Looking up many addresses in a row finds what looking up each does.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "memory/device/record_finder.hpp"
#include "support/environment.hpp"

namespace {

using roc::memory::find_record;
using roc::memory::record_finder;

using array = roc::device_array<std::byte>;

void expect_same(std::vector<std::byte const*> const& addresses) {
  auto random = roc::test::random_generator("RecordFinder");
  record_finder find;
  for (int i = 0; i != 20'000; ++i) {
    std::byte const* const at = addresses[random() % addresses.size()];
    ASSERT_EQ(find_record(at), find(at)) << static_cast<void const*>(at);
    // Mostly it is the neighbour.
    ASSERT_EQ(find_record(at + 1), find(at + 1)) << static_cast<void const*>(at + 1);
  }
}

// The first and last bytes, the middle, and what lies just outside.
void add_places(std::vector<std::byte const*>& to, std::byte const* data, std::size_t bytes) {
  for (std::size_t const at : {std::size_t{0}, bytes / 2, bytes - 2}) to.push_back(data + at);
  to.push_back(data - 2);
  to.push_back(data + bytes);
}

TEST(RecordFinder, ManyArraysOfThePool) {
  std::vector<array> arrays;
  std::vector<std::byte const*> places;
  for (std::size_t const bytes : {16, 300, 5000, 70'000, 3'000'000, 9'000'000}) {
    for (int i = 0; i != 4; ++i) {
      arrays.emplace_back(roc::shape<1>{bytes});
      auto const* const data = arrays.back().data();
      for (std::size_t at = 0; at + 1 < bytes; at += bytes / 4 + 1) places.push_back(data + at);
    }
  }
  std::vector<std::byte> host(100);
  for (std::size_t at = 0; at < 98; at += 7) places.push_back(host.data() + at);
  expect_same(places);
}

// What is allocated of an array's memory is no part of the array: before it, within and behind it.
TEST(RecordFinder, MemoryWithinMemory) {
  roc::hip_memory_resource direct;
  std::size_t const bytes = std::size_t{8} << 20;
  array const outer({bytes}, direct);
  auto& table = roc::memory::allocation_map::instance();
  std::vector<std::byte const*> places;
  add_places(places, outer.data(), bytes);
  roc::memory::allocation_record inner[3];
  std::size_t const begins[] = {4096, 40'960, (std::size_t{4} << 20) - 512};
  for (int i = 0; i != 3; ++i) {
    table.add(outer.data() + begins[i], 1024, &inner[i]);
    add_places(places, outer.data() + begins[i], 1024);
    add_places(places, outer.data() + begins[i] + 2048, 1024);
  }
  EXPECT_EQ(&inner[1], find_record(outer.data() + begins[1]));
  expect_same(places);
  for (std::size_t const begin : begins) table.remove(outer.data() + begin);
}

TEST(RecordFinder, APoolOnAPool) {
  roc::hip_memory_resource direct;
  roc::pool_resource lower(direct);
  roc::pool_resource upper(static_cast<roc::memory_resource&>(lower));
  std::vector<array> arrays;
  std::vector<std::byte const*> places;
  for (std::size_t const bytes : {400, 40'000, 4'000'000}) {
    for (roc::memory_resource* const each : {&upper, &lower}) {
      arrays.emplace_back(roc::shape<1>{bytes}, *each);
      auto const* const data = arrays.back().data();
      for (std::size_t at = 0; at + 1 < bytes; at += bytes / 5 + 1) places.push_back(data + at);
    }
  }
  expect_same(places);
}

}  // namespace
