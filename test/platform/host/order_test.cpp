// SPDX-License-Identifier: MIT
// The order of work: within a stream, across streams, and with the legacy default stream.
#include "platform/host/support.hpp"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <thread>

namespace {

using namespace roc::test;
using numbers = std::vector<int>;

TEST(HostStream, RunsWorkInOrder) {
  execution_log log;
  auto const stream = make_stream();
  numbers expected;
  for (int i = 0; i < 200; ++i) {
    log.enqueue(stream, i);
    expected.push_back(i);
  }
  ok(hipStreamSynchronize(stream));
  EXPECT_EQ(expected, log.executed());
  ok(hipStreamDestroy(stream));
}

TEST(HostStream, DeferredWorkRunsOnlyIfWaitedFor) {
  if (!deferred()) GTEST_SKIP() << "needs mode deferred";
  execution_log log;
  auto const a = make_stream();
  auto const b = make_stream();
  log.enqueue(a, 1);
  log.enqueue(b, 2);
  EXPECT_TRUE(log.executed().empty());
  ok(hipStreamSynchronize(b));
  EXPECT_EQ((numbers{2}), log.executed());
  ok(hipDeviceSynchronize());
  EXPECT_EQ((numbers{2, 1}), log.executed());
  ok(hipStreamDestroy(a));
  ok(hipStreamDestroy(b));
}

TEST(HostStream, InlineWorkRunsAtEnqueue) {
  if (!inlined()) GTEST_SKIP() << "needs mode inline";
  execution_log log;
  auto const stream = make_stream();
  log.enqueue(stream, 1);
  EXPECT_EQ((numbers{1}), log.executed());
  ok(hipStreamQuery(stream));
  ok(hipStreamDestroy(stream));
}

TEST(HostNullStream, WaitsForBlockingStreamsOnly) {
  execution_log log;
  gate blocked;
  auto const blocking = make_stream();
  auto const other = make_stream(hipStreamNonBlocking);
  blocked.close(other);
  log.enqueue(other, 2);
  log.enqueue(blocking, 1);
  log.enqueue(nullptr, 3);
  ok(hipStreamSynchronize(nullptr));
  EXPECT_TRUE(log.in_order(1, 3));
  EXPECT_EQ(!gate::holds(), log.has(2));
  blocked.open();
  ok(hipDeviceSynchronize());
  EXPECT_TRUE(log.has(2));
  ok(hipStreamDestroy(blocking));
  ok(hipStreamDestroy(other));
}

TEST(HostNullStream, BlocksBlockingStreamsOnly) {
  execution_log log;
  gate blocked;
  auto const blocking = make_stream();
  auto const other = make_stream(hipStreamNonBlocking);
  blocked.close(nullptr);
  log.enqueue(nullptr, 1);
  log.enqueue(blocking, 2);
  log.enqueue(other, 3);
  ok(hipStreamSynchronize(other));
  EXPECT_TRUE(log.has(3));
  EXPECT_EQ(!gate::holds(), log.has(1));
  EXPECT_EQ(!gate::holds(), log.has(2));
  blocked.open();
  ok(hipStreamSynchronize(blocking));
  EXPECT_TRUE(log.in_order(1, 2));
  ok(hipStreamDestroy(blocking));
  ok(hipStreamDestroy(other));
}

TEST(HostNullStream, OrdersBlockingStreams) {
  execution_log log;
  gate blocked;
  auto const a = make_stream();
  auto const b = make_stream();
  blocked.close(a);
  log.enqueue(a, 1);
  log.enqueue(nullptr, 2);
  log.enqueue(b, 3);
  blocked.open();
  ok(hipStreamSynchronize(b));
  EXPECT_EQ((numbers{1, 2, 3}), log.executed());
  ok(hipStreamDestroy(a));
  ok(hipStreamDestroy(b));
}

TEST(HostNullStream, SynchronizeWaitsForBlockingStreamsOnly) {
  execution_log log;
  gate blocked;
  auto const blocking = make_stream();
  auto const other = make_stream(hipStreamNonBlocking);
  blocked.close(other);
  log.enqueue(other, 2);
  log.enqueue(blocking, 1);
  ok(hipStreamSynchronize(nullptr));  // nothing was enqueued on the null stream itself
  EXPECT_TRUE(log.has(1));
  EXPECT_EQ(!gate::holds(), log.has(2));
  blocked.open();
  ok(hipStreamSynchronize(other));
  ok(hipStreamDestroy(blocking));
  ok(hipStreamDestroy(other));
}

TEST(HostNullStream, QueryCoversBlockingStreamsOnly) {
  execution_log log;
  gate blocked;
  auto const blocking = make_stream();
  auto const other = make_stream(hipStreamNonBlocking);
  ok(hipStreamQuery(nullptr));
  log.enqueue(other, 2);
  ok(hipStreamQuery(nullptr));
  blocked.close(blocking);
  log.enqueue(blocking, 1);
  expect(gate::holds() ? hipErrorNotReady : hipSuccess, hipStreamQuery(nullptr));
  blocked.open();
  while (hipStreamQuery(nullptr) == hipErrorNotReady) std::this_thread::yield();
  EXPECT_TRUE(log.has(1));
  ok(hipStreamQuery(nullptr));
  ok(hipDeviceSynchronize());
  ok(hipStreamDestroy(blocking));
  ok(hipStreamDestroy(other));
}

TEST(HostNullStream, SynchronizeWaitsForDestroyedBlockingStream) {
  execution_log log;
  auto const stream = make_stream();
  log.enqueue(stream, 1);
  ok(hipStreamDestroy(stream));
  ok(hipStreamSynchronize(nullptr));
  EXPECT_TRUE(log.has(1));
}

TEST(HostPerThreadStream, IsPerThreadAndBlocking) {
  execution_log log;
  gate blocked;
  blocked.close(hipStreamPerThread);
  log.enqueue(hipStreamPerThread, 1);
  std::thread([&] {
    log.enqueue(hipStreamPerThread, 2);
    ok(hipStreamSynchronize(hipStreamPerThread));
  }).join();
  EXPECT_TRUE(log.has(2));
  EXPECT_EQ(!gate::holds(), log.has(1));
  log.enqueue(nullptr, 3);
  blocked.open();
  ok(hipStreamSynchronize(nullptr));
  EXPECT_TRUE(log.in_order(1, 3));
  unsigned flags = 7;
  ok(hipStreamGetFlags(hipStreamPerThread, &flags));
  EXPECT_EQ(0u, flags);
  expect(hipErrorInvalidHandle, hipStreamDestroy(hipStreamPerThread));
}

TEST(HostPerThreadStream, WorkRunsAfterThreadHasEnded) {
  execution_log log;
  std::thread([&] { log.enqueue(hipStreamPerThread, 1); }).join();
  log.enqueue(nullptr, 2);
  ok(hipStreamSynchronize(nullptr));
  EXPECT_EQ((numbers{1, 2}), log.executed());
}

TEST(HostStreamDestroy, PendingWorkStillRuns) {
  for (unsigned flags : {hipStreamDefault, hipStreamNonBlocking}) {
    execution_log log;
    gate blocked;
    auto const stream = make_stream(flags);
    blocked.close(stream);
    log.enqueue(stream, 1);
    log.enqueue(stream, 2);
    ok(hipStreamDestroy(stream));
    EXPECT_EQ(!gate::holds(), log.has(1));
    blocked.open();
    ok(hipDeviceSynchronize());
    EXPECT_EQ((numbers{1, 2}), log.executed());
  }
}

TEST(HostStreamDestroy, NullStreamStillWaitsForPendingWork) {
  execution_log log;
  auto const stream = make_stream();
  log.enqueue(stream, 1);
  ok(hipStreamDestroy(stream));
  log.enqueue(nullptr, 2);
  ok(hipStreamSynchronize(nullptr));
  EXPECT_EQ((numbers{1, 2}), log.executed());
}

TEST(HostStreamQuery, EventuallyReturnsSuccess) {
  execution_log log;
  auto const stream = make_stream();
  for (int i = 0; i < 10; ++i) log.enqueue(stream, i);
  int polls = 0;
  for (hipError_t state; (state = hipStreamQuery(stream)) != hipSuccess; ++polls) {
    expect(hipErrorNotReady, state);
    std::this_thread::yield();
  }
  EXPECT_EQ(10u, log.executed().size());
  if (deferred()) {
    EXPECT_EQ(10, polls);  // each call runs one operation
  }
  ok(hipStreamDestroy(stream));
}

TEST(HostStreamQuery, ReturnsNotReadyIfWorkIsPending) {
  if (!threaded()) GTEST_SKIP() << "needs mode threaded";
  gate blocked;
  auto const stream = make_stream();
  blocked.close(stream);
  expect(hipErrorNotReady, hipStreamQuery(stream));
  blocked.open();
  ok(hipStreamSynchronize(stream));
  ok(hipStreamQuery(stream));
  ok(hipStreamDestroy(stream));
}

TEST(HostFree, WaitsForAllWork) {
  for (int kind = 0; kind < 3; ++kind) {
    execution_log log;
    auto const stream = make_stream(hipStreamNonBlocking);
    void* memory = nullptr;
    static char pinned[4096];
    if (kind == 0) ok(hipMalloc(&memory, 100));
    if (kind == 1) ok(hipHostMalloc(&memory, 100, 0));
    if (kind == 2) ok(hipHostRegister(pinned, sizeof pinned, 0));
    log.enqueue(stream, 1);
    if (kind == 0) ok(hipFree(memory));
    if (kind == 1) ok(hipHostFree(memory));
    if (kind == 2) ok(hipHostUnregister(pinned));
    EXPECT_TRUE(log.has(1)) << kind;
    ok(hipStreamDestroy(stream));
  }
}

TEST(HostFree, DoesNotWaitForMemoryOfAPool) {
  execution_log log;
  gate blocked;
  auto const stream = make_stream(hipStreamNonBlocking);
  void* memory = nullptr;
  ok(hipMallocAsync(&memory, 100, stream));
  blocked.close(stream);
  log.enqueue(stream, 1);
  ok(hipFree(memory));
  EXPECT_EQ(!gate::holds(), log.has(1));
  blocked.open();
  ok(hipStreamSynchronize(stream));
  ok(hipStreamDestroy(stream));
}

TEST(HostFree, DoesNotWaitIfItFails) {
  execution_log log;
  gate blocked;
  auto const stream = make_stream(hipStreamNonBlocking);
  char* memory = nullptr;
  char* pinned = nullptr;
  char pageable[64] = {};
  ok(hipMalloc(&memory, 1000));
  ok(hipHostMalloc(&pinned, 1000, 0));
  blocked.close(stream);
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
  blocked.open();
  ok(hipFree(memory));
  ok(hipHostFree(pinned));
  EXPECT_TRUE(log.has(1));
  ok(hipStreamDestroy(stream));
}

TEST(HostMemcpy, BlocksOnlyIfHostMemoryTakesPart) {
  execution_log log;
  gate blocked;
  char* memory = nullptr;
  char back[8] = {};
  ok(hipMalloc(&memory, 16));
  blocked.close(nullptr);
  log.enqueue(nullptr, 1);
  for (auto kind : {hipMemcpyDeviceToDevice, hipMemcpyDefault}) {
    ok(hipMemcpy(memory, memory + 8, 8, kind));
    EXPECT_EQ(!gate::holds(), log.has(1));
  }
  blocked.open();
  ok(hipMemcpy(back, memory, 8, hipMemcpyDefault));
  EXPECT_TRUE(log.has(1));
  ok(hipFree(memory));
}

// Returns how often the calling thread has waited for another one.
long voluntary_switches() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

TEST(HostMemcpyAsync, ShortCopyIsRunByTheThreadThatWaits) {
  if (!threaded()) GTEST_SKIP() << "needs mode threaded";
  constexpr int copies = 1000;
  auto const stream = make_stream();
  auto const event = make_event();
  int* memory = nullptr;
  ok(hipMalloc(&memory, sizeof(int)));
  int value = 0;
  long switches = copies;
  // The stream's thread may be faster, most often if the machine is loaded.
  for (int round = 0; round < 20 && switches > copies / 2; ++round) {
    long const before = voluntary_switches();
    for (int i = 0; i < copies; ++i) {
      value = i;
      ok(hipMemcpyAsync(memory, &value, sizeof value, hipMemcpyHostToDevice, stream));
      ok(hipEventRecord(event, stream));
      ok(hipEventSynchronize(event));
    }
    switches = voluntary_switches() - before;
  }
  EXPECT_LE(switches, copies / 2);
  ok(hipMemcpy(&value, memory, sizeof value, hipMemcpyDeviceToHost));
  EXPECT_EQ(copies - 1, value);
  ok(hipFree(memory));
  ok(hipEventDestroy(event));
  ok(hipStreamDestroy(stream));
}

TEST(HostMemcpyAsync, RunsOnceIfSeveralThreadsWait) {
  auto const stream = make_stream();
  std::vector<std::byte> const source(std::size_t{3} << 20, std::byte{7});
  std::vector<std::byte> destination(source.size());
  for (int round = 0; round < 50; ++round) {
    std::fill(destination.begin(), destination.end(), std::byte{0});
    ok(hipMemcpyAsync(destination.data(), source.data(), source.size(), hipMemcpyHostToHost,
                      stream));
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        EXPECT_EQ(hipSuccess, hipStreamSynchronize(stream));
        EXPECT_EQ(std::byte{7}, destination.back());
      });
    }
    threads.clear();
    ASSERT_EQ(source, destination);
  }
  ok(hipStreamDestroy(stream));
}

