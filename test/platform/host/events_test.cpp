// SPDX-License-Identifier: MIT
// Events: recording, waiting across streams, and timing.
#include <chrono>

#include "platform/host/support.hpp"

namespace {

using namespace roc::test;
using numbers = std::vector<int>;

TEST(HostEvent, IsCompleteIfNeverRecorded) {
  auto const event = make_event();
  ok(hipEventQuery(event));
  ok(hipEventSynchronize(event));
  auto const stream = make_stream();
  ok(hipStreamWaitEvent(stream, event, 0));
  ok(hipStreamQuery(stream));
  ok(hipStreamDestroy(stream));
  ok(hipEventDestroy(event));
}

TEST(HostEvent, StreamWaitsForEventOfAnotherStream) {
  execution_log log;
  gate blocked;
  auto const a = make_stream(hipStreamNonBlocking);
  auto const b = make_stream(hipStreamNonBlocking);
  auto const event = make_event(hipEventDisableTiming);
  blocked.close(a);
  log.enqueue(a, 1);
  ok(hipEventRecord(event, a));
  log.enqueue(a, 3);
  ok(hipStreamWaitEvent(b, event, 0));
  log.enqueue(b, 2);
  blocked.open();
  ok(hipStreamSynchronize(b));
  EXPECT_TRUE(log.in_order(1, 2));
  if (deferred()) {
    EXPECT_FALSE(log.has(3));  // enqueued after the recording
  }
  ok(hipStreamSynchronize(a));
  ok(hipStreamDestroy(a));
  ok(hipStreamDestroy(b));
  ok(hipEventDestroy(event));
}

TEST(HostEvent, RecordingAgainReplacesRecording) {
  execution_log log;
  gate blocked;
  auto const a = make_stream(hipStreamNonBlocking);
  auto const b = make_stream(hipStreamNonBlocking);
  auto const early_waiter = make_stream(hipStreamNonBlocking);
  auto const event = make_event();
  log.enqueue(a, 1);
  ok(hipEventRecord(event, a));
  ok(hipStreamWaitEvent(early_waiter, event, 0));  // still waits for the first recording
  blocked.close(a);
  log.enqueue(a, 2);
  ok(hipEventRecord(event, a));
  log.enqueue(early_waiter, 3);
  ok(hipStreamSynchronize(early_waiter));
  EXPECT_TRUE(log.in_order(1, 3));
  EXPECT_EQ(!gate::holds(), log.has(2));
  blocked.open();
  ok(hipStreamWaitEvent(b, event, 0));
  log.enqueue(b, 4);
  ok(hipStreamSynchronize(b));
  EXPECT_TRUE(log.in_order(2, 4));
  for (auto stream : {a, b, early_waiter}) ok(hipStreamDestroy(stream));
  ok(hipEventDestroy(event));
}

TEST(HostEvent, SynchronizeWaitsForWorkBeforeRecordingOnly) {
  execution_log log;
  gate blocked;
  auto const stream = make_stream();
  auto const event = make_event();
  log.enqueue(stream, 1);
  ok(hipEventRecord(event, stream));
  blocked.close(stream);
  log.enqueue(stream, 2);
  ok(hipEventSynchronize(event));
  EXPECT_TRUE(log.has(1));
  EXPECT_EQ(!gate::holds(), log.has(2));
  blocked.open();
  ok(hipStreamSynchronize(stream));
  ok(hipStreamDestroy(stream));
  ok(hipEventDestroy(event));
}

TEST(HostEvent, QueryEventuallyReturnsSuccess) {
  execution_log log;
  auto const stream = make_stream();
  auto const event = make_event();
  for (int i = 0; i < 5; ++i) log.enqueue(stream, i);
  ok(hipEventRecord(event, stream));
  int polls = 0;
  while (hipEventQuery(event) == hipErrorNotReady) ++polls;
  ok(hipEventQuery(event));
  EXPECT_EQ(5u, log.executed().size());
  if (deferred()) {
    EXPECT_EQ(6, polls);
  }
  ok(hipStreamDestroy(stream));
  ok(hipEventDestroy(event));
}

TEST(HostEvent, DestroyDoesNotCancelWaits) {
  execution_log log;
  gate blocked;
  auto const a = make_stream(hipStreamNonBlocking);
  auto const b = make_stream(hipStreamNonBlocking);
  auto const event = make_event();
  blocked.close(a);
  log.enqueue(a, 1);
  ok(hipEventRecord(event, a));
  ok(hipStreamWaitEvent(b, event, 0));
  ok(hipEventDestroy(event));
  ok(hipStreamDestroy(a));
  log.enqueue(b, 2);
  blocked.open();
  ok(hipStreamSynchronize(b));
  EXPECT_EQ((numbers{1, 2}), log.executed());
  ok(hipStreamDestroy(b));
}

TEST(HostEvent, ElapsedTimeIsTimeBetweenRecordings) {
  auto const stream = make_stream();
  auto const start = make_event();
  auto const stop = make_event();
  ok(hipEventRecord(start, stream));
  ok(hipLaunchHostFunc(
      stream, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }, nullptr));
  ok(hipEventRecord(stop, stream));
  ok(hipEventSynchronize(stop));
  float milliseconds = 0;
  ok(hipEventElapsedTime(&milliseconds, start, stop));
  EXPECT_GE(milliseconds, 19.0f);
  EXPECT_LT(milliseconds, 20000.0f);
  float negative = 0;
  ok(hipEventElapsedTime(&negative, stop, start));
  EXPECT_FLOAT_EQ(-milliseconds, negative);
  ok(hipStreamDestroy(stream));
  ok(hipEventDestroy(start));
  ok(hipEventDestroy(stop));
}

