// SPDX-License-Identifier: MIT
// pool_resource: which memory is used again when, what happens when it is short, what it counts.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

#include <roc/native.hpp>

#include "memory/device/allocation_record.hpp"
#include "memory/debug/sanitizer.hpp"
#include "platform/call.hpp"
#include "support/environment.hpp"
#include "support/gate.hpp"

namespace {

constexpr std::size_t mebi = std::size_t{1} << 20;

std::vector<std::string> logged;

struct log_capture {
  log_capture() {
    logged.clear();
    before = roc::set_log_hook([](char const* line) noexcept { logged.emplace_back(line); });
  }
  ~log_capture() { roc::set_log_hook(before); }
  roc::log_hook before;
};

unsigned calls = 0;
std::string counted;

// How often a call of HIP is made meanwhile.
template <class F>
unsigned count_calls(char const* name, F f) {
  calls = 0;
  counted = name;
  auto const before = roc::platform::set_call_hook([](roc::platform::call_record const& record) {
    if (counted.empty() || record.name == counted) ++calls;
  });
  f();
  roc::platform::set_call_hook(before);
  return calls;
}

class Pool : public testing::Test {
 protected:
  roc::hip_memory_resource direct;
  roc::pool_resource pool{direct};
};

TEST_F(Pool, ReusesAtOnceOnTheSameStreamWithoutACall) {
  roc::stream const stream;
  for (std::size_t const bytes : {1000ul, 100'000ul, 3 * mebi}) {
    void* const first = pool.allocate(bytes, stream);
    pool.deallocate(first, bytes, stream);
    void* second = nullptr;
    EXPECT_EQ(0u, count_calls("", [&] {
      second = pool.allocate(bytes, stream);
      pool.deallocate(second, bytes, stream);
    }));
    EXPECT_EQ(first, second);
  }
}

TEST_F(Pool, RecordsEventsOnlyWhenMemoryCrossesStreams) {
  roc::stream const first;
  roc::stream const second;
  auto const events = count_calls("hipEventRecord", [&] {
    for (int i = 0; i < 100; ++i) {
      void* const data = pool.allocate(5000, first);
      pool.deallocate(data, 5000, first);
    }
  });
  EXPECT_EQ(0u, events);
  void* const of_first = pool.allocate(2 * mebi, first);
  pool.deallocate(of_first, 2 * mebi, first);
  first.synchronize();
  void* of_second = nullptr;
  EXPECT_GE(1u, count_calls("hipEventRecord", [&] { of_second = pool.allocate(2 * mebi, second); }));
  if (!roc::test::gate::holds()) {
    EXPECT_EQ(of_first, of_second);
  }
  pool.deallocate(of_second, 2 * mebi, second);
}

TEST_F(Pool, MemoryOfABusyStreamIsLeftAlone) {
  if (!roc::test::gate::holds()) GTEST_SKIP() << "in mode inline no work is ever pending";
  roc::test::gate gate;
  roc::stream const busy;
  roc::stream const other;
  gate.close(busy);
  roc::device_array<char> array({3000}, pool, roc::order::c, busy);
  array.fill(1, busy);
  char* const data = array.data();
  array = {};
  roc::device_array<char> const next({3000}, pool, roc::order::c, other);
  EXPECT_NE(data, next.data());
  roc::device_array<char> const same({3000}, pool, roc::order::c, busy);
  EXPECT_EQ(data, same.data());
}

TEST_F(Pool, LargeBlocksAreJoined) {
  roc::pool_resource small(direct, {.limit = 8 * mebi, .chunk_bytes = 8 * mebi});
  void* const whole = small.allocate(8 * mebi);
  small.deallocate(whole, 8 * mebi);
  std::vector<void*> parts;
  for (int i = 0; i < 4; ++i) parts.push_back(small.allocate(2 * mebi));
  EXPECT_EQ(0u, small.statistics().free_bytes);
  for (void* const part : parts) small.deallocate(part, 2 * mebi);
  void* const again = small.allocate(8 * mebi);  // nothing else would fit
  EXPECT_EQ(whole, again);
  small.deallocate(again, 8 * mebi);
  for (int i = 0; i < 8; ++i) parts.push_back(small.allocate(700'000));
  for (std::size_t i = 4; i < parts.size(); ++i) small.deallocate(parts[i], 700'000);
  small.deallocate(small.allocate(8 * mebi), 8 * mebi);
}

TEST_F(Pool, BestFitKeepsTheLargestFree) {
  roc::pool_resource one(direct, {.limit = 16 * mebi, .chunk_bytes = 16 * mebi});
  one.deallocate(one.allocate(16 * mebi), 16 * mebi);
  void* const a = one.allocate(3 * mebi);
  void* const b = one.allocate(2 * mebi);
  void* const c = one.allocate(2 * mebi);
  one.deallocate(a, 3 * mebi);
  one.trim();
  EXPECT_EQ(a, one.allocate(3 * mebi));
  EXPECT_EQ(9 * mebi, one.statistics().largest_free_bytes);
  EXPECT_EQ(0.0, one.statistics().fragmentation());
  one.deallocate(b, 2 * mebi);
  EXPECT_NEAR(2.0 / 11, one.statistics().fragmentation(), 1e-9);
  one.deallocate(a, 3 * mebi);
  one.deallocate(c, 2 * mebi);
}

TEST_F(Pool, ShortOfMemoryItWaitsAndTrimsBeforeItThrows) {
  roc::pool_resource tight(direct, {.limit = 4 * mebi, .chunk_bytes = 4 * mebi});
  roc::stream const first;
  roc::stream const second;
  roc::device_array<char> array({3 * mebi}, tight, roc::order::c, first);
  array.fill(1, first);
  array = {};
  // Only the same memory is there: it waits for the fill.
  roc::device_array<char> const next({3 * mebi}, tight, roc::order::c, second);
  EXPECT_TRUE(first.query());
  try {
    roc::device_array<char> const more({3 * mebi}, tight);
    FAIL();
  } catch (roc::out_of_memory const& error) {
    std::string const text = error.what();
    for (char const* part : {"3145728 bytes", "in use 3145728 bytes in 1 blocks", "largest free",
                             "reserved", "limit is 4194304 bytes", "free arrays"}) {
      EXPECT_NE(std::string::npos, text.find(part)) << part << " in " << text;
    }
    EXPECT_EQ(std::errc::not_enough_memory, error.code());
  }
}

TEST_F(Pool, WhatTheDriverRefusedIsSaidWithOneAdvice) {
  try {
    static_cast<void>(pool.allocate(std::size_t{1} << 50));
    FAIL();
  } catch (roc::out_of_memory const& error) {
    std::string const text = error.what();
    EXPECT_NE(std::string::npos, text.find("hipMalloc failed")) << text;
    std::string const advice = "free arrays";
    EXPECT_NE(std::string::npos, text.find(advice)) << text;
    EXPECT_EQ(text.find(advice), text.rfind(advice)) << text;
  }
}

TEST_F(Pool, TrimGivesBackWhatIsIdle) {
  roc::statistics_resource_adaptor counted_upstream(direct);
  roc::pool_resource trimmed(counted_upstream);
  for (std::size_t const bytes : {500ul, 70'000ul, 5 * mebi, 90 * mebi}) {
    void* const data = trimmed.allocate(bytes);
    trimmed.deallocate(data, bytes);
  }
  EXPECT_NE(0u, counted_upstream.statistics().current_bytes);
  trimmed.trim();  // waits for nothing: what it marks has to be reached
  roc::device().synchronize();
  trimmed.trim();
  EXPECT_EQ(0u, trimmed.statistics().reserved_bytes);
  EXPECT_EQ(0u, counted_upstream.statistics().current_bytes);
}

TEST_F(Pool, ALimitBelowWhatIsHeldStopsGrowth) {
  void* const held = pool.allocate(5 * mebi);
  pool.set_limit(mebi);
  EXPECT_EQ(mebi, pool.limit());
  EXPECT_THROW(static_cast<void>(pool.allocate(5 * mebi)), roc::out_of_memory);
  pool.deallocate(held, 5 * mebi);
  void* const again = pool.allocate(5 * mebi);  // what is held may be used
  pool.deallocate(again, 5 * mebi);
  pool.set_limit(SIZE_MAX);
  void* const more = pool.allocate(20 * mebi);
  EXPECT_NE(nullptr, more);
  pool.deallocate(more, 20 * mebi);
}

TEST_F(Pool, CountsCurrentAndPeak) {
  auto const now = [&] { return pool.statistics(); };
  EXPECT_EQ(0u, now().peak_bytes);
  void* const a = pool.allocate(1000);
  void* const b = pool.allocate(3 * mebi);
  EXPECT_EQ(1024 + 3 * mebi, now().current_bytes);
  EXPECT_EQ(2u, now().current_blocks);
  pool.deallocate(b, 3 * mebi);
  EXPECT_EQ(1024u, now().current_bytes);
  EXPECT_EQ(1024 + 3 * mebi, now().peak_bytes);
  pool.deallocate(a, 1000);
  EXPECT_EQ(0u, now().current_bytes);
  EXPECT_EQ(0u, now().current_blocks);
  EXPECT_EQ(2u, now().allocations);
  EXPECT_EQ(now().reserved_bytes, now().free_bytes);
  pool.deallocate(pool.allocate(1000), 1000);
  EXPECT_EQ(1024 + 3 * mebi, now().peak_bytes);
  EXPECT_EQ(3u, now().allocations);
}

TEST_F(Pool, DoubleFreeAndForeignMemoryAreReported) {
  log_capture const capture;
  roc::pool_resource other(direct);
  void* const data = pool.allocate(1000);
  void* const large = pool.allocate(3 * mebi);
  pool.deallocate(data, 5000);
  ASSERT_EQ(1u, logged.size());
  EXPECT_NE(std::string::npos, logged[0].find("with the bytes it was asked with")) << logged[0];
  pool.deallocate(data, 1000);
  pool.deallocate(large, 3 * mebi);
  ASSERT_EQ(1u, logged.size());
  pool.deallocate(data, 1000);
  pool.deallocate(large, 3 * mebi);
  ASSERT_EQ(3u, logged.size());
  EXPECT_NE(std::string::npos, logged[1].find("given back before")) << logged[1];
  EXPECT_NE(std::string::npos, logged[2].find("given back before")) << logged[2];
  int host = 0;
  pool.deallocate(&host, 4);
  void* const again = pool.allocate(1000);
  pool.deallocate(static_cast<char*>(again) + 16, 16);
  other.deallocate(again, 1000);
  ASSERT_EQ(6u, logged.size());
  for (int i = 3; i < 6; ++i) {
    EXPECT_NE(std::string::npos, logged[static_cast<std::size_t>(i)].find("no block of this pool"));
  }
  pool.deallocate(again, 1000);
  EXPECT_EQ(6u, logged.size());
  EXPECT_EQ(0u, pool.statistics().current_blocks);
}

TEST_F(Pool, AnArrayMayOutliveItsPool) {
  log_capture const capture;
  roc::device_array<int> array;
  {
    roc::pool_resource brief(direct);
    array = roc::device_array<int>({1000}, brief);
    array.fill(3);
  }
  ASSERT_EQ(1u, logged.size());
  EXPECT_NE(std::string::npos, logged[0].find("in use")) << logged[0];
  EXPECT_EQ(3, array(999).get());
  array = {};
  ASSERT_EQ(2u, logged.size());
  EXPECT_NE(std::string::npos, logged[1].find("outlived its memory resource")) << logged[1];
}

TEST_F(Pool, PoolsMayStandOnEachOther) {
  log_capture const capture;
  {
    roc::pool_resource upper(static_cast<roc::memory_resource&>(pool));
    void* const a = upper.allocate(1000);
    void* const b = pool.allocate(1000);
    void* const c = upper.allocate(9 * mebi);
    upper.deallocate(a, 1000);
    upper.deallocate(c, 9 * mebi);
    pool.deallocate(b, 1000);
  }
  EXPECT_TRUE(logged.empty()) << logged[0];
  EXPECT_EQ(0u, pool.statistics().current_blocks);
}

TEST_F(Pool, OneBelowAnotherStillKnowsWhoUsesItsBlocks) {
  using array = roc::device_array<unsigned char>;
  roc::stream const own;
  roc::stream const other;
  roc::pool_resource lower(direct, {.limit = 16 * mebi, .chunk_bytes = 16 * mebi});
  lower.deallocate(lower.allocate(16 * mebi, own), 16 * mebi, own);
  // Not at multiples of 2 MiB, by which addresses are looked up.
  void* const first = lower.allocate(mebi + 65536, own);
  void* const place = lower.allocate(2 * mebi, own);
  array gone({3 * mebi}, lower, roc::order::c, own);
  lower.deallocate(place, 2 * mebi, own);
  roc::device().synchronize();
  lower.trim();
  roc::pool_resource upper(static_cast<roc::memory_resource&>(lower));
  void* const inner = upper.allocate(1000, own);
  ASSERT_EQ(inner, place);
  gone.fill(1, other);
  gone = {};
  array const next({3 * mebi}, lower, roc::order::c, own);
  next.fill(2, own);
  own.synchronize();
  other.synchronize();
  std::vector<unsigned char> got(3 * mebi);
  next.copy_to_host(got);
  EXPECT_EQ(std::vector<unsigned char>(3 * mebi, 2), got);
  upper.deallocate(inner, 1000, own);
  lower.deallocate(first, mebi + 65536, own);
}

// What the lower one hands out may still be in use by earlier work.
TEST_F(Pool, OneOnAnotherWaitsForWhatIsPendingThere) {
  using array = roc::device_array<unsigned char>;
  for (bool const foreign : {false, true}) {
    roc::test::gate gate;
    roc::stream const apart(roc::non_blocking);
    auto const on = foreign ? roc::from_native(roc::native(apart)) : roc::stream_ref(apart);
    roc::pool_resource lower(direct, {.limit = 4 * mebi, .chunk_bytes = 4 * mebi});
    roc::pool_resource upper(static_cast<roc::memory_resource&>(lower));
    {
      array const gone({4 * mebi}, lower);
      for (int i = 0; i < 20; ++i) gone.fill(1, roc::stream_ref());
    }
    array const next({mebi}, upper, roc::order::c, on);
    next.fill(2, on);
    apart.synchronize();
    roc::device().synchronize();
    std::vector<unsigned char> got(mebi);
    next.copy_to_host(got);
    EXPECT_EQ(std::vector<unsigned char>(mebi, 2), got);
  }
}

TEST_F(Pool, ChunksMayBeOfAnySize) {
  log_capture const capture;
  roc::pool_resource odd(direct, {.chunk_bytes = 3 * mebi + 100});
  void* const large = odd.allocate(8 * mebi);
  auto* const data = static_cast<char*>(odd.allocate(mebi));
  EXPECT_EQ(0u, odd.statistics().reserved_bytes % (1 << 16));
  // Where the odd bytes would be.
  EXPECT_EQ(nullptr, roc::memory::find_record(data + 3 * mebi + 50));
  odd.deallocate(data, mebi);
  odd.deallocate(large, 8 * mebi);
}

TEST_F(Pool, AThreadThatEndsLeavesItsBlocks) {
  std::set<void*> of_thread;
  roc::stream const stream;
  std::thread([&] {
    std::vector<void*> blocks;
    for (int i = 0; i < 8; ++i) blocks.push_back(pool.allocate(100'000, stream));
    for (void* const each : blocks) {
      of_thread.insert(each);
      pool.deallocate(each, 100'000, stream);
    }
  }).join();
  std::vector<void*> mine;
  for (int i = 0; i < 8; ++i) mine.push_back(pool.allocate(100'000, stream));
  EXPECT_EQ(of_thread, std::set<void*>(mine.begin(), mine.end()));
  for (void* const each : mine) pool.deallocate(each, 100'000, stream);
}

#if ROCARRAY_PLATFORM_HOST && defined(ROCARRAY_HAS_ADDRESS_SANITIZER)
TEST_F(Pool, FreeMemoryIsClosedToTheSanitizer) {
  auto* const data = static_cast<char*>(pool.allocate(3 * mebi));
  EXPECT_EQ(0, __asan_address_is_poisoned(data + 3 * mebi - 1));
  auto* const odd = static_cast<char*>(pool.allocate(1000));
  EXPECT_EQ(0, __asan_address_is_poisoned(odd + 999));
  EXPECT_NE(0, __asan_address_is_poisoned(odd + 1000));
  pool.deallocate(data, 3 * mebi);
  roc::device().synchronize();
  void* const other = pool.allocate(100 * mebi);  // the free block is found idle on the way
  EXPECT_NE(0, __asan_address_is_poisoned(data));
  pool.deallocate(other, 100 * mebi);
  pool.deallocate(odd, 1000);
}
#endif

TEST_F(Pool, ManySizesStayWithinTheirClasses) {
  std::size_t bytes = 1;
  while (bytes < 4 * mebi) {
    void* const data = pool.allocate(bytes);
    std::size_t const used = pool.statistics().current_bytes;
    EXPECT_GE(used, bytes);
    EXPECT_LE(used, std::max<std::size_t>(256 + bytes, bytes + bytes / 4)) << bytes;
    pool.deallocate(data, bytes);
    bytes += 1 + bytes / 7;
  }
}

}  // namespace
