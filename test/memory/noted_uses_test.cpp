// SPDX-License-Identifier: MIT
// What a thread remembers of memory that it copied before is good only as long as it is true.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <thread>
#include <vector>

#include "memory/host/host_table.hpp"
#include "memory/device/allocation_record.hpp"
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

// One whole page, which nothing else pins, of memory that the library knows or does not know.
class NotedUses : public testing::TestWithParam<bool> {
 protected:
  NotedUses() { array_.copy_to_device(numbers(1)); }

  static roc::registration_options read_only() {
    roc::registration_options options;
    options.read_only = true;
    return options;
  }

  // Twice, so that the second one is remembered.
  void copy_twice(roc::stream_ref stream) {
    for (int i = 0; i < 2; ++i) roc::copy(array_, page_, stream);
    stream.synchronize();
  }
  void clear() { std::fill_n(page_.data(), count, 0); }
  std::vector<int> read() const { return {page_.data(), page_.data() + count}; }

  roc::device_array<int> array_{roc::shape<1>{count}};
  roc::host_array<int> known_{roc::shape<1>{3 * count}};
  std::vector<int> unknown_ = std::vector<int>(3 * count);
  roc::host_view<int> page_ = [this] {
    int* const memory = GetParam() ? known_.data() : unknown_.data();
    auto const skip = page - reinterpret_cast<std::uintptr_t>(memory) % page;
    return roc::host_view<int>(memory + skip / sizeof(int), roc::shape<1>{count});
  }();
};

TEST_P(NotedUses, DeregisteringWaitsForACopyThatIsLikeThoseBefore) {
  roc::stream const stream;
  roc::test::gate gate;
  for (int round = 0; round < 2; ++round) {
    auto guard = roc::register_host(page_);
    copy_twice(stream);
    clear();
    if (round == 1) gate.close(stream);
    roc::copy(array_, page_, stream);
    std::thread opener([&] { gate.open(); });
    guard.deregister();
    EXPECT_EQ(numbers(1), read());
    opener.join();
  }
}

TEST_P(NotedUses, EveryStreamThatUsesItIsWaitedFor) {
  roc::stream const first;
  roc::stream const second;
  auto guard = roc::register_host(page_);
  copy_twice(first);
  copy_twice(second);
  copy_twice(first);
  clear();
  roc::test::gate gate;
  gate.close(second);
  roc::copy(array_, page_, second);
  std::thread opener([&] { gate.open(); });
  guard.deregister();
  EXPECT_EQ(numbers(1), read());
  opener.join();
}

TEST_P(NotedUses, AStreamInTheHandleOfAnotherOneIsNoted) {
  auto guard = roc::register_host(page_);
  for (int i = 0; i < 20; ++i) {
    // The runtime may give each the handle of the one before.
    roc::stream const stream;
    copy_twice(stream);
  }
  clear();
  roc::stream const last;
  roc::test::gate gate;
  gate.close(last);
  roc::copy(array_, page_, last);
  std::thread opener([&] { gate.open(); });
  guard.deregister();
  EXPECT_EQ(numbers(1), read());
  opener.join();
}

TEST_P(NotedUses, AnArrayWaitsForACopyWhereAnotherOneWas) {
  roc::stream const stream;
  roc::device_array<int> to(roc::shape<1>{count});
  for (int i = 0; i < 10; ++i) {
    // Likely at one address each time.
    auto pinned = roc::pinned_array<int>(count);
    for (int k = 0; k < 2; ++k) roc::copy(pinned, to, stream);
    stream.synchronize();
    auto const expected = numbers(i);
    std::copy(expected.begin(), expected.end(), pinned.begin());
    roc::test::gate gate;
    gate.close(stream);
    roc::copy(pinned, to, stream);
    gate.open();
    // Not to be given out again while the copy reads it.
    { auto const gone = std::move(pinned); }
    auto other = roc::pinned_array<int>(count);
    std::fill(other.begin(), other.end(), -1);
    std::vector<int> got(count);
    stream.synchronize();
    to.copy_to_host(got);
    EXPECT_EQ(expected, got);
  }
}

