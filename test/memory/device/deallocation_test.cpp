// SPDX-License-Identifier: MIT
// Device arrays are freed in stream order: their memory is reused only after the work of every
// stream that used it.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <roc/native.hpp>

#include "platform/call.hpp"
#include "support/gate.hpp"
#include "support/kept_streams.hpp"

namespace {

constexpr std::size_t bytes = 200'000;
using array = roc::device_array<unsigned char>;

// Allocates arrays on `stream`, which reuse memory of the pool if they can, and fills them.
std::vector<array> allocate_and_fill(roc::stream_ref stream, unsigned char value) {
  std::vector<array> arrays;
  for (int i = 0; i < 4; ++i) {
    arrays.emplace_back(roc::shape<1>{bytes}, roc::order::c, stream);
    arrays.back().fill(value, stream);
  }
  stream.synchronize();
  return arrays;
}

void expect_all(std::vector<array> const& arrays, unsigned char value) {
  for (array const& a : arrays) {
    std::vector<unsigned char> actual(bytes);
    a.copy_to_host(actual);
    EXPECT_EQ(std::vector<unsigned char>(bytes, value), actual);
  }
}

TEST(DeviceArrayDestructor, DoesNotBlockOnPendingWork) {
  if (!roc::test::gate::holds()) GTEST_SKIP() << "in mode inline no work is ever pending";
  roc::test::gate gate;
  roc::stream const stream;
  { array const warm_up({bytes}, roc::order::c, stream); }
  gate.close(stream);
  {
    array const freed({bytes}, roc::order::c, stream);
    freed.fill(1, stream);
  }
  EXPECT_FALSE(stream.query());
}

TEST(DeviceArrayDestructor, OrdersReuseAfterCopiesOfViewsOnOtherStreams) {
  roc::test::gate gate;
  roc::stream const allocation_stream;
  roc::stream const other_stream;
  auto source = roc::pinned_array<unsigned char>(bytes / 2);
  std::fill(source.begin(), source.end(), static_cast<unsigned char>(1));
  gate.close(other_stream);
  {
    array const freed({bytes}, roc::order::c, allocation_stream);
    // The second half: the address of the copy is inside the array.
    freed(roc::slice(bytes / 2, bytes)).copy_to_device(source, other_stream);
  }
  auto const arrays = allocate_and_fill(allocation_stream, 2);
  gate.open();
  other_stream.synchronize();
  expect_all(arrays, 2);
}

TEST(DeviceArrayDestructor, OrdersReuseAfterBatchesOnOtherStreams) {
  roc::test::gate gate;
  roc::stream const allocation_stream;
  roc::stream const other_stream;
  std::vector<unsigned char> const source(bytes / 2, 1);
  std::vector<unsigned char> back(bytes / 2);
  gate.close(other_stream);
  {
    array const freed({bytes}, roc::order::c, allocation_stream);
    array const read({bytes / 2}, roc::order::c, allocation_stream);
    read.fill(3, allocation_stream);
    allocation_stream.synchronize();
    roc::copy_batch batch;
    batch.add(source, freed(roc::slice(bytes / 2, bytes))).add(read, back);
    batch.submit(other_stream);
  }
  auto const arrays = allocate_and_fill(allocation_stream, 2);
  gate.open();
  other_stream.synchronize();
  expect_all(arrays, 2);
  EXPECT_EQ(std::vector<unsigned char>(bytes / 2, 3), back);
}

TEST(DeviceArrayDestructor, OrdersReuseAfterStreamsOfRecordStream) {
  roc::test::gate gate;
  roc::stream const allocation_stream;
  roc::stream const other_stream;
  gate.close(other_stream);
  {
    array const freed({bytes}, roc::order::c, allocation_stream);
    freed.record_stream(other_stream);
    ROCARRAY_HIP(hipMemsetAsync, freed.data(), 1, bytes,
                 roc::native(other_stream));  // work that the library does not know
  }
  auto const arrays = allocate_and_fill(allocation_stream, 2);
  gate.open();
  other_stream.synchronize();
  expect_all(arrays, 2);
}

#if ROCARRAY_PLATFORM_HOST
TEST(DeviceArrayDestructor, OrdersReuseAfterForEachOnOtherStreams) {
  roc::test::gate gate;
  roc::stream const allocation_stream;
  roc::stream const other_stream;
  gate.close(other_stream);
  {
    array const freed({bytes}, roc::order::c, allocation_stream);
    roc::for_each(other_stream, bytes,
                  [v = freed.view()](std::size_t i) { v(static_cast<std::ptrdiff_t>(i)) = 1; });
  }
  auto const arrays = allocate_and_fill(allocation_stream, 2);
  gate.open();
  other_stream.synchronize();
  expect_all(arrays, 2);
}
#endif

// The pool hands out memory that earlier work of the same stream still uses. The first use on
// another stream must wait for that work.
TEST(DeviceArray, FirstUseOnAnotherStreamWaitsForPriorWork) {
  roc::stream const allocation_stream;
  roc::stream const other_stream;
  for (int i = 0; i < 2; ++i) {
    array const freed({bytes}, roc::order::c, allocation_stream);
    freed.fill(1, allocation_stream);
  }
  array const next({bytes}, roc::order::c, allocation_stream);
  next.fill(2, other_stream);
  other_stream.synchronize();
  allocation_stream.synchronize();
  std::vector<unsigned char> actual(bytes);
  next.copy_to_host(actual);
  EXPECT_EQ(std::vector<unsigned char>(bytes, 2), actual);
}

TEST(DeviceArray, CopyWithoutAStreamWaitsForPriorWorkThatTheLibraryDoesNotKnow) {
  roc::stream const allocation_stream(roc::non_blocking);
  for (int i = 0; i < 2; ++i) {
    array const freed({bytes}, roc::order::c, allocation_stream);
    ROCARRAY_HIP(hipMemsetAsync, freed.data(), 1, bytes, roc::native(allocation_stream));
  }
  std::vector<array> next;
  next.emplace_back(roc::shape<1>{bytes}, roc::order::c, allocation_stream);
  next[0].copy_to_device(std::vector<unsigned char>(bytes, 2));
  allocation_stream.synchronize();
  expect_all(next, 2);
}

TEST(DeviceArrayDestructor, OrdersReuseAfterWorkOfDestroyedStreams) {
  roc::test::gate gate;
  std::optional<roc::stream> short_lived_stream(std::in_place);
  roc::stream const allocation_stream;
  gate.close(*short_lived_stream);
  auto source = roc::pinned_array<unsigned char>(bytes);
  std::fill(source.begin(), source.end(), static_cast<unsigned char>(1));
  auto freed = std::make_optional<array>(roc::shape<1>{bytes}, roc::order::c, allocation_stream);
  freed->copy_to_device(source, *short_lived_stream);
  auto freed_on_brief =
      std::make_optional<array>(roc::shape<1>{bytes}, roc::order::c, *short_lived_stream);
  freed_on_brief->fill(1, *short_lived_stream);
  short_lived_stream.reset();  // while its work is pending
  freed.reset();
  freed_on_brief.reset();
  auto const arrays = allocate_and_fill(allocation_stream, 2);
  gate.open();
  roc::device().synchronize();
  expect_all(arrays, 2);
}

TEST(PoolResource, ReusesMemoryOfDestroyedStreams) {
  std::size_t const before = roc::device().memory_statistics().current_bytes;
  for (int i = 0; i < 50; ++i) {
    roc::stream const short_lived_stream;
    array const a({5'000'000}, roc::order::c, short_lived_stream);
    a.fill(1, short_lived_stream);
  }
  roc::device().synchronize();
  auto const statistics = roc::device().memory_statistics();
  EXPECT_EQ(before, statistics.current_bytes);
  if (roc::test::run_mode() == roc::test::mode::inline_) {
    EXPECT_LT(statistics.reserved_bytes, 20'000'000u);
  }
}

TEST(DeviceArrayDestructor, OrdersReuseAfterNonBlockingForeignStreams) {
  hipStream_t native = nullptr;
  ROCARRAY_HIP(hipStreamCreateWithFlags, &native, hipStreamNonBlocking);
  {
    roc::stream_ref const other_stream = roc::from_native(native);
    {
      array const freed({bytes});
      freed.fill(1, other_stream);
    }
    auto const arrays = allocate_and_fill({}, 2);
    other_stream.synchronize();
    expect_all(arrays, 2);
    {
      array const freed({bytes}, roc::order::c, other_stream);
      freed.fill(1, other_stream);
    }
    auto const more = allocate_and_fill({}, 3);
    other_stream.synchronize();
    expect_all(more, 3);
  }
  ROCARRAY_HIP(hipStreamDestroy, native);
}

// The hook does what another thread may do while an array is destroyed: it destroys the array's
// stream, and creates one that gets the native stream, before that waits for the other uses of the
// memory.
std::optional<roc::stream> ended_by_hook;
std::vector<roc::stream> created_by_hook;

void replace_stream(roc::platform::call_record const& record) {
  if (std::string_view(record.name) != "hipEventRecord" || !ended_by_hook) return;
  auto const ended = std::exchange(ended_by_hook, std::nullopt)->handle();
  created_by_hook = roc::test::streams_until_reused(ended);
}

TEST(DeviceArrayDestructor, OrdersTheFreeIfTheStreamIsReplacedMeanwhile) {
  roc::hip_async_memory_resource resource;
  ended_by_hook.emplace();
  array freed({bytes}, resource, roc::order::c, *ended_by_hook);
  roc::stream const user(roc::non_blocking);
  roc::test::gate gate;
  gate.close(user);
  freed.fill(1, user);
  auto const previous_hook = roc::platform::set_call_hook(replace_stream);
  freed = {};
  roc::platform::set_call_hook(previous_hook);
  ASSERT_FALSE(created_by_hook.empty());
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(created_by_hook.back().query());
  gate.open();
  created_by_hook.clear();
}

TEST(DeviceArrayDestructor, ZeroedMemoryOfAReplacedStreamIsReusedAfterItsUses) {
  roc::hip_memory_resource upstream;
  constexpr std::size_t whole = std::size_t{8} << 20;  // so that the next array gets this memory
  roc::pool_resource pool(upstream, {.limit = whole, .slab_bytes = whole});
  roc::zeroing_resource_adaptor resource(pool);
  ended_by_hook.emplace();
  array freed({whole}, resource, roc::order::c, *ended_by_hook);
  roc::stream const user(roc::non_blocking);
  roc::test::gate gate;
  gate.close(user);
  freed.fill(1, user);
  auto const previous_hook = roc::platform::set_call_hook(replace_stream);
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    gate.open();
  });
  freed = {};
  roc::platform::set_call_hook(previous_hook);
  EXPECT_FALSE(created_by_hook.empty());
  auto const other = roc::stream(roc::non_blocking);
  array const next({whole}, resource, roc::order::c, other);
  next.fill(2, other);
  opener.join();
  roc::device().synchronize();
  EXPECT_EQ(2, next(0).get());
  created_by_hook.clear();
}

