// SPDX-License-Identifier: MIT
// HIP on the CPU without host memory: waits and operations need none, because an operation could
// not report it. Each test has a process of its own.
#include <gtest/gtest.h>

#include <cstddef>
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
