// SPDX-License-Identifier: MIT
// Waits for values in memory, and writes of values, in the order of streams.
#include "platform/host/support.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace {

using namespace roc::test;
using numbers = std::vector<int>;

// Numbers in pinned memory, which are 0 at first.
class pinned_numbers {
 public:
  pinned_numbers() {
    ok(hipHostMalloc(&data_, count * sizeof(std::uint64_t)));
    std::fill_n(data_, count, 0);
  }
  ~pinned_numbers() { ok(hipHostFree(data_)); }
  pinned_numbers(pinned_numbers const&) = delete;
  pinned_numbers& operator=(pinned_numbers const&) = delete;

  std::uint64_t* at(std::size_t i = 0) { return data_ + i; }
  std::uint64_t get(std::size_t i = 0) {
    return std::atomic_ref<std::uint64_t>(data_[i]).load(std::memory_order_acquire);
  }
  void set(std::uint64_t value, std::size_t i = 0) {
    std::atomic_ref<std::uint64_t>(data_[i]).store(value, std::memory_order_release);
  }

 private:
  static constexpr std::size_t count = 4;
  std::uint64_t* data_ = nullptr;
};

// Returns true if the stream is idle within the time.
bool becomes_idle(hipStream_t stream, std::chrono::milliseconds timeout) {
  auto const end = std::chrono::steady_clock::now() + timeout;
  while (hipStreamQuery(stream) == hipErrorNotReady) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

constexpr std::chrono::milliseconds a_while{20};
constexpr std::chrono::milliseconds long_time{20'000};

TEST(HostStreamWaitValue, LaterWorkWaitsForValueOfTheCpu) {
  pinned_numbers memory;
  execution_log log;
  auto const stream = make_stream();
  log.enqueue(stream, 1);
  ok(hipStreamSynchronize(stream));
  ok(hipStreamWaitValue64(stream, memory.at(), 5, hipStreamWaitValueGte));
  log.enqueue(stream, 2);
  EXPECT_FALSE(becomes_idle(stream, a_while));
  EXPECT_EQ((numbers{1}), log.executed());
  memory.set(4);
  EXPECT_FALSE(becomes_idle(stream, a_while));
  memory.set(6);
  ok(hipStreamSynchronize(stream));
  EXPECT_EQ((numbers{1, 2}), log.executed());
  ok(hipStreamDestroy(stream));
}

// The thread that waits looks again: nothing tells it that the value is there.
TEST(HostStreamWaitValue, SynchronizationReturnsAfterAnotherThreadHasWrittenTheValue) {
  pinned_numbers memory;
  auto const stream = make_stream();
  ok(hipStreamWaitValue64(stream, memory.at(), 1, hipStreamWaitValueEq));
  std::thread writer([&] {
    std::this_thread::sleep_for(a_while);
    memory.set(1);
  });
  ok(hipStreamSynchronize(stream));
  EXPECT_EQ(1u, memory.get());
  writer.join();
  ok(hipStreamDestroy(stream));
}

TEST(HostStreamWaitValue, DoesNotDelayOtherStreams) {
  pinned_numbers memory;
  execution_log log;
  auto const blocked = make_stream();
  auto const other = make_stream();
  ok(hipStreamWaitValue64(blocked, memory.at(), 1, hipStreamWaitValueGte));
  log.enqueue(blocked, 1);
  log.enqueue(other, 2);
  ok(hipStreamSynchronize(other));
  EXPECT_EQ((numbers{2}), log.executed());
  memory.set(1);
  ok(hipDeviceSynchronize());
  EXPECT_EQ((numbers{2, 1}), log.executed());
  ok(hipStreamDestroy(blocked));
  ok(hipStreamDestroy(other));
}

TEST(HostStreamWaitValue, EventAfterItIsPending) {
  pinned_numbers memory;
  execution_log log;
  auto const stream = make_stream();
  auto const later = make_stream();
  auto const event = make_event();
  ok(hipStreamWaitValue64(stream, memory.at(), 1, hipStreamWaitValueGte));
  ok(hipEventRecord(event, stream));
  ok(hipStreamWaitEvent(later, event, 0));
  log.enqueue(later, 1);
  EXPECT_FALSE(becomes_idle(later, a_while));
  expect(hipErrorNotReady, hipEventQuery(event));
  memory.set(1);
  ok(hipEventSynchronize(event));
  ok(hipStreamSynchronize(later));
  EXPECT_EQ((numbers{1}), log.executed());
  ok(hipEventDestroy(event));
  ok(hipStreamDestroy(stream));
  ok(hipStreamDestroy(later));
}

TEST(HostStreamWaitValue, WorkOfDestroyedStreamRunsAfterTheValueIsThere) {
  pinned_numbers memory;
  execution_log log;
  auto const stream = make_stream();
  ok(hipStreamWaitValue64(stream, memory.at(), 1, hipStreamWaitValueGte));
  log.enqueue(stream, 1);
  ok(hipStreamDestroy(stream));
  EXPECT_FALSE(log.has(1));
  memory.set(1);
  ok(hipDeviceSynchronize());
  EXPECT_TRUE(log.has(1));
}

struct comparison {
  unsigned flags;
  std::uint64_t value;
  std::uint64_t lacking;     // does not meet the condition
  std::uint64_t sufficient;  // meets it
};

class HostStreamWaitValueComparison : public testing::TestWithParam<comparison> {};

TEST_P(HostStreamWaitValueComparison, IsMetBySufficientValueOnly) {
  pinned_numbers memory;
  auto const stream = make_stream();
  memory.set(GetParam().lacking);
  ok(hipStreamWaitValue64(stream, memory.at(), GetParam().value, GetParam().flags));
  EXPECT_FALSE(becomes_idle(stream, a_while));
  memory.set(GetParam().sufficient);
  EXPECT_TRUE(becomes_idle(stream, long_time));
  ok(hipStreamSynchronize(stream));
  ok(hipStreamDestroy(stream));
}

INSTANTIATE_TEST_SUITE_P(
    OfEveryKind, HostStreamWaitValueComparison,
    testing::Values(comparison{hipStreamWaitValueGte, 7, 6, 7},
                    comparison{hipStreamWaitValueGte, 7, 0, 1000},
                    // A counter that overflows is not smaller.
                    comparison{hipStreamWaitValueGte, UINT64_MAX - 1, UINT64_MAX - 2, 3},
                    comparison{hipStreamWaitValueEq, 7, 8, 7},
                    comparison{hipStreamWaitValueAnd, 6, 9, 2},
                    comparison{hipStreamWaitValueNor, 6, ~std::uint64_t{6}, 0}));

TEST(HostStreamWriteValue, IsInOrderOfTheStream) {
  pinned_numbers memory;
  execution_log log;
  gate blocked;
  auto const stream = make_stream();
  blocked.close(stream);
  log.enqueue(stream, 1);
  ok(hipStreamWriteValue64(stream, memory.at(), 0x123456789abcdef0u, 0));
  if (gate::holds()) {
    EXPECT_EQ(0u, memory.get());
  }
  blocked.open();
  ok(hipStreamSynchronize(stream));
  EXPECT_EQ(0x123456789abcdef0u, memory.get());
  EXPECT_TRUE(log.has(1));
  ok(hipStreamDestroy(stream));
}

// In mode deferred nothing else would run the write.
TEST(HostStreamWriteValue, OnAnotherStreamEndsAWait) {
  pinned_numbers memory;
  execution_log log;
  auto const waiting = make_stream();
  auto const writing = make_stream();
  auto const unrelated = make_stream();
  ok(hipStreamWaitValue64(waiting, memory.at(), 1, hipStreamWaitValueGte));
  log.enqueue(waiting, 2);
  log.enqueue(unrelated, 3);
  log.enqueue(writing, 1);
  ok(hipStreamWriteValue64(writing, memory.at(), 1, 0));
  ok(hipStreamSynchronize(waiting));
  EXPECT_TRUE(log.in_order(1, 2));
  if (deferred()) {
    EXPECT_FALSE(log.has(3));
  }
  ok(hipDeviceSynchronize());
  for (auto const stream : {waiting, writing, unrelated}) ok(hipStreamDestroy(stream));
}

TEST(HostStreamWriteValue, EndsAWaitThatAnotherWaitDependsOn) {
  pinned_numbers memory;
  std::array const streams = {make_stream(), make_stream(), make_stream()};
  ok(hipStreamWaitValue64(streams[0], memory.at(0), 1, hipStreamWaitValueGte));
  ok(hipStreamWaitValue64(streams[1], memory.at(1), 1, hipStreamWaitValueGte));
  ok(hipStreamWriteValue64(streams[1], memory.at(0), 1, 0));
  ok(hipStreamWriteValue64(streams[2], memory.at(1), 1, 0));
  ok(hipStreamSynchronize(streams[0]));
  EXPECT_EQ(1u, memory.get(0));
  EXPECT_EQ(1u, memory.get(1));
  for (auto const stream : streams) ok(hipStreamDestroy(stream));
}

// The search for a write must visit each of them once: a million searches would not end.
TEST(HostStreamWriteValue, ManyWritesAfterAnEndlessWaitAreSearchedQuickly) {
  pinned_numbers memory;
  auto const stream = make_stream();
  ok(hipStreamWaitValue64(stream, memory.at(), 1, hipStreamWaitValueEq));
  for (std::uint64_t i = 0; i != 200; ++i) {
    ok(hipStreamWriteValue64(stream, memory.at(), i + 2, 0));
  }
  expect(hipErrorNotReady, hipStreamQuery(stream));
  memory.set(1);
  ok(hipStreamSynchronize(stream));
  EXPECT_EQ(201u, memory.get());
  ok(hipStreamDestroy(stream));
}

// A device runs the other stream by itself.
TEST(HostStreamWaitValue, WorkOfAnotherStreamMayWriteTheValue) {
  pinned_numbers memory;
  auto const set = [](void* data) { static_cast<pinned_numbers*>(data)->set(1); };
  auto const stream = make_stream(hipStreamNonBlocking);
  for (bool const is_polled : {true, false}) {
    for (bool const is_destroyed : {true, false}) {
      memory.set(0);
      auto const other = make_stream(hipStreamNonBlocking);
      ok(hipStreamWaitValue64(stream, memory.at(), 1, hipStreamWaitValueEq));
      ok(hipLaunchHostFunc(other, set, &memory));
      if (is_destroyed) ok(hipStreamDestroy(other));
      EXPECT_TRUE(!is_polled || becomes_idle(stream, long_time));
      ok(hipStreamSynchronize(stream));
      if (!is_destroyed) ok(hipStreamDestroy(other));
    }
  }
  ok(hipStreamDestroy(stream));
}

// In its own process. What can run does so, also in a stream that waits for later ones.
TEST(HostStreamWaitValueDeathTest, ProcessEndsAlthoughNobodyWritesTheValue) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        ::alarm(20);
        auto& memory = *new pinned_numbers;
        auto const set = [](void* data) { static_cast<pinned_numbers*>(data)->set(1); };
        auto const print = [](void*) { std::fputs("ran\n", stderr); };
        auto const endless = make_stream(hipStreamNonBlocking);
        auto const waiting = make_stream(hipStreamNonBlocking);
        auto const writing = make_stream(hipStreamNonBlocking);
        ok(hipStreamWaitValue64(endless, memory.at(1), 1, hipStreamWaitValueEq));
        ok(hipLaunchHostFunc(endless, print, nullptr));
        ok(hipStreamWaitValue64(waiting, memory.at(0), 1, hipStreamWaitValueEq));
        ok(hipLaunchHostFunc(waiting, print, nullptr));
        ok(hipLaunchHostFunc(writing, set, &memory));
        if (threaded()) ok(hipStreamSynchronize(waiting));
        std::exit(0);
      },
      testing::ExitedWithCode(0), "^ran\n(rocarray|$)");
}