TEST(DeviceArrayDestructor, OrdersReuseAfterDestroyedForeignStreams) {
  array freed({bytes});
  hipStream_t native = nullptr;
  ROCARRAY_HIP(hipStreamCreateWithFlags, &native, hipStreamNonBlocking);
  freed.fill(1, roc::from_native(native));
  ROCARRAY_HIP(hipStreamDestroy, native);
  freed = {};
  auto const arrays = allocate_and_fill({}, 2);
  roc::device().synchronize();
  expect_all(arrays, 2);
}

// No work was enqueued on the blocking stream, but memory freed on it is still used by pending work
// of the default stream.
TEST(PoolResource, WaitsForTheDefaultStreamBeforeReuseOfMemoryOfAnIdleStream) {
  constexpr std::size_t large = 1'500'000;
  roc::hip_memory_resource direct;
  roc::pool_resource pool(direct, {.limit = 2u << 20});
  roc::stream const ordered;
  roc::stream const non_blocking_stream(roc::non_blocking);
  roc::test::gate gate;
  gate.close({});
  {
    array const freed({large}, pool);
    for (int i = 0; i < 20; ++i) freed.fill(1, roc::stream_ref());
  }
  { array const untouched({large}, pool, roc::order::c, ordered); }
  // The pool is short of memory and will block, which needs an open gate.
  if (roc::test::run_mode() == roc::test::mode::threaded) gate.open();
  array const next({large}, pool, roc::order::c, non_blocking_stream);
  next.fill(2, non_blocking_stream);
  non_blocking_stream.synchronize();
  roc::device().synchronize();
  std::vector<unsigned char> actual(large);
  next.copy_to_host(actual);
  EXPECT_EQ(std::vector<unsigned char>(large, 2), actual);
}

