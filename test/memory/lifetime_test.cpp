// SPDX-License-Identifier: MIT
// Arrays are freed in stream order: after the work of every stream that used them, never earlier.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <roc/native.hpp>

#include "platform/call.hpp"
#include "support/gate.hpp"

namespace {

constexpr std::size_t bytes = 200'000;
using array = roc::device_array<unsigned char>;

// Bytes of one value, from whatever memory the pool has now, on `stream`.
std::vector<array> fill_all(roc::stream_ref stream, unsigned char value) {
  std::vector<array> made;
  for (int i = 0; i < 4; ++i) {
    made.emplace_back(roc::shape<1>{bytes}, roc::order::c, stream);
    made.back().fill(value, stream);
  }
  stream.synchronize();
  return made;
}

void expect_all(std::vector<array> const& made, unsigned char value) {
  for (array const& each : made) {
    std::vector<unsigned char> got(bytes);
    each.copy_to_host(got);
    EXPECT_EQ(std::vector<unsigned char>(bytes, value), got);
  }
}

TEST(Lifetime, TheDestructorWaitsForNothing) {
  if (!roc::test::gate::holds()) GTEST_SKIP() << "in mode inline no work is ever pending";
  roc::test::gate gate;
  roc::stream const stream;
  { array const warm({bytes}, roc::order::c, stream); }
  gate.close(stream);
  {
    array const gone({bytes}, roc::order::c, stream);
    gone.fill(1, stream);
  }
  EXPECT_FALSE(stream.query());
}

TEST(Lifetime, CopiesOfViewsOnAnotherStreamCount) {
  roc::test::gate gate;
  roc::stream const own;
  roc::stream const other;
  auto source = roc::pinned_array<unsigned char>(bytes / 2);
  for (auto& each : source) each = 1;
  gate.close(other);
  {
    array const gone({bytes}, roc::order::c, own);
    // The second half, by an address inside the array.
    gone(roc::slice(bytes / 2, bytes)).copy_to_device(source, other);
  }
  auto const made = fill_all(own, 2);
  gate.open();
  other.synchronize();
  expect_all(made, 2);
}

TEST(Lifetime, CopiesOfABatchOnAnotherStreamCount) {
  roc::test::gate gate;
  roc::stream const own;
  roc::stream const other;
  std::vector<unsigned char> const source(bytes / 2, 1);
  std::vector<unsigned char> back(bytes / 2);
  gate.close(other);
  {
    array const gone({bytes}, roc::order::c, own);
    array const read({bytes / 2}, roc::order::c, own);
    read.fill(3, own);
    own.synchronize();
    roc::copy_batch batch;
    batch.add(source, gone(roc::slice(bytes / 2, bytes))).add(read, back);
    batch.submit(other);
  }
  auto const made = fill_all(own, 2);
  gate.open();
  other.synchronize();
  expect_all(made, 2);
  EXPECT_EQ(std::vector<unsigned char>(bytes / 2, 3), back);
}

TEST(Lifetime, AKernelsUseIsToldByUseOn) {
  roc::test::gate gate;
  roc::stream const own;
  roc::stream const other;
  gate.close(other);
  {
    array const gone({bytes}, roc::order::c, own);
    gone.record_stream(other);
    ROCARRAY_HIP(hipMemsetAsync, gone.data(), 1, bytes, roc::native(other));  // of the user's own
  }
  auto const made = fill_all(own, 2);
  gate.open();
  other.synchronize();
  expect_all(made, 2);
}

#if ROCARRAY_PLATFORM_HOST
TEST(Lifetime, AKernelOfForEachCountsByItself) {
  roc::test::gate gate;
  roc::stream const own;
  roc::stream const other;
  gate.close(other);
  {
    array const gone({bytes}, roc::order::c, own);
    roc::for_each(other, bytes, [v = gone.view()](std::size_t i) {
      v(static_cast<std::ptrdiff_t>(i)) = 1;
    });
  }
  auto const made = fill_all(own, 2);
  gate.open();
  other.synchronize();
  expect_all(made, 2);
}
#endif

// The memory is handed out while earlier work of the array's stream still uses it: another stream
// that works with it next must wait for that.
TEST(Lifetime, AnotherStreamWaitsForTheWorkBefore) {
  roc::stream const own;
  roc::stream const other;
  for (int i = 0; i < 2; ++i) {
    array const gone({bytes}, roc::order::c, own);
    gone.fill(1, own);
  }
  array const next({bytes}, roc::order::c, own);
  next.fill(2, other);
  other.synchronize();
  own.synchronize();
  std::vector<unsigned char> got(bytes);
  next.copy_to_host(got);
  EXPECT_EQ(std::vector<unsigned char>(bytes, 2), got);
}

TEST(Lifetime, AStreamThatEndsLosesNothing) {
  roc::test::gate gate;
  std::optional<roc::stream> brief(std::in_place);
  roc::stream const own;
  gate.close(*brief);
  auto source = roc::pinned_array<unsigned char>(bytes);
  for (auto& each : source) each = 1;
  auto gone = std::make_optional<array>(roc::shape<1>{bytes}, roc::order::c, own);
  gone->copy_to_device(source, *brief);
  auto of_brief = std::make_optional<array>(roc::shape<1>{bytes}, roc::order::c, *brief);
  of_brief->fill(1, *brief);
  brief.reset();  // with its work pending
  gone.reset();
  of_brief.reset();
  auto const made = fill_all(own, 2);
  gate.open();
  roc::device().synchronize();
  expect_all(made, 2);
}

TEST(Lifetime, MemoryFreedOnAStreamThatEndedComesBack) {
  std::size_t const before = roc::device().memory_statistics().current_bytes;
  for (int i = 0; i < 50; ++i) {
    roc::stream const brief;
    array const a({5'000'000}, roc::order::c, brief);
    a.fill(1, brief);
  }
  roc::device().synchronize();
  auto const statistics = roc::device().memory_statistics();
  EXPECT_EQ(before, statistics.current_bytes);
  if (roc::test::run_mode() == roc::test::mode::inline_) {
    EXPECT_LT(statistics.reserved_bytes, 20'000'000u);
  }
}

TEST(Lifetime, NonBlockingStreamsAreOrderedByEvents) {
  hipStream_t native = nullptr;
  ROCARRAY_HIP(hipStreamCreateWithFlags, &native, hipStreamNonBlocking);
  {
    roc::stream_ref const other = roc::from_native(native);
    {
      array const gone({bytes});
      gone.fill(1, other);
    }
    auto const made = fill_all({}, 2);
    other.synchronize();
    expect_all(made, 2);
    {
      array const gone({bytes}, roc::order::c, other);
      gone.fill(1, other);
    }
    auto const more = fill_all({}, 3);
    other.synchronize();
    expect_all(more, 3);
  }
  ROCARRAY_HIP(hipStreamDestroy, native);
}

TEST(Lifetime, AForeignStreamMayGoBeforeTheArrayThatItUsed) {
  array gone({bytes});
  hipStream_t native = nullptr;
  ROCARRAY_HIP(hipStreamCreateWithFlags, &native, hipStreamNonBlocking);
  gone.fill(1, roc::from_native(native));
  ROCARRAY_HIP(hipStreamDestroy, native);
  gone = {};
  auto const made = fill_all({}, 2);
  roc::device().synchronize();
  expect_all(made, 2);
}

// Nothing was enqueued on the blocking stream, and yet its memory is that of the default stream's
// pending work.
TEST(Lifetime, AnIdleStreamMayHoldMemoryOfTheDefaultStream) {
  constexpr std::size_t large = 1'500'000;
  roc::hip_memory_resource direct;
  roc::pool_resource pool(direct, {.limit = 2u << 20});
  roc::stream const ordered;
  roc::stream const apart(roc::non_blocking);
  roc::test::gate gate;
  gate.close({});
  {
    array const gone({large}, pool);
    for (int i = 0; i < 20; ++i) gone.fill(1, roc::stream_ref());
  }
  { array const untouched({large}, pool, roc::order::c, ordered); }
  // Short of memory it waits.
  if (roc::test::run_mode() == roc::test::mode::threaded) gate.open();
  array const next({large}, pool, roc::order::c, apart);
  next.fill(2, apart);
  apart.synchronize();
  roc::device().synchronize();
  std::vector<unsigned char> got(large);
  next.copy_to_host(got);
  EXPECT_EQ(std::vector<unsigned char>(large, 2), got);
}

// Its handle means another stream in every thread.
TEST(Lifetime, OfAPerThreadStreamFreedInAnotherThread) {
  roc::hip_async_memory_resource driver;
  roc::zeroing_resource_adaptor zeroing(driver);
  for (roc::memory_resource* const resource :
       {static_cast<roc::memory_resource*>(&driver), static_cast<roc::memory_resource*>(&zeroing)}) {
    std::vector<array> made;
    array moved;
    std::promise<void> ready;
    std::promise<void> end;
    std::thread thread([&] {
      auto const mine = roc::per_thread_stream();
      moved = array({bytes}, *resource, roc::order::c, mine);
      for (int i = 0; i < 20; ++i) moved.fill(1, mine);
      ready.set_value();
      end.get_future().wait();
    });
    ready.get_future().wait();
    moved = {};
    roc::per_thread_stream().synchronize();  // of this thread
    roc::stream const apart(roc::non_blocking);
    for (int i = 0; i < 4; ++i) {
      made.emplace_back(roc::shape<1>{bytes}, *resource, roc::order::c, apart);
      made.back().fill(2, apart);
    }
    apart.synchronize();
    roc::device().synchronize();
    expect_all(made, 2);
    end.set_value();
    thread.join();
  }
}

TEST(Lifetime, AdoptedMemoryWaitsForKernelsOnNonBlockingStreams) {
  hipStream_t native = nullptr;
  ROCARRAY_HIP(hipStreamCreateWithFlags, &native, hipStreamNonBlocking);
  void* data = nullptr;
  ROCARRAY_HIP(hipMalloc, &data, bytes);
  bool done = false;
  {
    auto const adopted = roc::adopt(static_cast<unsigned char*>(data), roc::shape<1>{bytes},
                                    [&](void*) { done = hipStreamQuery(native) == hipSuccess; });
    adopted.record_stream(roc::from_native(native));
    // Many: in mode deferred asking for the stream runs one.
    for (int i = 0; i < 4; ++i) ROCARRAY_HIP(hipMemsetAsync, data, i, bytes, native);
  }
  EXPECT_TRUE(done);
  ROCARRAY_HIP(hipFree, data);
  ROCARRAY_HIP(hipStreamDestroy, native);
}

std::thread::id asking;
std::promise<void>* asked = nullptr;
std::future<void>* gone = nullptr;

// Threads share the pool, which asks every stream whether its memory may be used: one that another
// thread destroys meanwhile too.
TEST(Lifetime, AStreamMayEndWhileAnotherThreadAsksForIt) {
  roc::hip_memory_resource direct;
  roc::pool_resource pool(direct);
  std::optional<roc::stream> brief(std::in_place);
  roc::stream const own;
  {
    array const a({3'000'000}, pool, roc::order::c, *brief);
    a.fill(1, *brief);
  }
  std::promise<void> begin;
  asked = &begin;
  std::promise<void> end;
  std::future<void> ended = end.get_future();
  gone = &ended;
  asking = std::this_thread::get_id();
  std::thread destroyer([&] {
    begin.get_future().wait();
    brief.reset();
    end.set_value();
  });
  // Between the look at the stream's mark and the call for the stream itself.
  auto const before = roc::platform::set_call_hook([](roc::platform::call_record const& record) {
    if (std::this_thread::get_id() != asking || asked == nullptr) return;
    if (std::string_view(record.name) != "hipGetDevice") return;
    std::exchange(asked, nullptr)->set_value();
    gone->wait_for(std::chrono::milliseconds(200));
  });
  EXPECT_NO_THROW(static_cast<void>(array({3'000'000}, pool, roc::order::c, own)));
  roc::platform::set_call_hook(before);
  if (asked != nullptr) begin.set_value();
  asked = nullptr;
  destroyer.join();
}

TEST(Lifetime, StreamsMayEndWhileOtherThreadsAllocate) {
  roc::hip_memory_resource direct;
  roc::pool_resource pool(direct);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        roc::stream const brief;
        array const a({3'000'000}, pool, roc::order::c, brief);
        array const b({bytes}, pool, roc::order::c, brief);
        a(roc::slice(0, 100)).fill(1, brief);
      }
    });
  }
  for (auto& each : threads) each.join();
}

}  // namespace
