// SPDX-License-Identifier: MIT
// HIP on the CPU without host memory: waits and operations need none, because an operation could
// not report it. Each test has a process of its own.
#include <gtest/gtest.h>

#include <cstddef>

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

}  // namespace
