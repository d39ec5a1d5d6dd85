// SPDX-License-Identifier: MIT
// HIP on the CPU without host memory: waits and operations need none, because an operation could
// not report it. Each test has a process of its own.
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>

#include <roc/error.hpp>
#include <roc/kernel.hpp>
#include <roc/launch.hpp>

#include "platform/host/support.hpp"
#include "support/failing_new.hpp"

namespace {

using namespace roc::test;

TEST(HostMemoryExhausted, WaitsNeedNoMemory) {
  auto const first = make_stream();
  auto const second = make_stream(hipStreamNonBlocking);
  auto const event = make_event();
  // Nothing orders the work of `second` after that of the others.
  void* data = nullptr;
  void* data_of_second = nullptr;
  ok(hipMalloc(&data, 1000));
  ok(hipMalloc(&data_of_second, 1000));
  ok(hipMemsetAsync(data, 1, 1000, first));
  ok(hipMemsetAsync(data_of_second, 1, 1000, second));
  ok(hipMemsetAsync(data, 1, 1000, nullptr));
  ok(hipEventRecord(event, first));
  fail_new_of_all_threads(1, true);
  ok(hipStreamSynchronize(second));
  ok(hipStreamSynchronize(nullptr));
  ok(hipEventSynchronize(event));
  ok(hipDeviceSynchronize());
  ok(hipFree(data));
  ok(hipFree(data_of_second));
  stop_failing_new();
  ok(hipEventDestroy(event));
  ok(hipStreamDestroy(first));
  ok(hipStreamDestroy(second));
}

// Calls call(), whose n-th allocation fails in the n-th round, until it succeeds. Calls
// check(result) after each round.
template <class Call, class Check>
void fail_until_success(Call call, Check check) {
  for (long nth = 1;; ++nth) {
    fail_new_of_all_threads(nth);
    hipError_t const result = call();
    bool const has_failed = has_new_failed();
    stop_failing_new();
    check(result);
    if (!has_failed) return ok(result);
  }
}

TEST(HostMemoryExhausted, CallThatFailsAddsNothingToACapture) {
  auto const stream = make_stream();
  char* data = nullptr;
  ok(hipHostMalloc(reinterpret_cast<void**>(&data), 1, 0));
  auto const begin = [&] {
    *data = 0;
    ok(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
  };
  begin();
  fail_until_success([&] { return hipMemsetAsync(data, 1, 1, stream); },
                     [&](hipError_t result) {
                       hipGraph_t graph = nullptr;
                       hipGraphExec_t executable = nullptr;
                       ok(hipStreamEndCapture(stream, &graph));
                       ok(hipGraphInstantiateWithFlags(&executable, graph, 0));
                       ok(hipGraphLaunch(executable, stream));
                       ok(hipStreamSynchronize(stream));
                       EXPECT_EQ(result == hipSuccess, *data == 1);
                       begin();
                     });
}

TEST(HostMemoryExhausted, WaitThatFailsLetsNoStreamJoinACapture) {
  auto const stream = make_stream();
  auto const joined = make_stream();
  auto const event = make_event();
  ok(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
  ok(hipLaunchHostFunc(stream, [](void*) {}, nullptr));
  ok(hipEventRecord(event, stream));
  fail_until_success([&] { return hipStreamWaitEvent(joined, event, 0); },
                     [&](hipError_t result) {
                       auto status = hipStreamCaptureStatusNone;
                       ok(hipStreamIsCapturing(joined, &status));
                       EXPECT_EQ(result == hipSuccess, status == hipStreamCaptureStatusActive);
                     });
}

// A device address is a mapping under the rules of ROCm.
TEST(HostMemoryExhausted, RegistrationThatFailsLeavesNoMapping) {
  alignas(4096) static char memory[1 << 20];
  auto const mapped_pages = [] {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages;
  };
  ok(hipHostRegister(memory, sizeof memory, 0));
  ok(hipHostUnregister(memory));
  std::size_t const before = mapped_pages();
  for (int i = 0; i != 64; ++i) {
    fail_new_of_all_threads(1, true);
    hipError_t const result = hipHostRegister(memory, sizeof memory, 0);
    stop_failing_new();
    expect(hipErrorOutOfMemory, result);
  }
  EXPECT_LT(mapped_pages(), before + 64 * sizeof memory / 4096);
}

TEST(HostMemoryExhausted, EventThatCannotBeCreatedLeavesNoFile) {
  auto const count_files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  auto const before = count_files();
  hipEvent_t event = nullptr;
  fail_until_success(
      [&] { return hipEventCreateWithFlags(&event, hipEventInterprocess | hipEventDisableTiming); },
      [&](hipError_t) { EXPECT_LE(count_files(), before + 1); });
  ok(hipEventDestroy(event));
}

// A kernel may be the first to use the tables of memory.
TEST(HostMemoryExhausted, KernelsNeedNoMemory) {
  static int runs = 0;
  auto const run = [](void*, std::size_t, std::size_t) { ++runs; };
  auto const stream = make_stream();
  int launched = 0;
  for (long nth = 1; nth != 20; ++nth) {
    fail_new_of_all_threads(nth);
    hipError_t const result =
        roc::host_hip::launch_host_kernel(stream, 1, run, nullptr, [](void*) {});
    if (result == hipSuccess) ++launched;
    ok(hipStreamSynchronize(stream));
    stop_failing_new();
  }
  EXPECT_LT(0, launched);
  EXPECT_EQ(launched, runs);
}

__global__ void count_up(int* sum) {
  __shared__ int numbers[64];
  numbers[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int const number : numbers) atomicAdd(sum, number);
}

// The call allocates the stacks of threads that wait at a barrier.
TEST(HostMemoryExhausted, KernelsWithSharedMemoryNeedNoMemory) {
  int* sum = nullptr;
  ok(hipMalloc(&sum, sizeof *sum));
  auto const stream = make_stream();
  int launched = 0;
  for (long nth = 1; nth != 100; ++nth) {
    ok(hipMemsetAsync(sum, 0, sizeof *sum, stream));
    ok(hipStreamSynchronize(stream));
    fail_new_of_all_threads(nth, true);
    bool has_succeeded = false;
    try {
      roc::launch(count_up, 3, 64, 0, roc::from_native(stream), sum);
      has_succeeded = true;
    } catch (roc::error const&) {
    } catch (std::bad_alloc const&) {
    }
    ok(hipStreamSynchronize(stream));
    stop_failing_new();
    if (!has_succeeded) continue;
    ++launched;
    int found = 0;
    ok(hipMemcpy(&found, sum, sizeof found, hipMemcpyDeviceToHost));
    EXPECT_EQ(found, 3 * 64);
  }
  EXPECT_LT(0, launched);
  ok(hipFree(sum));
}

}  // namespace