TEST_P(NotedUses, MemoryIsAskedAnewAfterItsRegistrationWent) {
  roc::stream const stream;
  {
    auto const guard = roc::register_host(page_);
    copy_twice(stream);
    EXPECT_EQ(roc::copy_path::dma, roc::planned_path(array_, page_));
  }
  auto& table = roc::memory::host_table::instance();
  auto const where = roc::base::byte_range::of(page_.data(), page);
  EXPECT_FALSE(table.about_to_use(where, true).pinned);
  auto const guard = roc::register_host(read_only(), page_);
  EXPECT_TRUE(table.about_to_use(where, false).pinned);
  EXPECT_THROW(roc::copy(array_, page_, stream), roc::registration_error);
  EXPECT_THROW(roc::copy(array_, page_), roc::registration_error);
  roc::copy(page_, array_, stream);
  EXPECT_THROW(roc::copy(array_, page_, stream), roc::registration_error);
  stream.synchronize();
}

TEST_P(NotedUses, WhatOneThreadRemembersAnotherOneChanges) {
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

TEST_P(NotedUses, APartOfAnArrayIsAsTheArrayButNoMore) {
  auto pinned = roc::pinned_array<int>(count);
  auto& table = roc::memory::host_table::instance();
  auto const at = [&](std::size_t first, std::size_t n) {
    return roc::base::byte_range::of(pinned.data() + first, n * sizeof(int));
  };
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(table.about_to_use(at(0, 1), true).pinned);
    EXPECT_TRUE(table.about_to_use(at(0, count), true).pinned);
    EXPECT_TRUE(table.about_to_use(at(count - 1, 1), true).pinned);
    EXPECT_FALSE(table.about_to_use(at(0, count + 1), true).pinned);
  }
}

TEST_P(NotedUses, ADeviceArrayWaitsForEveryStreamThatUsedIt) {
  constexpr std::size_t bytes = 100'000;
  roc::stream const own;
  roc::stream const first;
  roc::stream const second;
  auto source = roc::pinned_array<unsigned char>(bytes);
  std::fill(source.begin(), source.end(), static_cast<unsigned char>(1));
  std::vector<roc::device_array<unsigned char>> kept;
  for (int round = 0; round < 2; ++round) {
    roc::test::gate gate;
    {
      // In the second round where the first round's was, and used by its last stream alone.
      roc::device_array<unsigned char> const gone({bytes}, roc::order::c, own);
      if (round == 0) roc::copy(source, gone, second);
      second.synchronize();
      for (int i = 0; i < 2; ++i) roc::copy(source, gone, first);
      first.synchronize();
      gate.close(first);
      roc::copy(source, gone, first);
    }
    auto const& made = kept.emplace_back(roc::shape<1>{bytes}, roc::order::c, own);
    made.fill(2, own);
    gate.open();
    first.synchronize();
    own.synchronize();
    std::vector<unsigned char> got(bytes);
    made.copy_to_host(got);
    EXPECT_EQ(std::vector<unsigned char>(bytes, 2), got);
  }
}

TEST_P(NotedUses, ADeviceArraysLastStreamIsForgottenWithItsUses) {
  roc::stream const stream;
  roc::stream const other;
  auto* const record = roc::memory::find_record(array_.data());
  ASSERT_NE(nullptr, record);
  auto const has_noted = [&](roc::stream_ref each) {
    return record->has_noted(roc::runtime::mark_of(each, each.device_ordinal()));
  };
  auto const guard = roc::register_host(page_);
  EXPECT_FALSE(has_noted(stream));
  copy_twice(stream);
  EXPECT_TRUE(has_noted(stream));
  EXPECT_FALSE(has_noted(other));
  copy_twice(other);
  EXPECT_TRUE(has_noted(other));
  EXPECT_EQ(2u, record->uses.size());
  record->forget_uses();
  EXPECT_FALSE(has_noted(other));
}

INSTANTIATE_TEST_SUITE_P(Memory, NotedUses, testing::Bool(), [](auto const& known) {
  return known.param ? "InAnArray" : "OfOthers";
});

}  // namespace
