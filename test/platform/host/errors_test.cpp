// SPDX-License-Identifier: MIT
// Invalid handles, the last error, and the names of error codes.
#include "platform/host/support.hpp"

namespace {

using namespace roc::test;

void expect_invalid_stream(hipStream_t stream) {
  auto const invalid = hipErrorInvalidHandle;
  char bytes[8] = {};
  unsigned flags = 0;
  int priority = 0;
  auto const event = make_event();
  hipMemcpy3DParms box{};
  expect(invalid, hipStreamSynchronize(stream));
  expect(invalid, hipStreamQuery(stream));
  expect(invalid, hipStreamDestroy(stream));
  expect(invalid, hipStreamGetFlags(stream, &flags));
  expect(invalid, hipStreamGetPriority(stream, &priority));
  expect(invalid, hipStreamWaitEvent(stream, event, 0));
  expect(invalid, hipEventRecord(event, stream));
  expect(invalid, hipLaunchHostFunc(
                      stream, [](void*) {}, nullptr));
  expect(invalid, hipMemcpyAsync(bytes, bytes, 4, hipMemcpyHostToHost, stream));
  expect(invalid, hipMemcpy2DAsync(bytes, 4, bytes, 4, 4, 1, hipMemcpyHostToHost, stream));
  expect(invalid, hipMemcpy3DAsync(&box, stream));
  expect(invalid, hipMemsetAsync(nullptr, 0, 0, stream));
  expect(invalid, launch_host_kernel(
                      stream, 1, [](void*, std::size_t, std::size_t) {}, nullptr, [](void*) {}));
  ok(hipEventDestroy(event));
}

void expect_invalid_event(hipEvent_t event) {
  auto const invalid = hipErrorInvalidHandle;
  float milliseconds = 0;
  expect(invalid, hipEventSynchronize(event));
  expect(invalid, hipEventQuery(event));
  expect(invalid, hipEventDestroy(event));
  expect(invalid, hipEventRecord(event, nullptr));
  expect(invalid, hipEventElapsedTime(&milliseconds, event, event));
  expect(invalid, hipStreamWaitEvent(nullptr, event, 0));
}

TEST(HostStreamHandle, IsInvalidIfDestroyedOrUnknown) {
  EXPECT_EQ(400, static_cast<int>(hipErrorInvalidHandle));
  auto const stream = make_stream();
  ok(hipStreamDestroy(stream));
  // The handle of a destroyed stream is not reused.
  auto const next = make_stream();
  EXPECT_NE(stream, next);
  expect_invalid_stream(stream);
  int local = 0;
  expect_invalid_stream(reinterpret_cast<hipStream_t>(&local));
  auto const event = make_event();
  expect_invalid_stream(reinterpret_cast<hipStream_t>(event));
  ok(hipEventDestroy(event));
  ok(hipStreamDestroy(next));
  expect(hipErrorInvalidHandle, hipStreamDestroy(nullptr));
}

TEST(HostEventHandle, IsInvalidIfDestroyedOrUnknown) {
  auto const event = make_event();
  ok(hipEventDestroy(event));
  auto const next = make_event();
  EXPECT_NE(event, next);
  expect_invalid_event(event);
  expect_invalid_event(nullptr);
  int local = 0;
  expect_invalid_event(reinterpret_cast<hipEvent_t>(&local));
  ok(hipEventDestroy(next));
}

TEST(HostLastError, StaysUntilItIsRead) {
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

TEST(HostLastError, IgnoresNotReady) {
  static_cast<void>(hipGetLastError());
  auto const stream = make_stream();
  gate blocked;
  blocked.close(stream);
  ok(hipLaunchHostFunc(
      stream, [](void*) {}, nullptr));
  expect(gate::holds() ? hipErrorNotReady : hipSuccess, hipStreamQuery(stream));
  ok(hipGetLastError());
  blocked.open();
  ok(hipStreamSynchronize(stream));
  ok(hipStreamDestroy(stream));
}

TEST(HostLastError, IsPerThread) {
  static_cast<void>(hipGetLastError());
  std::thread([] { expect(hipErrorInvalidDevice, hipSetDevice(99)); }).join();
  ok(hipGetLastError());
}

TEST(HostManagedMemory, ZeroBytesAreRejected) {
  void* data = nullptr;
  expect(hipErrorInvalidValue, hipMallocManaged(&data, 0, hipMemAttachGlobal));
}

TEST(HostManagedMemory, AdviceOnCoherenceIsAccepted) {
  void* data = nullptr;
  ok(hipMallocManaged(&data, 64, hipMemAttachGlobal));
  ok(hipMemAdvise(data, 64, hipMemAdviseSetCoarseGrain, 0));
  ok(hipMemAdvise(data, 64, hipMemAdviseUnsetCoarseGrain, 0));
  expect(hipErrorInvalidValue, hipMemAdvise(data, 64, static_cast<hipMemoryAdvise>(102), 0));
  ok(hipFree(data));
}

TEST(HostErrorCodes, HaveNamesAndTexts) {
  EXPECT_STREQ("hipErrorOutOfMemory", hipGetErrorName(hipErrorOutOfMemory));
  EXPECT_STREQ("out of memory", hipGetErrorString(hipErrorOutOfMemory));
  EXPECT_STREQ("hipSuccess", hipGetErrorName(hipSuccess));
  EXPECT_NE(nullptr, hipGetErrorName(static_cast<hipError_t>(12345)));
  EXPECT_NE(nullptr, hipGetErrorString(static_cast<hipError_t>(12345)));
}

}  // namespace