// The handle of the per-thread stream means another stream in every thread.
TEST(DeviceArrayDestructor, OrdersReuseAfterThePerThreadStreamOfAnotherThread) {
  roc::hip_async_memory_resource driver;
  roc::zeroing_resource_adaptor zeroing(driver);
  for (roc::memory_resource* const resource : {static_cast<roc::memory_resource*>(&driver),
                                               static_cast<roc::memory_resource*>(&zeroing)}) {
    std::vector<array> arrays;
    array moved;
    std::promise<void> ready;
    std::promise<void> end;
    std::thread thread([&] {
      auto const per_thread_stream = roc::per_thread_stream();
      moved = array({bytes}, *resource, roc::order::c, per_thread_stream);
      for (int i = 0; i < 20; ++i) moved.fill(1, per_thread_stream);
      ready.set_value();
      end.get_future().wait();
    });
    ready.get_future().wait();
    moved = {};
    roc::per_thread_stream().synchronize();  // that of this thread
    roc::stream const non_blocking_stream(roc::non_blocking);
    for (int i = 0; i < 4; ++i) {
      arrays.emplace_back(roc::shape<1>{bytes}, *resource, roc::order::c, non_blocking_stream);
      arrays.back().fill(2, non_blocking_stream);
    }
    non_blocking_stream.synchronize();
    roc::device().synchronize();
    expect_all(arrays, 2);
    end.set_value();
    thread.join();
  }
}