TEST(HostMemcpyAsync, ReadsPageableSourceWhenItRuns) {
  if (!deferred()) GTEST_SKIP() << "needs mode deferred";
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

TEST(HostStreamDeathTest, DeferredWorkRunsAtExit) {
  if (!deferred()) GTEST_SKIP() << "needs mode deferred";
  EXPECT_EXIT(
      {
        auto const stream = make_stream();
        ok(hipLaunchHostFunc(
            stream, [](void*) { std::fputs("ran\n", stderr); }, nullptr));
        ok(hipStreamDestroy(stream));
        std::exit(0);
      },
      testing::ExitedWithCode(0), "ran");
}

TEST(HostStreamDeathTest, ForkedProcessDoesNotRunWorkOfItsParent) {
  if (!deferred()) GTEST_SKIP() << "needs mode deferred";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        auto const print = [](void*) { std::fputs("ran\n", stderr); };
        auto const stream = make_stream();
        ok(hipLaunchHostFunc(stream, print, nullptr));
        pid_t const child = ::fork();
        if (child == 0) std::exit(0);
        ::waitpid(child, nullptr, 0);
        std::fputs("the child has ended\n", stderr);
        std::exit(0);
      },
      testing::ExitedWithCode(0), "^the child has ended\nran\n");
}

TEST(HostPerThreadStreamDeathTest, IsUsableInExitHandlers) {
  // The main thread's thread_local objects are destroyed before exit handlers run.
  EXPECT_EXIT(
      {
        ok(hipLaunchHostFunc(
            hipStreamPerThread, [](void*) {}, nullptr));
        std::atexit([] {
          auto const print = [](void*) { std::fputs("late\n", stderr); };
          ok(hipLaunchHostFunc(hipStreamPerThread, print, nullptr));
          ok(hipStreamSynchronize(hipStreamPerThread));
        });
        std::exit(0);
      },
      testing::ExitedWithCode(0), "late");
}

TEST(HostStream, HasFlagsAndClampedPriority) {
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
