// SPDX-License-Identifier: MIT
// pool_resource: reuse of memory, shortage of memory, statistics, invalid arguments.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <roc/native.hpp>

#include "memory/debug/address_sanitizer.hpp"
#include "memory/device/allocation_map.hpp"
#include "platform/call.hpp"
#include "support/environment.hpp"
#include "support/gate.hpp"
#include "support/trim.hpp"

namespace {

constexpr std::size_t mebi = std::size_t{1} << 20;

std::vector<std::string> logged;

struct log_capture {
  log_capture() {
    logged.clear();
    previous_hook = roc::set_log_hook([](char const* line) noexcept { logged.emplace_back(line); });
  }
  ~log_capture() { roc::set_log_hook(previous_hook); }
  roc::log_hook previous_hook;
};

// Threads that the library has just started call HIP too.
thread_local unsigned calls = 0;
std::string counted_call;

// Returns how often `f` calls the HIP function `name`, or any HIP function if `name` is empty, in
// the calling thread.
template <class F>
unsigned count_calls(char const* name, F f) {
  calls = 0;
  counted_call = name;
  auto const previous_hook =
      roc::platform::set_call_hook([](roc::platform::call_record const& record) {
        if (counted_call.empty() || record.name == counted_call) ++calls;
      });
  f();
  roc::platform::set_call_hook(previous_hook);
  return calls;
}

class PoolResource : public testing::Test {
 protected:
  roc::hip_memory_resource hip_resource;
  roc::pool_resource pool{hip_resource};
};

TEST_F(PoolResource, ReusesMemoryOnTheSameStreamWithoutCallingHip) {
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

TEST_F(PoolResource, RecordsEventsOnlyIfMemoryMovesBetweenStreams) {
  roc::stream const first;
  roc::stream const second;
  void* small = nullptr;
  auto const events = count_calls("hipEventRecord", [&] {
    for (int i = 0; i < 100; ++i) {
      roc::device_array<char> const array({5000}, pool, roc::order::c, first);
      array.fill(1, first);
      if (i == 0) small = array.data();
      EXPECT_EQ(small, array.data());
    }
  });
  EXPECT_EQ(0u, events);

  // A pool of one block, so that the other stream gets the memory.
  roc::pool_resource one_block(hip_resource, {.limit = 2 * mebi, .slab_bytes = 2 * mebi});
  auto const use = [&](roc::stream const& stream) {
    roc::device_array<char> const array({2 * mebi}, one_block, roc::order::c, stream);
    array.fill(1, stream);
    return array.data();
  };
  char* const of_first = use(first);
  char* of_second = nullptr;
  EXPECT_EQ(0u, count_calls("hipEventRecord", [&] { EXPECT_EQ(of_first, use(first)); }));
  auto const recorded = count_calls("hipEventRecord", [&] { of_second = use(second); });
  EXPECT_LE(recorded, 1u);  // 0 if the fill has been done
  if (roc::test::run_mode() == roc::test::mode::deferred) {
    EXPECT_EQ(1u, recorded);
  }
  EXPECT_EQ(of_first, of_second);
}

TEST_F(PoolResource, DoesNotReuseMemoryOfABusyStreamOnAnotherStream) {
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

TEST_F(PoolResource, MovedFromStreamIsNotTheDefaultStream) {
  pool.deallocate(pool.allocate(1000), 1000);
  roc::stream moved;
  roc::stream const stream(std::move(moved));
  EXPECT_THROW(static_cast<void>(pool.allocate(1000, moved)), roc::lifetime_error);
}

// The caller of deallocate does not know the work that used the memory before.
TEST_F(PoolResource, PriorWorkIsAwaitedAfterDeallocationOnAnotherStream) {
  constexpr std::size_t bytes = 2 * mebi;
  roc::stream const stream;
  roc::stream const other{roc::non_blocking};
  void* const memory = pool.allocate(bytes);
  roc::test::gate gate;
  gate.close({});
  pool.deallocate(memory, bytes);
  EXPECT_EQ(memory, pool.allocate(bytes));
  pool.deallocate(memory, bytes, stream);
  pool.deallocate(pool.allocate(128 * mebi, other), 128 * mebi, other);  // looks for idle memory
  void* const taken = pool.allocate(bytes, other);
  EXPECT_NE(memory, taken);
  gate.open();
  pool.deallocate(taken, bytes, other);
}

// Events of the uses are recorded when the memory is deallocated, not when it is needed again.
TEST_F(PoolResource, ReusesMemoryAlthoughItsUserHasLaterWork) {
  if (roc::test::run_mode() != roc::test::mode::threaded || !roc::test::gate::holds()) {
    GTEST_SKIP() << "in the other modes nothing holds back later work";
  }
  roc::test::gate gate;
  roc::stream const owner;
  roc::stream const user;
  constexpr std::size_t bytes = 8 * mebi;
  roc::device_array<char> array({bytes}, pool, roc::order::c, owner);
  array.fill(1, user);
  char* const data = array.data();
  array = {};
  roc::event done;
  done.record(user);
  gate.close(user);
  done.synchronize();
  roc::device_array<char> const next({bytes}, pool, roc::order::c, owner);
  EXPECT_EQ(data, next.data());
}

// The stream may still write the memory that another thread deallocated on it.
TEST_F(PoolResource, MemoryFromCacheOfAnotherThreadIsUsedInOrder) {
  if (!roc::test::gate::holds()) GTEST_SKIP() << "in mode inline no work is ever pending";
  constexpr std::size_t bytes = 4096;
  roc::pool_resource full(hip_resource, {.limit = 2 * mebi, .slab_bytes = 2 * mebi});
  roc::test::gate gate;
  roc::stream const busy;
  roc::stream const other;
  std::promise<char*> deallocated;
  std::promise<void> may_end;
  std::thread thread([&] {
    std::vector<roc::device_array<char>> all;
    try {
      for (;;) all.emplace_back(roc::shape<1>{bytes}, full, roc::order::c, busy);
    } catch (roc::out_of_memory const&) {
    }
    gate.close(busy);
    all.back().fill(1, busy);
    char* const data = all.back().data();
    all.pop_back();
    deallocated.set_value(data);
    may_end.get_future().wait();
  });
  char* const data = deallocated.get_future().get();
  {
    roc::device_array<char> const next({bytes}, full, roc::order::c, busy);
    EXPECT_EQ(data, next.data());
    next.fill(2, other);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // a fill that does not wait ends
    gate.open();
    other.synchronize();
    busy.synchronize();
    EXPECT_EQ(2, next(0).get());
  }
  may_end.set_value();
  thread.join();
}

// A blocking stream may take memory that pending work of the default stream uses, because it waits
// for that work. It must stay pending for other streams, also after the end of that stream.
class PoolResourceAfterTheEndOfAStream : public PoolResource {
 protected:
  static constexpr std::size_t bytes = 8 * mebi;

  // Frees `memory` on the default stream while a gate is closed there.
  PoolResourceAfterTheEndOfAStream() : memory(pool.allocate(bytes)) {
    gate.close({});
    pool.deallocate(memory, bytes);
  }

  // Makes the pool look for memory that it does not have, and forget streams that have ended.
  void search() {
    searched_bytes += bytes;
    pool.deallocate(pool.allocate(searched_bytes, other), searched_bytes, other);
  }
  void expect_pending() {
    search();
    roc::device_array<char> const taken({bytes}, pool, roc::order::c, other);
    EXPECT_NE(memory, taken.data());
  }

  roc::test::gate gate;
  roc::stream const other{roc::non_blocking};
  void* const memory;
  std::size_t searched_bytes = bytes;
};

TEST_F(PoolResourceAfterTheEndOfAStream, MemoryThatItDeallocatedIsPending) {
  {
    roc::stream const stream;
    void* const taken = pool.allocate(bytes, stream);
    EXPECT_EQ(memory, taken);
    pool.deallocate(taken, bytes, stream);
  }
  std::vector<roc::stream> const later(20);  // one may get the native stream
  expect_pending();
}

TEST_F(PoolResourceAfterTheEndOfAStream, MemoryOfItsArrayIsPending) {
  std::optional<roc::stream> stream(std::in_place);
  roc::device_array<char> array({bytes}, pool, roc::order::c, *stream);
  EXPECT_EQ(memory, array.data());
  stream.reset();
  std::vector<roc::stream> const later(20);
  search();
  array = {};
  expect_pending();
}

TEST_F(PoolResourceAfterTheEndOfAStream, UseOfItsArrayIsOrderedAfterTheDefaultStream) {
  std::optional<roc::stream> stream(std::in_place);
  roc::device_array<char> const array({bytes}, pool, roc::order::c, *stream);
  EXPECT_EQ(memory, array.data());
  stream.reset();
  std::vector<roc::stream> const later(20);
  array.fill(1, other);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(other.query());
  gate.open();
  other.synchronize();
}

#if defined(__GLIBC__)
TEST_F(PoolResource, ForgetsStreamsThatHaveEnded) {
  auto const use_streams = [&](int count) {
    for (int i = 0; i != count; ++i) {
      {
        roc::stream const stream;
        roc::device_array<char> const array({3000}, pool, roc::order::c, stream);
      }
      roc::device().synchronize();
    }
  };
  use_streams(100);
  std::size_t const before = mallinfo2().uordblks;
  if (before == 0) GTEST_SKIP() << "a sanitizer replaces malloc, which then counts nothing";
  use_streams(3000);
  EXPECT_LT(mallinfo2().uordblks, before + mebi);
}
#endif

TEST_F(PoolResource, CountsTheBytesOfSmallPendingBlocks) {
  roc::stream const stream;
  std::vector<void*> blocks;
  for (int i = 0; i != 100; ++i) blocks.push_back(pool.allocate(3000, stream));
  for (void* const block : blocks) pool.deallocate(block, 3000, stream);
  EXPECT_GE(pool.statistics().pending_bytes, 100'000u);  // the cache of this thread keeps the rest
  EXPECT_LE(pool.statistics().pending_bytes, pool.statistics().free_bytes);
  stream.synchronize();
  roc::test::trim_to(pool, 0);
  EXPECT_EQ(0u, pool.statistics().pending_bytes);
}

TEST_F(PoolResource, CountsPendingMemoryThatWasDeallocatedBeforeAndAfterAnEvent) {
  if (!roc::test::gate::holds()) GTEST_SKIP() << "in mode inline no work is ever pending";
  roc::pool_resource full(hip_resource, {.slab_bytes = 2 * mebi});  // each allocation fills a slab
  roc::test::gate gate;
  roc::stream const busy;
  roc::stream const other;
  void* const first = full.allocate(2 * mebi, busy);
  void* const second = full.allocate(6 * mebi, busy);
  roc::device_array<char> const array({3000}, pool, roc::order::c, busy);
  gate.close(busy);
  for (int i = 0; i < 100; ++i) array.fill(1, busy);  // on the CPU a query may run one of them
  full.deallocate(first, 2 * mebi, busy);
  void* third = nullptr;
  EXPECT_EQ(1u, count_calls("hipEventRecord", [&] { third = full.allocate(2 * mebi, other); }));
  EXPECT_NE(first, third);
  full.deallocate(second, 6 * mebi, busy);
  EXPECT_EQ(8 * mebi, full.statistics().pending_bytes);
  full.deallocate(third, 2 * mebi, other);
}

TEST_F(PoolResource, LargePendingMemoryThatIsAllocatedAgainIsNotPending) {
  roc::stream const stream;
  constexpr std::size_t bytes = 8 * mebi;
  void* const first = pool.allocate(bytes, stream);
  std::size_t const before = pool.statistics().pending_bytes;
  for (int i = 0; i != 3; ++i) {
    pool.deallocate(first, bytes, stream);
    EXPECT_EQ(before + bytes, pool.statistics().pending_bytes);
    EXPECT_EQ(first, pool.allocate(bytes, stream));
    EXPECT_EQ(before, pool.statistics().pending_bytes);
  }
  pool.deallocate(first, bytes, stream);
}

TEST_F(PoolResource, MergesAdjacentFreeSpans) {
  roc::pool_resource small(hip_resource, {.limit = 8 * mebi, .slab_bytes = 8 * mebi});
  void* const whole = small.allocate(8 * mebi);
  small.deallocate(whole, 8 * mebi);
  std::vector<void*> blocks;
  for (int i = 0; i < 4; ++i) blocks.push_back(small.allocate(2 * mebi));
  EXPECT_EQ(0u, small.statistics().free_bytes);
  for (void* const block : blocks) small.deallocate(block, 2 * mebi);
  void* const again = small.allocate(8 * mebi);  // fits only if all blocks were merged
  EXPECT_EQ(whole, again);
  small.deallocate(again, 8 * mebi);
  for (int i = 0; i < 8; ++i) blocks.push_back(small.allocate(700'000));
  for (std::size_t i = 4; i < blocks.size(); ++i) small.deallocate(blocks[i], 700'000);
  small.deallocate(small.allocate(8 * mebi), 8 * mebi);
}

TEST_F(PoolResource, TakesTheBestFittingSpan) {
  roc::pool_resource limited(hip_resource, {.limit = 16 * mebi, .slab_bytes = 16 * mebi});
  limited.deallocate(limited.allocate(16 * mebi), 16 * mebi);
  void* const a = limited.allocate(3 * mebi);
  void* const b = limited.allocate(2 * mebi);
  void* const c = limited.allocate(2 * mebi);
  limited.deallocate(a, 3 * mebi);
  limited.trim();
  EXPECT_EQ(a, limited.allocate(3 * mebi));
  EXPECT_EQ(9 * mebi, limited.statistics().largest_free_bytes);
  EXPECT_EQ(0.0, limited.statistics().fragmentation());
  void* const rest = limited.allocate(9 * mebi);
  EXPECT_EQ(0u, limited.statistics().largest_free_bytes);
  limited.deallocate(rest, 9 * mebi);
  limited.deallocate(b, 2 * mebi);
  EXPECT_NEAR(2.0 / 11, limited.statistics().fragmentation(), 1e-9);
  limited.deallocate(a, 3 * mebi);
  limited.deallocate(c, 2 * mebi);
}

// Idle memory is preferred to dividing a span of the stream that is larger than that.
TEST_F(PoolResource, SpanOfTheStreamMayBeAQuarterLargerThanRequested) {
  roc::pool_resource one_slab(hip_resource, {.limit = 64 * mebi, .slab_bytes = 64 * mebi});
  one_slab.deallocate(one_slab.allocate(64 * mebi), 64 * mebi);
  void* const in_use = one_slab.allocate(2 * mebi);
  roc::stream const stream;
  for (std::size_t const bytes : {5 * mebi, 6 * mebi}) {
    roc::device().synchronize();
    one_slab.trim();  // all other memory is idle
    void* const span = one_slab.allocate(bytes, stream);
    one_slab.deallocate(span, bytes, stream);
    void* const taken = one_slab.allocate(4 * mebi, stream);
    EXPECT_EQ(bytes == 5 * mebi, span == taken);
    one_slab.deallocate(taken, 4 * mebi, stream);
  }
  one_slab.deallocate(in_use, 2 * mebi);
}

TEST_F(PoolResource, WaitsForPendingWorkBeforeItThrowsOutOfMemory) {
  roc::pool_resource tight(hip_resource, {.limit = 4 * mebi, .slab_bytes = 4 * mebi});
  roc::stream const first;
  roc::stream const second;
  roc::device_array<char> array({3 * mebi}, tight, roc::order::c, first);
  array.fill(1, first);
  array = {};
  // The pool has no other memory, so that it waits for the fill.
  roc::device_array<char> const next({3 * mebi}, tight, roc::order::c, second);
  EXPECT_TRUE(first.query());
  try {
    roc::device_array<char> const more({3 * mebi}, tight);
    FAIL();
  } catch (roc::out_of_memory const& error) {
    std::string const text = error.what();
    for (char const* part : {"cannot allocate 3 MiB", "in use 3 MiB in 1 blocks", "largest free",
                             "reserved", "limit is 4 MiB", "free arrays"}) {
      EXPECT_NE(std::string::npos, text.find(part)) << part << " in " << text;
    }
    EXPECT_EQ(std::errc::not_enough_memory, error.code());
  }
}

TEST_F(PoolResource, OutOfMemoryMessageNamesTheFailedCallAndGivesAdviceOnce) {
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

// Memory of all kinds of streams, of streams that were destroyed, and used by other streams.
TEST_F(PoolResource, TrimFreesAllMemoryThatIsNotInUseOnceTheDeviceIsIdle) {
  using array = roc::device_array<unsigned char>;
  roc::pool_resource trimmed(hip_resource, {.slab_bytes = 2 * mebi});
  roc::stream const blocking;
  roc::stream const non_blocking(roc::non_blocking);
  roc::stream const owner_of_foreign;
  array in_use;
  for (int round = 0; round < 3; ++round) {
    roc::stream const short_lived;
    for (roc::stream_ref const stream :
         {roc::stream_ref(), roc::stream_ref(blocking), roc::stream_ref(non_blocking),
          roc::stream_ref(short_lived), roc::per_thread_stream(),
          roc::from_native(roc::native(owner_of_foreign))}) {
      for (std::size_t const bytes : {500ul, 70'000ul, 5 * mebi}) {
        array const a({bytes}, trimmed, roc::order::c, stream);
        // Different bytes, because the streams are not ordered with each other.
        a(0).fill(1, stream);
        a(1).fill(2, blocking);
        a(2).fill(3, short_lived);
      }
      std::thread([&] {
        array const small({2000}, trimmed, roc::order::c, stream);
        small.fill(1, stream);
      }).join();
    }
    if (round == 1) in_use = array({3 * mebi}, trimmed, roc::order::c, non_blocking);
  }
  roc::device().synchronize();
  trimmed.trim();
  auto const statistics = trimmed.statistics();
  EXPECT_EQ(statistics.current_bytes, 3 * mebi);
  EXPECT_LE(statistics.reserved_bytes, 8 * mebi);  // the slab of the array
  in_use = {};
  roc::device().synchronize();
  trimmed.trim();
  EXPECT_EQ(0u, trimmed.statistics().reserved_bytes);
}

// A busy machine may reach an event later than the trim waits for it.
TEST_F(PoolResource, TrimRecordsNoEventsIfTheDeviceIsIdle) {
  roc::stream const blocking;
  roc::stream const non_blocking(roc::non_blocking);
  {
    roc::stream const ended;
    for (roc::stream_ref const stream :
         {roc::stream_ref(), roc::stream_ref(blocking), roc::stream_ref(non_blocking),
          roc::stream_ref(ended), roc::stream_ref(blocking)}) {
      pool.deallocate(pool.allocate(3 * mebi, stream), 3 * mebi, stream);
    }
  }
  roc::device().synchronize();
  EXPECT_EQ(0u, count_calls("hipEventRecord", [&] { pool.trim(); }));
  EXPECT_EQ(0u, pool.statistics().reserved_bytes);
}

TEST_F(PoolResource, TrimDoesNotBlockOnPendingWork) {
  if (!roc::test::gate::holds()) GTEST_SKIP() << "in mode inline no work is ever pending";
  roc::test::gate gate;
  roc::stream const busy;
  gate.close(busy);
  {
    roc::device_array<char> const freed({3 * mebi}, pool, roc::order::c, busy);
    // On the CPU a query may run one of them; a GPU blocks the call if too many are pending.
    int const pending = roc::test::on_cpu() ? 20'000 : 100;
    for (int i = 0; i < pending; ++i) freed(0).fill(1, busy);
  }
  pool.trim();
  EXPECT_FALSE(busy.query());
  EXPECT_NE(0u, pool.statistics().reserved_bytes);
}

// On AMD the query of the default stream enqueues work that waits for all blocking streams.
TEST_F(PoolResource, NeitherQueriesTheDefaultStreamNorRecordsEventsThereToGrow) {
  std::vector<void*> blocks;
  unsigned records = 0;
  auto const queries = count_calls("hipStreamQuery", [&] {
    for (std::size_t bytes = 1000; bytes < 40 * mebi; bytes *= 2) {
      for (int i = 0; i < 3; ++i) blocks.push_back(pool.allocate(bytes));
      for (void* const block : blocks) pool.deallocate(block, bytes);
      blocks.clear();
    }
  });
  EXPECT_EQ(0u, queries);
  records = count_calls("hipEventRecord", [&] { pool.deallocate(pool.allocate(mebi), mebi); });
  EXPECT_EQ(0u, records);
}

// The default stream is not queried, so that only an event tells that its memory is idle.
TEST_F(PoolResource, TakesIdleMemoryOfTheDefaultStreamBeforeItGrows) {
  roc::pool_resource two_blocks(hip_resource, {.limit = 4 * mebi, .slab_bytes = 2 * mebi});
  void* const first = two_blocks.allocate(2 * mebi);
  two_blocks.deallocate(first, 2 * mebi);
  roc::stream const stream(roc::non_blocking);
  void* second = nullptr;
  EXPECT_EQ(1u,
            count_calls("hipEventRecord", [&] { second = two_blocks.allocate(2 * mebi, stream); }));
  if (roc::test::run_mode() == roc::test::mode::deferred) {  // the query executes the event
    EXPECT_EQ(first, second);
    EXPECT_EQ(2 * mebi, two_blocks.statistics().reserved_bytes);
  }
  two_blocks.deallocate(second, 2 * mebi, stream);
}

TEST_F(PoolResource, MergesFreeMemoryOfOneStreamBeforeItGrows) {
  void* const whole = pool.allocate(8 * mebi);
  pool.deallocate(whole, 8 * mebi);
  std::vector<void*> blocks;
  for (int i = 0; i < 4; ++i) blocks.push_back(pool.allocate(2 * mebi));
  for (void* const block : blocks) pool.deallocate(block, 2 * mebi);
  std::size_t const reserved = pool.statistics().reserved_bytes;
  void* again = nullptr;
  EXPECT_EQ(0u, count_calls("", [&] { again = pool.allocate(8 * mebi); }));
  EXPECT_EQ(reserved, pool.statistics().reserved_bytes);
  pool.deallocate(again, 8 * mebi);
}

// Each call fails once: while the blocks are freed, or in the allocation after.
TEST_F(PoolResource, LosesNoMemoryIfACallFails) {
  using array = roc::device_array<unsigned char>;
  log_capture const capture;
  roc::stream const streams[3];
  for (char const* const name : {"hipEventCreateWithFlags", "hipEventRecord", "hipEventQuery",
                                 "hipStreamQuery", "hipStreamWaitEvent", "hipMalloc"}) {
    for (unsigned nth = 1; nth <= 8; ++nth) {
      std::vector<array> arrays;
      for (std::size_t const bytes : {3000ul, 3000ul, 3 * mebi, 5 * mebi}) {
        arrays.emplace_back(roc::shape<1>{bytes}, pool, roc::order::c, streams[0]);
        // Different bytes, because the streams are not ordered with each other.
        for (int i = 0; i < 3; ++i) arrays.back()(i).fill(1, streams[i]);
      }
      ASSERT_TRUE(roc::platform::fail_call(name, nth, hipErrorLaunchFailure));
      arrays.clear();
      try {
        array const next({12 * mebi}, pool, roc::order::c, streams[1]);
      } catch (roc::error const& error) {
        EXPECT_STREQ(name, error.call());
      }
      roc::platform::clear_failures();
      roc::device().synchronize();
      roc::test::trim_to(pool, 0);
      EXPECT_EQ(0u, pool.statistics().reserved_bytes) << name << " " << nth;
    }
  }
}

TEST_F(PoolResource, TrimGivesIdleMemoryBack) {
  roc::statistics_resource_adaptor counted_upstream(hip_resource);
  roc::pool_resource trimmed(counted_upstream);
  for (std::size_t const bytes : {500ul, 70'000ul, 5 * mebi, 90 * mebi}) {
    void* const data = trimmed.allocate(bytes);
    trimmed.deallocate(data, bytes);
  }
  EXPECT_NE(0u, counted_upstream.statistics().current_bytes);
  roc::device().synchronize();
  trimmed.trim();
  EXPECT_EQ(0u, trimmed.statistics().reserved_bytes);
  EXPECT_EQ(0u, counted_upstream.statistics().current_bytes);
}

TEST_F(PoolResource, LimitBelowReservedBytesStopsGrowth) {
  void* const live_block = pool.allocate(5 * mebi);
  pool.set_limit(mebi);
  EXPECT_EQ(mebi, pool.limit());
  EXPECT_THROW(static_cast<void>(pool.allocate(5 * mebi)), roc::out_of_memory);
  pool.deallocate(live_block, 5 * mebi);
  void* const again = pool.allocate(5 * mebi);  // reserved memory may still be used
  pool.deallocate(again, 5 * mebi);
  pool.set_limit(SIZE_MAX);
  void* const more = pool.allocate(20 * mebi);
  EXPECT_NE(nullptr, more);
  pool.deallocate(more, 20 * mebi);
}

TEST_F(PoolResource, StatisticsCountCurrentAndPeak) {
  auto const statistics = [&] { return pool.statistics(); };
  EXPECT_EQ(0u, statistics().peak_bytes);
  void* const a = pool.allocate(1000);
  void* const b = pool.allocate(3 * mebi);
  EXPECT_EQ(1024 + 3 * mebi, statistics().current_bytes);
  EXPECT_EQ(2u, statistics().current_blocks);
  pool.deallocate(b, 3 * mebi);
  EXPECT_EQ(1024u, statistics().current_bytes);
  EXPECT_EQ(1024 + 3 * mebi, statistics().peak_bytes);
  pool.deallocate(a, 1000);
  EXPECT_EQ(0u, statistics().current_bytes);
  EXPECT_EQ(0u, statistics().current_blocks);
  EXPECT_EQ(2u, statistics().allocations);
  EXPECT_EQ(statistics().reserved_bytes, statistics().free_bytes);
  pool.deallocate(pool.allocate(1000), 1000);
  EXPECT_EQ(1024 + 3 * mebi, statistics().peak_bytes);
  EXPECT_EQ(3u, statistics().allocations);
}

TEST_F(PoolResource, DeallocateReportsInvalidArguments) {
  log_capture const capture;
  roc::pool_resource other(hip_resource);
  void* const data = pool.allocate(1000);
  void* const large = pool.allocate(3 * mebi);
  pool.deallocate(data, 5000);
  ASSERT_EQ(1u, logged.size());
  EXPECT_NE(std::string::npos, logged[0].find("with the bytes it was allocated with")) << logged[0];
  pool.deallocate(data, 1000);
  pool.deallocate(large, 3 * mebi);
  ASSERT_EQ(1u, logged.size());
  pool.deallocate(data, 1000);
  pool.deallocate(large, 3 * mebi);
  ASSERT_EQ(3u, logged.size());
  EXPECT_NE(std::string::npos, logged[1].find("deallocated before")) << logged[1];
  EXPECT_NE(std::string::npos, logged[2].find("deallocated before")) << logged[2];
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

TEST_F(PoolResource, ArrayThatOutlivesThePoolIsReportedAndUsable) {
  log_capture const capture;
  roc::device_array<int> array;
  {
    roc::pool_resource short_lived_pool(hip_resource);
    array = roc::device_array<int>({1000}, short_lived_pool);
    array.fill(3);
  }
  ASSERT_EQ(1u, logged.size());
  EXPECT_NE(std::string::npos, logged[0].find("in use")) << logged[0];
  EXPECT_EQ(3, array(999).get());
  array = {};
  ASSERT_EQ(2u, logged.size());
  EXPECT_NE(std::string::npos, logged[1].find("outlived its memory resource")) << logged[1];
}

TEST_F(PoolResource, MayBeTheUpstreamOfAnotherPool) {
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

// The thread's first allocation from the upstream is one that the pool makes under its mutex.
TEST_F(PoolResource, GrowsFromAPoolAfterTheEndOfAStream) {
  roc::pool_resource outer(pool, {.slab_bytes = 256 << 10});
  std::optional<roc::stream> ended(std::in_place);
  roc::stream const stream;
  auto const use_both = [&] {
    for (roc::stream const* const used : {static_cast<roc::stream const*>(&*ended), &stream}) {
      outer.deallocate(outer.allocate(1000, *used), 1000, *used);
    }
  };
  std::thread(use_both).join();
  use_both();
  ended.reset();
  outer.deallocate(outer.allocate(4 * mebi, stream), 4 * mebi, stream);
  EXPECT_LE(4 * mebi, outer.statistics().reserved_bytes);
}

TEST_F(PoolResource, TracksUsesOfItsBlocksIfItIsTheUpstreamOfAnotherPool) {
  using array = roc::device_array<unsigned char>;
  roc::stream const allocation_stream;
  roc::stream const other;
  roc::pool_resource lower(hip_resource, {.limit = 16 * mebi, .slab_bytes = 16 * mebi});
  lower.deallocate(lower.allocate(16 * mebi, allocation_stream), 16 * mebi, allocation_stream);
  // Not aligned to 2 MiB, the regions of the allocation map.
  void* const first = lower.allocate(mebi + 65536, allocation_stream);
  void* const inner_block = lower.allocate(2 * mebi, allocation_stream);
  array freed({3 * mebi}, lower, roc::order::c, allocation_stream);
  lower.deallocate(inner_block, 2 * mebi, allocation_stream);
  roc::device().synchronize();
  roc::test::trim_until(lower, [&] { return lower.statistics().pending_bytes == 0; });
  roc::pool_resource upper(static_cast<roc::memory_resource&>(lower));
  void* const inner = upper.allocate(1000, allocation_stream);
  ASSERT_EQ(inner, inner_block);
  freed.fill(1, other);
  freed = {};
  array const next({3 * mebi}, lower, roc::order::c, allocation_stream);
  next.fill(2, allocation_stream);
  allocation_stream.synchronize();
  other.synchronize();
  std::vector<unsigned char> actual(3 * mebi);
  next.copy_to_host(actual);
  EXPECT_EQ(std::vector<unsigned char>(3 * mebi, 2), actual);
  upper.deallocate(inner, 1000, allocation_stream);
  lower.deallocate(first, mebi + 65536, allocation_stream);
}

// Earlier work may still use the memory that the lower pool hands out.
TEST_F(PoolResource, WaitsForPendingWorkOnMemoryOfAnUpstreamPool) {
  using array = roc::device_array<unsigned char>;
  for (bool const foreign : {false, true}) {
    roc::test::gate gate;
    roc::stream const non_blocking_stream(roc::non_blocking);
    auto const stream = foreign ? roc::from_native(roc::native(non_blocking_stream))
                                : roc::stream_ref(non_blocking_stream);
    roc::pool_resource lower(hip_resource, {.limit = 4 * mebi, .slab_bytes = 4 * mebi});
    roc::pool_resource upper(static_cast<roc::memory_resource&>(lower));
    {
      array const freed({4 * mebi}, lower);
      for (int i = 0; i < 20; ++i) freed.fill(1, roc::stream_ref());
    }
    std::optional<array> next;
    // The stream waits, and the host does not.
    EXPECT_EQ(0u, count_calls("hipEventSynchronize", [&] {
                next.emplace(roc::shape<1>{mebi}, upper, roc::order::c, stream);
              }));
    next->fill(2, stream);
    non_blocking_stream.synchronize();
    roc::device().synchronize();
    std::vector<unsigned char> actual(mebi);
    next->copy_to_host(actual);
    EXPECT_EQ(std::vector<unsigned char>(mebi, 2), actual);
  }
}

TEST_F(PoolResource, AcceptsAnySlabSize) {
  log_capture const capture;
  roc::pool_resource odd(hip_resource, {.slab_bytes = 3 * mebi + 100});
  void* const large = odd.allocate(8 * mebi);
  auto* const data = static_cast<char*>(odd.allocate(mebi));
  EXPECT_EQ(0u, odd.statistics().reserved_bytes % (1 << 16));
  // In the remainder of the slab, which is smaller than a page.
  EXPECT_EQ(nullptr, roc::memory::find_record(data + 3 * mebi + 50));
  odd.deallocate(data, mebi);
  odd.deallocate(large, 8 * mebi);
}

/// Calls a function before it allocates, when the pool holds its mutex.
class watched_resource final : public roc::memory_resource {
 public:
  std::function<void()> before_allocation = [] {};

 private:
  void* do_allocate(std::size_t bytes, roc::stream_ref stream) override {
    before_allocation();
    return upstream_.allocate(bytes, stream);
  }
  void do_deallocate(void* data, std::size_t bytes, roc::stream_ref stream) noexcept override {
    upstream_.deallocate(data, bytes, stream);
  }
  int do_device_ordinal() const noexcept override { return 0; }

  roc::hip_memory_resource upstream_;
};

TEST_F(PoolResource, ThreadReusesTheLargeBlocksThatItFreedWithoutTheMutex) {
  watched_resource upstream;
  roc::pool_resource watched(upstream, {.slab_bytes = 16 * mebi});
  std::vector<std::size_t> const sizes = {2 * mebi, 3 * mebi, 4 * mebi, 5 * mebi};
  std::vector<void*> blocks;
  for (std::size_t const bytes : sizes) blocks.push_back(watched.allocate(bytes));
  std::promise<void> has_mutex;
  std::promise<void> reused;
  std::future_status status{};
  upstream.before_allocation = [&] {
    has_mutex.set_value();
    status = reused.get_future().wait_for(std::chrono::seconds(20));
  };
  std::thread growing([&] {
    roc::stream const stream;
    watched.deallocate(watched.allocate(32 * mebi, stream), 32 * mebi, stream);
  });
  has_mutex.get_future().wait();
  for (std::size_t i = sizes.size(); i-- != 0;) watched.deallocate(blocks[i], sizes[i]);
  for (std::size_t i = 0; i != sizes.size(); ++i) {
    EXPECT_EQ(blocks[i], watched.allocate(sizes[i] - 100));
  }
  reused.set_value();
  growing.join();
  EXPECT_EQ(std::future_status::ready, status) << "an allocation has waited for the mutex";
  for (std::size_t i = 0; i != sizes.size(); ++i) watched.deallocate(blocks[i], sizes[i]);
}

TEST_F(PoolResource, LargeBlocksThatAThreadCachesServeOtherThreads) {
  roc::pool_resource full(hip_resource, {.limit = 8 * mebi});
  roc::stream const stream;
  void* const slab = full.allocate(8 * mebi, stream);
  full.deallocate(slab, 8 * mebi, stream);
  std::promise<void> freed;
  std::promise<void> may_end;
  std::thread thread([&] {
    void* const first = full.allocate(3 * mebi, stream);
    void* const second = full.allocate(5 * mebi, stream);
    full.deallocate(second, 5 * mebi, stream);
    full.deallocate(first, 3 * mebi, stream);
    freed.set_value();
    may_end.get_future().wait();
  });
  freed.get_future().wait();
  void* const merged = full.allocate(8 * mebi, stream);
  EXPECT_EQ(slab, merged);
  full.deallocate(merged, 8 * mebi, stream);
  may_end.set_value();
  thread.join();
}

TEST_F(PoolResource, ReusesBlocksOfThreadsThatEnded) {
  std::set<void*> of_thread;
  roc::stream const stream;
  std::thread([&] {
    std::vector<void*> blocks;
    for (int i = 0; i < 8; ++i) blocks.push_back(pool.allocate(100'000, stream));
    for (void* const block : blocks) {
      of_thread.insert(block);
      pool.deallocate(block, 100'000, stream);
    }
  }).join();
  std::vector<void*> reused;
  for (int i = 0; i < 8; ++i) reused.push_back(pool.allocate(100'000, stream));
  EXPECT_EQ(of_thread, std::set<void*>(reused.begin(), reused.end()));
  for (void* const block : reused) pool.deallocate(block, 100'000, stream);
}

#if ROCARRAY_PLATFORM_HOST && defined(ROCARRAY_HAS_ADDRESS_SANITIZER)
TEST_F(PoolResource, PoisonsFreeMemoryForAddressSanitizer) {
  roc::stream const stream;
  auto* const data = static_cast<char*>(pool.allocate(3 * mebi, stream));
  EXPECT_EQ(0, __asan_address_is_poisoned(data + 3 * mebi - 1));
  auto* const odd = static_cast<char*>(pool.allocate(1000));
  EXPECT_EQ(0, __asan_address_is_poisoned(odd + 999));
  EXPECT_NE(0, __asan_address_is_poisoned(odd + 1000));
  pool.deallocate(data, 3 * mebi, stream);
  roc::device().synchronize();
  void* const other =
      pool.allocate(100 * mebi);  // this allocation finds that the free block is idle
  EXPECT_NE(0, __asan_address_is_poisoned(data));
  pool.deallocate(other, 100 * mebi);
  pool.deallocate(odd, 1000);
}
#endif

TEST_F(PoolResource, BlocksAreAtMostAQuarterLargerThanRequested) {
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
