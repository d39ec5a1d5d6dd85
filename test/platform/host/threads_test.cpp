// SPDX-License-Identifier: MIT
// Several threads at once. Each has its own streams, and all use the null stream.
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "platform/host/support.hpp"

namespace {

using namespace roc::test;

void run_rounds(int number, std::atomic<int>& functions) {
  constexpr std::size_t bytes = 3000;
  std::vector<unsigned char> from(bytes, static_cast<unsigned char>(number));
  std::vector<unsigned char> back(bytes);
  for (int round = 0; round < 60; ++round) {
    auto const stream = make_stream(round % 2 == 0 ? hipStreamDefault : hipStreamNonBlocking);
    auto const other = make_stream(hipStreamNonBlocking);
    auto const event = make_event();
    char* data = nullptr;
    char* copy = nullptr;
    char* unused = nullptr;  // filled by the null streams, which `other` does not wait for
    ok(hipMalloc(&data, bytes));
    ok(hipMalloc(&copy, bytes));
    ok(hipMalloc(&unused, bytes));
    std::fill(back.begin(), back.end(), static_cast<unsigned char>(0));
    ok(hipMemcpyAsync(data, from.data(), bytes, hipMemcpyHostToDevice, stream));
    ok(hipEventRecord(event, stream));
    ok(hipStreamWaitEvent(other, event, 0));
    ok(hipMemcpyAsync(copy, data, bytes, hipMemcpyDeviceToDevice, other));
    ok(hipLaunchHostFunc(
        other, [](void* count) { ++*static_cast<std::atomic<int>*>(count); }, &functions));
    struct job {
      char* data;
    };
    ok(launch_host_kernel(
        other, bytes,
        [](void* closure, std::size_t begin, std::size_t end) {
          char* const memory = static_cast<job*>(closure)->data;
          for (std::size_t i = begin; i < end; ++i) memory[i] = static_cast<char>(memory[i] + 1);
        },
        new job{copy}, [](void* closure) { delete static_cast<job*>(closure); }));
    ok(hipMemcpyAsync(back.data(), copy, bytes, hipMemcpyDeviceToHost, other));
    if (round % 5 == 0) ok(hipMemsetAsync(unused, 0, bytes, nullptr));
    if (round % 7 == 0) ok(hipMemsetAsync(unused, 0, bytes, hipStreamPerThread));
    if (round % 3 == 0) ok(hipEventRecord(event, other));
    while (hipStreamQuery(other) == hipErrorNotReady) std::this_thread::yield();
    ok(hipStreamSynchronize(other));
    EXPECT_TRUE(std::all_of(back.begin(), back.end(), [&](auto b) { return b == number + 1; }));
    ok(hipStreamDestroy(stream));
    ok(hipEventDestroy(event));
    ok(hipFree(data));
    ok(hipFree(copy));
    ok(hipFree(unused));
    ok(hipStreamDestroy(other));
  }
}

TEST(HostThreads, EnqueueAndWaitConcurrently) {
  std::atomic<int> functions = 0;
  std::vector<std::thread> threads;
  for (int i = 1; i <= 4; ++i) threads.emplace_back([&, i] { run_rounds(i, functions); });
  for (auto& thread : threads) thread.join();
  ok(hipDeviceSynchronize());
  EXPECT_EQ(4 * 60, functions);
}

TEST(HostThreads, WorkOfManyShortThreadsRuns) {
  std::atomic<int> functions = 0;
  for (int i = 0; i < 500; ++i) {
    std::thread([&] {
      ok(hipLaunchHostFunc(
          hipStreamPerThread, [](void* count) { ++*static_cast<std::atomic<int>*>(count); },
          &functions));
    }).join();
  }
  ok(hipDeviceSynchronize());
  EXPECT_EQ(500, functions);
}

TEST(HostThreads, RegisterAndPinConcurrently) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      std::vector<char> memory(8192);
      for (int round = 0; round < 100; ++round) {
        void* pinned = nullptr;
        ok(hipHostRegister(memory.data(), memory.size(), 0));
        ok(hipHostMalloc(&pinned, 500, 0));
        hipPointerAttribute_t attributes{};
        ok(hipPointerGetAttributes(&attributes, memory.data() + 5));
        EXPECT_EQ(memory.data() + 5, attributes.hostPointer);
        ok(hipHostFree(pinned));
        ok(hipHostUnregister(memory.data()));
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

// A stream's thread is started before its first operation is enqueued.
TEST(HostThreadStart, CallFailsAndEnqueuesNothingIfNoThreadCanStart) {
  if (!threaded()) GTEST_SKIP() << "needs mode threaded";
  execution_log log;
  auto const stream = make_stream();
  auto const event = make_event();
  auto const no_function = [](void*) { std::abort(); };
  void* device = nullptr;
  ok(hipMalloc(&device, 64));
  char host[64] = {};
  auto const failing = [](auto call) {
    ASSERT_TRUE(roc::host_hip::fail_at("start_thread", 1, hipErrorUnknown));
    expect(hipErrorOutOfMemory, call());
  };
  failing([&] { return hipLaunchHostFunc(stream, no_function, nullptr); });
  failing([&] { return hipMemcpyAsync(device, host, 64, hipMemcpyHostToDevice, stream); });
  failing([&] { return hipMemsetAsync(device, 1, 64, stream); });
  failing([&] { return hipEventRecord(event, stream); });
  failing([&] { return hipFreeAsync(device, stream); });
  failing([&] {
    return launch_host_kernel(
        stream, 1, [](void*, std::size_t, std::size_t) { std::abort(); }, nullptr, [](void*) {});
  });
  // No later wait hangs, and nothing of the failed calls runs.
  ok(hipStreamSynchronize(stream));
  ok(hipEventSynchronize(event));
  ok(hipStreamQuery(stream));
  ok(hipDeviceSynchronize());
  log.enqueue(stream, 1);
  ok(hipStreamSynchronize(stream));
  EXPECT_EQ(std::vector<int>{1}, log.executed());
  ok(hipEventDestroy(event));
  ok(hipFree(device));
  ok(hipStreamDestroy(stream));
}

// Signals of faults stay: a blocked one ends the process without its handler.
TEST(HostThreadStart, ThreadTakesNoSignalsOfTheProcess) {
  if (!threaded()) GTEST_SKIP() << "needs mode threaded";
  sigset_t blocked;
  sigemptyset(&blocked);
  auto const stream = make_stream();
  auto const read_mask = [](void* mask) {
    pthread_sigmask(SIG_BLOCK, nullptr, static_cast<sigset_t*>(mask));
  };
  ok(hipLaunchHostFunc(stream, read_mask, &blocked));
  ok(hipStreamSynchronize(stream));
  EXPECT_TRUE(sigismember(&blocked, SIGUSR1));
  EXPECT_TRUE(sigismember(&blocked, SIGTERM));
  EXPECT_FALSE(sigismember(&blocked, SIGSEGV));
  ok(hipStreamDestroy(stream));
}

// In its own process, because the shared threads are started once.
TEST(HostThreadStartDeathTest, LargeCopyWorksWithoutSharedThreads) {
  EXPECT_EXIT(
      {
        std::vector<char> host(std::size_t{8} << 20, 'h');
        std::vector<char> back(host.size());
        auto const stream = make_stream();
        void* data = nullptr;
        ok(hipMalloc(&data, host.size()));
        ok(hipMemsetAsync(data, 0, 1, stream));  // starts the stream's thread
        roc::host_hip::fail_at("start_thread", 1, hipErrorUnknown);
        ok(hipMemcpyAsync(data, host.data(), host.size(), hipMemcpyHostToDevice, stream));
        ok(hipStreamSynchronize(stream));
        ok(hipMemcpyAsync(back.data(), data, host.size(), hipMemcpyDeviceToHost, stream));
        ok(hipStreamSynchronize(stream));
        std::_Exit(host == back ? 0 : 1);
      },
      testing::ExitedWithCode(0), "^$");
}

}  // namespace
