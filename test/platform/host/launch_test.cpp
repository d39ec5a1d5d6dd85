// SPDX-License-Identifier: MIT
// Kernels and host functions.
#include <atomic>
#include <memory>
#include <new>

#include "platform/host/support.hpp"

namespace {

using namespace roc::test;

// The result of a kernel: the test and the kernel's closure share it.
struct outcome {
  std::vector<std::atomic<int>> visits;
  std::atomic<int> destroyed = 0;
  std::atomic<int> runs = 0;
  explicit outcome(std::size_t items) : visits(items) {}
};

void visit(void* closure, std::size_t begin, std::size_t end) {
  auto& result = **static_cast<std::shared_ptr<outcome>*>(closure);
  ++result.runs;
  for (std::size_t i = begin; i < end; ++i) ++result.visits[i];
}

void destroy(void* closure) {
  auto* const owned = static_cast<std::shared_ptr<outcome>*>(closure);
  ++(*owned)->destroyed;
  delete owned;
}

hipError_t launch(hipStream_t stream, std::shared_ptr<outcome> const& result) {
  return launch_host_kernel(stream, result->visits.size(), &visit,
                            new std::shared_ptr<outcome>(result), &destroy);
}

TEST(HostLaunch, VisitsEveryItemOnce) {
  auto const stream = make_stream();
  for (std::size_t items : {0, 1, 2, 1023, 1024, 1025, 4097, 100003, 1 << 20}) {
    auto const result = std::make_shared<outcome>(items);
    ok(launch(stream, result));
    ok(hipStreamSynchronize(stream));
    for (std::size_t i = 0; i < items; ++i) ASSERT_EQ(1, result->visits[i]) << i << " of " << items;
    EXPECT_EQ(1, result->destroyed) << items;
  }
  ok(hipStreamDestroy(stream));
}

TEST(HostLaunch, DestroysClosureOnceIfLaunchFails) {
  auto const stream = make_stream();
  ok(hipStreamDestroy(stream));
  auto const stale = std::make_shared<outcome>(5);
  expect(hipErrorInvalidHandle, launch(stream, stale));
  EXPECT_EQ(1, stale->destroyed);
  auto const failed = std::make_shared<outcome>(5);
  ASSERT_TRUE(fail_at("launch_host_kernel", 1, hipErrorLaunchFailure));
  expect(hipErrorLaunchFailure, launch(nullptr, failed));
  EXPECT_EQ(1, failed->destroyed);
  auto const no_kernel = std::make_shared<outcome>(5);
  auto* const closure = new std::shared_ptr<outcome>(no_kernel);
  expect(hipErrorInvalidValue, launch_host_kernel(nullptr, 5, nullptr, closure, &destroy));
  EXPECT_EQ(1, no_kernel->destroyed);
  ok(hipDeviceSynchronize());
  EXPECT_EQ(0, stale->runs + failed->runs);
}

TEST(HostLaunch, KernelsOfTwoStreamsVisitAllItems) {
  auto const a = make_stream(hipStreamNonBlocking);
  auto const b = make_stream(hipStreamNonBlocking);
  std::vector<std::shared_ptr<outcome>> all;
  for (int i = 0; i < 40; ++i) {
    all.push_back(std::make_shared<outcome>(20000));
    ok(launch(i % 2 == 0 ? a : b, all.back()));
  }
  ok(hipDeviceSynchronize());
  for (auto const& result : all) {
    for (auto const& visits : result->visits) ASSERT_EQ(1, visits);
    EXPECT_EQ(1, result->destroyed);
  }
  ok(hipStreamDestroy(a));
  ok(hipStreamDestroy(b));
}

TEST(HostLaunch, KernelsRunInStreamOrder) {
  execution_log log;
  gate blocked;
  auto const stream = make_stream();
  auto const result = std::make_shared<outcome>(10);
  blocked.close(stream);
  ok(launch(stream, result));
  if (gate::holds()) {
    EXPECT_EQ(0, result->runs);
  }
  log.enqueue(stream, 1);
  blocked.open();
  ok(hipStreamSynchronize(stream));
  EXPECT_TRUE(log.has(1));
  EXPECT_EQ(1, result->runs);
  ok(hipStreamDestroy(stream));
}

TEST(HostLaunchDeathTest, KernelThatThrowsTerminatesProcess) {
  auto const fail = [](void*, std::size_t, std::size_t) { throw std::bad_alloc(); };
  EXPECT_DEATH(
      {
        auto const stream = make_stream();
        ok(launch_host_kernel(stream, 5, fail, nullptr, [](void*) {}));
        ok(hipStreamSynchronize(stream));
      },
      "bad_alloc");
}

TEST(HostFunction, CallingTheRuntimeFails) {
  struct call_results {
    hipError_t malloc_result, query, last, peek, launched;
  } results_in_function{};
  static_cast<void>(hipGetLastError());
  auto const stream = make_stream();
  ok(hipLaunchHostFunc(
      stream,
      [](void* data) {
        auto& to = *static_cast<call_results*>(data);
        void* memory = nullptr;
        to.malloc_result = hipMalloc(&memory, 1);
        to.query = hipStreamQuery(nullptr);
        to.last = hipGetLastError();
        to.peek = hipPeekAtLastError();
        to.launched = launch_host_kernel(
            nullptr, 1, [](void*, std::size_t, std::size_t) {}, nullptr, [](void*) {});
      },
      &results_in_function));
  ok(hipStreamSynchronize(stream));
  for (auto result :
       {results_in_function.malloc_result, results_in_function.query, results_in_function.last,
        results_in_function.peek, results_in_function.launched}) {
    expect(hipErrorNotPermitted, result);
    EXPECT_EQ(800, static_cast<int>(result));
  }
  ok(hipGetLastError());
  void* memory = nullptr;
  ok(hipMalloc(&memory, 1));  // calls succeed again afterwards
  ok(hipFree(memory));
  expect(hipErrorInvalidValue, hipLaunchHostFunc(stream, nullptr, nullptr));
  ok(hipStreamDestroy(stream));
}

}  // namespace