TEST(HostStreamWriteValue, WritesDeviceMemory) {
  std::uint64_t* device = nullptr;
  ok(hipMalloc(&device, 2 * sizeof(std::uint64_t)));
  auto const stream = make_stream();
  ok(hipStreamWriteValue64(stream, device, 41, 0));
  ok(hipStreamWriteValue64(stream, device + 1, 42, 0));
  ok(hipStreamWaitValue64(stream, device + 1, 42, hipStreamWaitValueEq));
  std::array<std::uint64_t, 2> back{};
  ok(hipMemcpyAsync(back.data(), device, sizeof back, hipMemcpyDeviceToHost, stream));
  ok(hipStreamSynchronize(stream));
  EXPECT_EQ((std::array<std::uint64_t, 2>{41, 42}), back);
  ok(hipStreamDestroy(stream));
  ok(hipFree(device));
}

TEST(HostStreamValues, InvalidArgumentsAreRefused) {
  pinned_numbers memory;
  std::uint64_t pageable = 1;
  auto const stream = make_stream();
  auto const wait = [&](hipStream_t on, void* address, unsigned flags) {
    return hipStreamWaitValue64(on, address, 0, flags);
  };
  auto* const unaligned = reinterpret_cast<char*>(memory.at()) + 4;
  expect(hipErrorInvalidValue, wait(stream, nullptr, hipStreamWaitValueGte));
  expect(hipErrorInvalidValue, wait(stream, &pageable, hipStreamWaitValueGte));
  expect(hipErrorInvalidValue, wait(stream, unaligned, hipStreamWaitValueGte));
  expect(hipErrorInvalidValue, wait(stream, memory.at(), 4));
  expect(hipErrorInvalidValue, hipStreamWriteValue64(stream, nullptr, 0, 0));
  expect(hipErrorInvalidValue, hipStreamWriteValue64(stream, &pageable, 0, 0));
  expect(hipErrorInvalidValue, hipStreamWriteValue64(stream, unaligned, 0, 0));
  ok(hipStreamDestroy(stream));
  expect(hipErrorInvalidHandle, wait(stream, memory.at(), hipStreamWaitValueGte));
  expect(hipErrorInvalidHandle, hipStreamWriteValue64(stream, memory.at(), 0, 0));
  EXPECT_EQ(1u, pageable);
}

TEST(HostStreamIsCapturing, NoStreamIs) {
  auto const stream = make_stream();
  auto status = hipStreamCaptureStatusActive;
  ok(hipStreamIsCapturing(stream, &status));
  EXPECT_EQ(hipStreamCaptureStatusNone, status);
  expect(hipErrorInvalidValue, hipStreamIsCapturing(stream, nullptr));
  ok(hipStreamDestroy(stream));
  expect(hipErrorInvalidHandle, hipStreamIsCapturing(stream, &status));
}

}  // namespace