TEST(AdoptedArrayDestructor, CallsTheFinalizerAfterWorkOnNonBlockingStreams) {
  hipStream_t native = nullptr;
  ROCARRAY_HIP(hipStreamCreateWithFlags, &native, hipStreamNonBlocking);
  void* data = nullptr;
  ROCARRAY_HIP(hipMalloc, &data, bytes);
  bool done = false;
  {
    auto const adopted = roc::adopt(static_cast<unsigned char*>(data), roc::shape<1>{bytes},
                                    [&](void*) { done = hipStreamQuery(native) == hipSuccess; });
    adopted.record_stream(roc::from_native(native));
    // Several: in mode deferred, a query of the stream runs one of them.
    for (int i = 0; i < 4; ++i) ROCARRAY_HIP(hipMemsetAsync, data, i, bytes, native);
    adopted.record_stream(roc::from_native(native));  // the library does not know the work
  }
  EXPECT_TRUE(done);
  ROCARRAY_HIP(hipFree, data);
  ROCARRAY_HIP(hipStreamDestroy, native);
}

// The finalizer must wait only for work that uses the memory.
TEST(AdoptedArrayDestructor, DoesNotWaitForOtherStreams) {
  if (!roc::test::gate::holds()) GTEST_SKIP() << "in mode inline no work is ever pending";
  roc::stream const used(roc::non_blocking);
  roc::stream const other(roc::non_blocking);
  array const unrelated({bytes}, roc::order::c, other);
  void* data = nullptr;
  ROCARRAY_HIP(hipMalloc, &data, bytes);
  roc::test::gate gate;
  int calls = 0;
  gate.close(other);
  for (int i = 0; i < 4; ++i) unrelated.fill(1, other);
  {
    auto const adopted = roc::adopt(static_cast<unsigned char*>(data), roc::shape<1>{bytes},
                                    [&](void*) { ++calls; });
    adopted.fill(1, used);
  }
  EXPECT_EQ(1, calls);
  EXPECT_TRUE(used.query());
  EXPECT_FALSE(other.query());
  gate.open();
  ROCARRAY_HIP(hipFree, data);
}

