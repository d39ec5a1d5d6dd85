// SPDX-License-Identifier: MIT
// The order of work: within streams, across them, and against the legacy default stream.
#include "platform/host/support.hpp"

namespace {

using namespace roc::test;
using numbers = std::vector<int>;

TEST(HostOrder, AStreamRunsInTurn) {
  record log;
  auto const stream = make_stream();
  numbers expected;
  for (int i = 0; i < 200; ++i) {
    log.enqueue(stream, i);
    expected.push_back(i);
  }
  ok(hipStreamSynchronize(stream));
  EXPECT_EQ(expected, log.seen());
  ok(hipStreamDestroy(stream));
}

TEST(HostOrder, DeferredWorkRunsOnlyWhereItIsForced) {
  if (!deferred()) GTEST_SKIP() << "only in mode deferred does work wait to be forced";
  record log;
  auto const a = make_stream();
  auto const b = make_stream();
  log.enqueue(a, 1);
  log.enqueue(b, 2);
  EXPECT_TRUE(log.seen().empty());
  ok(hipStreamSynchronize(b));
  EXPECT_EQ((numbers{2}), log.seen());
  ok(hipDeviceSynchronize());
  EXPECT_EQ((numbers{2, 1}), log.seen());
  ok(hipStreamDestroy(a));
  ok(hipStreamDestroy(b));
}

TEST(HostOrder, InlineWorkRunsAtOnce) {
  if (!inlined()) GTEST_SKIP() << "only in mode inline does work run at once";
  record log;
  auto const stream = make_stream();
  log.enqueue(stream, 1);
  EXPECT_EQ((numbers{1}), log.seen());
  ok(hipStreamQuery(stream));
  ok(hipStreamDestroy(stream));
}

TEST(HostOrder, TheNullStreamWaitsForBlockingStreamsOnly) {
  record log;
  gate held;
  auto const blocking = make_stream();
  auto const other = make_stream(hipStreamNonBlocking);
  held.close(other);
  log.enqueue(other, 2);
  log.enqueue(blocking, 1);
  log.enqueue(nullptr, 3);
  ok(hipStreamSynchronize(nullptr));
  EXPECT_TRUE(log.in_order(1, 3));
  EXPECT_EQ(!gate::holds(), log.has(2));
  held.open();
  ok(hipDeviceSynchronize());
  EXPECT_TRUE(log.has(2));
  ok(hipStreamDestroy(blocking));
  ok(hipStreamDestroy(other));
}

TEST(HostOrder, BlockingStreamsWaitForTheNullStream) {
  record log;
  gate held;
  auto const blocking = make_stream();
  auto const other = make_stream(hipStreamNonBlocking);
  held.close(nullptr);
  log.enqueue(nullptr, 1);
  log.enqueue(blocking, 2);
  log.enqueue(other, 3);
  ok(hipStreamSynchronize(other));
  EXPECT_TRUE(log.has(3));
  EXPECT_EQ(!gate::holds(), log.has(1));
  EXPECT_EQ(!gate::holds(), log.has(2));
  held.open();
  ok(hipStreamSynchronize(blocking));
  EXPECT_TRUE(log.in_order(1, 2));
  ok(hipStreamDestroy(blocking));
  ok(hipStreamDestroy(other));
}

TEST(HostOrder, TwoBlockingStreamsMeetInTheNullStream) {
  record log;
  gate held;
  auto const a = make_stream();
  auto const b = make_stream();
  held.close(a);
  log.enqueue(a, 1);
  log.enqueue(nullptr, 2);
  log.enqueue(b, 3);
  held.open();
  ok(hipStreamSynchronize(b));
  EXPECT_EQ((numbers{1, 2, 3}), log.seen());
  ok(hipStreamDestroy(a));
  ok(hipStreamDestroy(b));
}

TEST(HostOrder, TheStreamOfAThreadIsItsOwnAndBlocking) {
  record log;
  gate held;
  held.close(hipStreamPerThread);
  log.enqueue(hipStreamPerThread, 1);
  std::thread([&] {
    log.enqueue(hipStreamPerThread, 2);
    ok(hipStreamSynchronize(hipStreamPerThread));
  }).join();
  EXPECT_TRUE(log.has(2));
  EXPECT_EQ(!gate::holds(), log.has(1));
  log.enqueue(nullptr, 3);
  held.open();
  ok(hipStreamSynchronize(nullptr));
  EXPECT_TRUE(log.in_order(1, 3));
  unsigned flags = 7;
  ok(hipStreamGetFlags(hipStreamPerThread, &flags));
  EXPECT_EQ(0u, flags);
  expect(hipErrorInvalidHandle, hipStreamDestroy(hipStreamPerThread));
}

TEST(HostOrder, WorkOfAThreadThatEndedIsNotLost) {
  record log;
  std::thread([&] { log.enqueue(hipStreamPerThread, 1); }).join();
  log.enqueue(nullptr, 2);
  ok(hipStreamSynchronize(nullptr));
  EXPECT_EQ((numbers{1, 2}), log.seen());
}

TEST(HostOrder, WorkOfADestroyedStreamIsNotLost) {
  for (unsigned flags : {hipStreamDefault, hipStreamNonBlocking}) {
    record log;
    gate held;
    auto const stream = make_stream(flags);
    held.close(stream);
    log.enqueue(stream, 1);
    log.enqueue(stream, 2);
    ok(hipStreamDestroy(stream));
    EXPECT_EQ(!gate::holds(), log.has(1));
    held.open();
    ok(hipDeviceSynchronize());
    EXPECT_EQ((numbers{1, 2}), log.seen());
  }
}

TEST(HostOrder, TheNullStreamWaitsForADestroyedBlockingStream) {
  record log;
  auto const stream = make_stream();
  log.enqueue(stream, 1);
  ok(hipStreamDestroy(stream));
  log.enqueue(nullptr, 2);
  ok(hipStreamSynchronize(nullptr));
  EXPECT_EQ((numbers{1, 2}), log.seen());
}

TEST(HostOrder, PollingAStreamComesToAnEnd) {
  record log;
  auto const stream = make_stream();
  for (int i = 0; i < 10; ++i) log.enqueue(stream, i);
  int polls = 0;
  for (hipError_t state; (state = hipStreamQuery(stream)) != hipSuccess; ++polls) {
    expect(hipErrorNotReady, state);
    std::this_thread::yield();
  }
  EXPECT_EQ(10u, log.seen().size());
  if (deferred()) {
    EXPECT_EQ(10, polls);  // one step each
  }
  ok(hipStreamDestroy(stream));
}

TEST(HostOrder, AHeldStreamIsNotReady) {
  if (!threaded()) GTEST_SKIP() << "only a stream with a thread can be held";
  gate held;
  auto const stream = make_stream();
  held.close(stream);
  expect(hipErrorNotReady, hipStreamQuery(stream));
  held.open();
  ok(hipStreamSynchronize(stream));
  ok(hipStreamQuery(stream));
  ok(hipStreamDestroy(stream));
}

TEST(HostOrder, FreeingWaitsForAllWork) {
  for (int way = 0; way < 3; ++way) {
    record log;
    auto const stream = make_stream(hipStreamNonBlocking);
    void* memory = nullptr;
    static char pinned[4096];
    if (way == 0) ok(hipMalloc(&memory, 100));
    if (way == 1) ok(hipHostMalloc(&memory, 100, 0));
    if (way == 2) ok(hipHostRegister(pinned, sizeof pinned, 0));
    log.enqueue(stream, 1);
    if (way == 0) ok(hipFree(memory));
    if (way == 1) ok(hipHostFree(memory));
    if (way == 2) ok(hipHostUnregister(pinned));
    EXPECT_TRUE(log.has(1)) << way;
    ok(hipStreamDestroy(stream));
  }
}

TEST(HostOrder, WhatIsRefusedDoesNotWait) {
  record log;
  gate held;
  auto const stream = make_stream(hipStreamNonBlocking);
  char* memory = nullptr;
  char* pinned = nullptr;
  char pageable[64] = {};
  ok(hipMalloc(&memory, 1000));
  ok(hipHostMalloc(&pinned, 1000, 0));
  held.close(stream);
  log.enqueue(stream, 1);
  ok(hipFree(nullptr));
  ok(hipHostFree(nullptr));
  expect(hipErrorInvalidValue, hipFree(memory + 256));
  expect(hipErrorInvalidValue, hipFree(pageable));
  expect(hipErrorInvalidValue, hipHostFree(pinned + 1));
  expect(hipErrorInvalidValue, hipHostFree(pageable));
  expect(hipErrorHostMemoryNotRegistered, hipHostUnregister(pageable));
  expect(hipErrorHostMemoryNotRegistered, hipHostUnregister(pinned));
  EXPECT_EQ(!gate::holds(), log.has(1));
  held.open();
  ok(hipFree(memory));
  ok(hipHostFree(pinned));
  EXPECT_TRUE(log.has(1));
  ok(hipStreamDestroy(stream));
}

TEST(HostOrder, TheHostWaitsForACopyWhereItsMemoryIsPartOfIt) {
  record log;
  gate held;
  char* memory = nullptr;
  char back[8] = {};
  ok(hipMalloc(&memory, 16));
  held.close(nullptr);
  log.enqueue(nullptr, 1);
  for (auto kind : {hipMemcpyDeviceToDevice, hipMemcpyDefault}) {
    ok(hipMemcpy(memory, memory + 8, 8, kind));
    EXPECT_EQ(!gate::holds(), log.has(1));
  }
  held.open();
  ok(hipMemcpy(back, memory, 8, hipMemcpyDefault));
  EXPECT_TRUE(log.has(1));
  ok(hipFree(memory));
}

TEST(HostOrder, ACopyOfPageableMemoryReadsItsSourceWhenItRuns) {
  if (!deferred()) GTEST_SKIP() << "only in mode deferred is it known when a copy runs";
  void* device = nullptr;
  ok(hipMalloc(&device, 4));
  int source = 1;
  int back = 0;
  auto const stream = make_stream();
  ok(hipMemcpyAsync(device, &source, 4, hipMemcpyHostToDevice, stream));
  source = 2;
  ok(hipMemcpy(&back, device, 4, hipMemcpyDeviceToHost));
  EXPECT_EQ(2, back);
  ok(hipStreamDestroy(stream));
  ok(hipFree(device));
}

TEST(HostOrder, WorkThatNothingForcedRunsAtTheEnd) {
  if (!deferred()) GTEST_SKIP() << "only in mode deferred is work left at the end";
  EXPECT_EXIT(
      {
        auto const stream = make_stream();
        ok(hipLaunchHostFunc(stream, [](void*) { std::fputs("ran\n", stderr); }, nullptr));
        ok(hipStreamDestroy(stream));
        std::exit(0);
      },
      testing::ExitedWithCode(0), "ran");
}

TEST(HostOrderDeathTest, TheStreamOfAThreadIsThereUntilTheEnd) {
  // After main, the thread's own objects are gone before the last functions run.
  EXPECT_EXIT(
      {
        ok(hipLaunchHostFunc(hipStreamPerThread, [](void*) {}, nullptr));
        std::atexit([] {
          auto const say = [](void*) { std::fputs("late\n", stderr); };
          ok(hipLaunchHostFunc(hipStreamPerThread, say, nullptr));
          ok(hipStreamSynchronize(hipStreamPerThread));
        });
        std::exit(0);
      },
      testing::ExitedWithCode(0), "late");
}

TEST(HostOrder, FlagsAndPrioritiesAreKept) {
  int least = -7;
  int greatest = 7;
  ok(hipDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT_LE(greatest, least);
  hipStream_t stream = nullptr;
  ok(hipStreamCreateWithPriority(&stream, hipStreamNonBlocking, greatest - 5));
  unsigned flags = 0;
  int priority = 0;
  ok(hipStreamGetFlags(stream, &flags));
  ok(hipStreamGetPriority(stream, &priority));
  EXPECT_EQ(hipStreamNonBlocking, flags);
  EXPECT_EQ(greatest, priority);
  ok(hipStreamDestroy(stream));
  expect(hipErrorInvalidValue, hipStreamCreateWithFlags(&stream, 0x80));
  expect(hipErrorInvalidValue, hipStreamCreateWithFlags(nullptr, 0));
}

}  // namespace