TEST(HostEvent, ElapsedTimeFailsWithoutTwoTimedCompleteRecordings) {
  auto const stream = make_stream();
  auto const timed = make_event();
  auto const never = make_event();
  auto const untimed = make_event(hipEventDisableTiming);
  ok(hipEventRecord(timed, stream));
  ok(hipEventRecord(untimed, stream));
  ok(hipStreamSynchronize(stream));
  float milliseconds = 0;
  expect(hipErrorInvalidHandle, hipEventElapsedTime(&milliseconds, timed, untimed));
  expect(hipErrorInvalidHandle, hipEventElapsedTime(&milliseconds, untimed, timed));
  expect(hipErrorInvalidHandle, hipEventElapsedTime(&milliseconds, timed, never));
  expect(hipErrorInvalidHandle, hipEventElapsedTime(&milliseconds, nullptr, timed));
  expect(hipErrorInvalidValue, hipEventElapsedTime(nullptr, timed, timed));
  gate blocked;
  blocked.close(stream);
  ok(hipEventRecord(timed, stream));
  expect(gate::holds() ? hipErrorNotReady : hipSuccess,
         hipEventElapsedTime(&milliseconds, timed, timed));
  blocked.open();
  ok(hipStreamSynchronize(stream));
  ok(hipStreamDestroy(stream));
  for (auto event : {timed, never, untimed}) ok(hipEventDestroy(event));
}

TEST(HostEvent, ReleaseFlagsAreAccepted) {
  for (unsigned flags : {hipEventReleaseToDevice, hipEventReleaseToSystem,
                         hipEventDisableTiming | hipEventDisableSystemFence}) {
    auto const event = make_event(flags);
    ok(hipEventRecord(event, nullptr));
    ok(hipEventSynchronize(event));
    ok(hipEventDestroy(event));
  }
  hipEvent_t event = nullptr;
  expect(hipErrorInvalidValue,
         hipEventCreateWithFlags(&event, hipEventReleaseToDevice | hipEventReleaseToSystem));
}

TEST(HostEvent, InvalidFlagsAreRejected) {
  hipEvent_t event = nullptr;
  expect(hipErrorInvalidValue, hipEventCreateWithFlags(&event, 0x100));
  expect(hipErrorInvalidValue, hipEventCreateWithFlags(nullptr, 0));
  expect(hipErrorInvalidValue, hipEventCreateWithFlags(&event, hipEventInterprocess));
  ok(hipEventCreateWithFlags(&event, hipEventInterprocess | hipEventDisableTiming));
  expect(hipErrorInvalidValue, hipStreamWaitEvent(nullptr, event, 1));
  ok(hipEventDestroy(event));
}

}  // namespace