// Two arrays adopt the same memory, as two imports of one tensor do.
TEST(AdoptedArrayDestructor, WaitsForTheWorkOfEachArrayThatAdoptsTheMemory) {
  roc::stream const stream(roc::non_blocking);
  void* data = nullptr;
  ROCARRAY_HIP(hipMalloc, &data, bytes);
  auto host = roc::pinned_array<unsigned char>(bytes);
  int seen[2] = {-1, -1};
  auto const adopt = [&](int index) {
    return std::make_optional(roc::adopt(
        static_cast<unsigned char*>(data), roc::shape<1>{bytes},
        [&, index](void*) { seen[index] = host(static_cast<std::ptrdiff_t>(bytes) - 1); }));
  };
  auto first = adopt(0);
  auto second = adopt(1);
  auto const fill_and_copy = [&](array const& a, unsigned char value) {
    a.fill(value, stream);
    a.copy_to_host(host, stream);
  };
  fill_and_copy(*first, 1);
  fill_and_copy(*second, 2);
  first.reset();
  EXPECT_EQ(2, seen[0]);
  fill_and_copy(*second, 3);
  second.reset();
  EXPECT_EQ(3, seen[1]);
  ROCARRAY_HIP(hipFree, data);
}

// Memory that overlaps other memory has no record of its uses: the last owner waits for all
// devices.
TEST(AdoptedArrayDestructor, FreesOverlappingMemoryAfterATransientFailure) {
  void* data = nullptr;
  ROCARRAY_HIP(hipMalloc, &data, bytes);
  int calls = 0;
  auto const adopt = [&] {
    return roc::adopt(static_cast<unsigned char*>(data), roc::shape<1>{bytes},
                      [&](void*) { ++calls; });
  };
  {
    auto const first = adopt();
    {
      auto const second = adopt();
      ASSERT_TRUE(roc::platform::fail_call("hipDeviceSynchronize", 1, hipErrorLaunchFailure));
    }
    roc::platform::clear_failures();
    EXPECT_EQ(1, calls);
  }
  EXPECT_EQ(2, calls);
  ROCARRAY_HIP(hipFree, data);
}

#if ROCARRAY_PLATFORM_HOST
std::string logged;

thread_local bool may_fail_waits = false;

// Lets every wait of the library in a thread with may_fail_waits fail.
void fail_waits(roc::platform::call_record const&) {
  if (!may_fail_waits) return;
  for (char const* const name :
       {"hipEventSynchronize", "hipStreamSynchronize", "hipDeviceSynchronize"}) {
    roc::platform::fail_call(name, 1, hipErrorLaunchFailure);
  }
}

