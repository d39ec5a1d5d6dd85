// SPDX-License-Identifier: MIT
// Handles that are none, the last error, names.
#include "platform/host/support.hpp"

namespace {

using namespace roc::test;

void try_stream(hipStream_t stream) {
  auto const bad = hipErrorInvalidHandle;
  char bytes[8] = {};
  unsigned flags = 0;
  int priority = 0;
  auto const event = make_event();
  hipMemcpy3DParms box{};
  expect(bad, hipStreamSynchronize(stream));
  expect(bad, hipStreamQuery(stream));
  expect(bad, hipStreamDestroy(stream));
  expect(bad, hipStreamGetFlags(stream, &flags));
  expect(bad, hipStreamGetPriority(stream, &priority));
  expect(bad, hipStreamWaitEvent(stream, event, 0));
  expect(bad, hipEventRecord(event, stream));
  expect(bad, hipLaunchHostFunc(stream, [](void*) {}, nullptr));
  expect(bad, hipMemcpyAsync(bytes, bytes, 4, hipMemcpyHostToHost, stream));
  expect(bad, hipMemcpy2DAsync(bytes, 4, bytes, 4, 4, 1, hipMemcpyHostToHost, stream));
  expect(bad, hipMemcpy3DAsync(&box, stream));
  expect(bad, hipMemsetAsync(nullptr, 0, 0, stream));
  expect(bad, launch_host_kernel(stream, 1, [](void*, std::size_t, std::size_t) {}, nullptr,
                                 [](void*) {}));
  ok(hipEventDestroy(event));
}

void try_event(hipEvent_t event) {
  auto const bad = hipErrorInvalidHandle;
  float milliseconds = 0;
  expect(bad, hipEventSynchronize(event));
  expect(bad, hipEventQuery(event));
  expect(bad, hipEventDestroy(event));
  expect(bad, hipEventRecord(event, nullptr));
  expect(bad, hipEventElapsedTime(&milliseconds, event, event));
  expect(bad, hipStreamWaitEvent(nullptr, event, 0));
}

TEST(HostHandles, OfDestroyedAndUnknownStreams) {
  EXPECT_EQ(400, static_cast<int>(hipErrorInvalidHandle));
  auto const stream = make_stream();
  ok(hipStreamDestroy(stream));
  // A new stream does not bring the old handle back to life.
  auto const next = make_stream();
  EXPECT_NE(stream, next);
  try_stream(stream);
  int local = 0;
  try_stream(reinterpret_cast<hipStream_t>(&local));
  auto const event = make_event();
  try_stream(reinterpret_cast<hipStream_t>(event));
  ok(hipEventDestroy(event));
  ok(hipStreamDestroy(next));
  expect(hipErrorInvalidHandle, hipStreamDestroy(nullptr));
}

TEST(HostHandles, OfDestroyedAndUnknownEvents) {
  auto const event = make_event();
  ok(hipEventDestroy(event));
  auto const next = make_event();
  EXPECT_NE(event, next);
  try_event(event);
  try_event(nullptr);
  int local = 0;
  try_event(reinterpret_cast<hipEvent_t>(&local));
  ok(hipEventDestroy(next));
}

TEST(HostLastError, StaysUntilItIsAskedFor) {
  static_cast<void>(hipGetLastError());
  void* memory = nullptr;
  expect(hipErrorInvalidValue, hipFree(&memory));
  ok(hipMalloc(&memory, 1));
  ok(hipFree(memory));
  expect(hipErrorInvalidValue, hipPeekAtLastError());
  expect(hipErrorInvalidValue, hipPeekAtLastError());
  expect(hipErrorInvalidValue, hipGetLastError());
  ok(hipGetLastError());
}

TEST(HostLastError, NotReadyIsNone) {
  static_cast<void>(hipGetLastError());
  auto const stream = make_stream();
  gate held;
  held.close(stream);
  ok(hipLaunchHostFunc(stream, [](void*) {}, nullptr));
  expect(gate::holds() ? hipErrorNotReady : hipSuccess, hipStreamQuery(stream));
  ok(hipGetLastError());
  held.open();
  ok(hipStreamSynchronize(stream));
  ok(hipStreamDestroy(stream));
}

TEST(HostLastError, IsOfTheThread) {
  static_cast<void>(hipGetLastError());
  std::thread([] { expect(hipErrorInvalidDevice, hipSetDevice(99)); }).join();
  ok(hipGetLastError());
}

TEST(HostErrors, HaveNamesAndTexts) {
  EXPECT_STREQ("hipErrorOutOfMemory", hipGetErrorName(hipErrorOutOfMemory));
  EXPECT_STREQ("out of memory", hipGetErrorString(hipErrorOutOfMemory));
  EXPECT_STREQ("hipSuccess", hipGetErrorName(hipSuccess));
  EXPECT_NE(nullptr, hipGetErrorName(static_cast<hipError_t>(12345)));
  EXPECT_NE(nullptr, hipGetErrorString(static_cast<hipError_t>(12345)));
}

}  // namespace