TEST(AdoptedArrayDestructor, LeaksTheMemoryIfEveryWaitFails) {
  logged.clear();
  auto const log = roc::set_log_hook([](char const* line) noexcept { logged += line; });
  void* data = nullptr;
  ROCARRAY_HIP(hipMalloc, &data, bytes);
  int calls = 0;
  {
    auto const adopted = roc::adopt(static_cast<unsigned char*>(data), roc::shape<1>{bytes},
                                    [&](void*) { ++calls; });
    roc::platform::call_record const none{};
    may_fail_waits = true;
    fail_waits(none);
    roc::platform::set_call_hook(fail_waits);
  }
  may_fail_waits = false;
  roc::platform::set_call_hook(nullptr);
  roc::platform::clear_failures();
  roc::set_log_hook(log);
  EXPECT_EQ(0, calls);
  EXPECT_NE(std::string::npos, logged.find("adopted memory at")) << logged;
  EXPECT_NE(std::string::npos, logged.find("is never freed")) << logged;
  ROCARRAY_HIP(hipFree, data);
}
#endif

std::thread::id querying_thread;
std::promise<void>* query_begins = nullptr;
std::future<void>* stream_is_destroyed = nullptr;

// The pool queries all streams whose memory it could use. Another thread may destroy one of them at
// the same time.
TEST(PoolResource, AllocateToleratesDestructionOfAQueriedStream) {
  roc::hip_memory_resource direct;
  roc::pool_resource pool(direct);
  std::optional<roc::stream> short_lived_stream(std::in_place);
  roc::stream const allocation_stream;
  {
    array const a({3'000'000}, pool, roc::order::c, *short_lived_stream);
    a.fill(1, *short_lived_stream);
  }
  std::promise<void> begin;
  query_begins = &begin;
  std::promise<void> end;
  std::future<void> ended = end.get_future();
  stream_is_destroyed = &ended;
  querying_thread = std::this_thread::get_id();
  std::thread destroyer([&] {
    begin.get_future().wait();
    short_lived_stream.reset();
    end.set_value();
  });
  // Destroys the stream after the pool has queried it, and before the pool records an event.
  auto const previous_hook =
      roc::platform::set_call_hook([](roc::platform::call_record const& record) {
        if (std::this_thread::get_id() != querying_thread || query_begins == nullptr) return;
        if (std::string_view(record.name) != "hipStreamQuery") return;
        std::exchange(query_begins, nullptr)->set_value();
        stream_is_destroyed->wait_for(std::chrono::milliseconds(200));
      });
  EXPECT_NO_THROW(static_cast<void>(array({3'000'000}, pool, roc::order::c, allocation_stream)));
  roc::platform::set_call_hook(previous_hook);
  EXPECT_EQ(query_begins, nullptr) << "the pool has not queried the stream";
  if (query_begins != nullptr) begin.set_value();
  query_begins = nullptr;
  destroyer.join();
}

TEST(PoolResource, ThreadsMayAllocateWhileOthersDestroyStreams) {
  roc::hip_memory_resource direct;
  roc::pool_resource pool(direct);
  std::vector<std::thread> threads;
  std::array<int, 3> right{};
  for (std::size_t t = 0; t < right.size(); ++t) {
    threads.emplace_back([&, t] {
      auto const value = static_cast<unsigned char>(t + 1);
      for (int i = 0; i < 100; ++i) {
        roc::stream const short_lived_stream;
        array const a({3'000'000}, pool, roc::order::c, short_lived_stream);
        array const b({bytes}, pool, roc::order::c, short_lived_stream);
        a(roc::slice(0, 100)).fill(value, short_lived_stream);
        b.fill(value, short_lived_stream);
        if (i % 10 != 0) continue;  // waits: the other rounds end with their work pending
        unsigned char found[2] = {};
        a(roc::slice(99, 100)).copy_to_host(roc::host_view(found, roc::shape<1>{1}));
        b(roc::slice(bytes - 1, bytes)).copy_to_host(roc::host_view(found + 1, roc::shape<1>{1}));
        if (found[0] == value && found[1] == value) ++right[t];
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ((std::array<int, 3>{10, 10, 10}), right);
  EXPECT_EQ(600u, pool.statistics().allocations);
  EXPECT_EQ(0u, pool.statistics().current_blocks);
  EXPECT_EQ(0u, pool.statistics().current_bytes);
}

}  // namespace
