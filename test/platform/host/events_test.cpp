// SPDX-License-Identifier: MIT
// Events: marks that are recorded, waited for across streams, moved and timed.
#include <chrono>

#include "platform/host/support.hpp"

namespace {

using namespace roc::test;
using numbers = std::vector<int>;

TEST(HostEvents, ANeverRecordedEventIsComplete) {
  auto const event = make_event();
  ok(hipEventQuery(event));
  ok(hipEventSynchronize(event));
  auto const stream = make_stream();
  ok(hipStreamWaitEvent(stream, event, 0));
  ok(hipStreamQuery(stream));
  ok(hipStreamDestroy(stream));
  ok(hipEventDestroy(event));
}

TEST(HostEvents, AStreamWaitsForAnother) {
  record log;
  gate held;
  auto const a = make_stream(hipStreamNonBlocking);
  auto const b = make_stream(hipStreamNonBlocking);
  auto const event = make_event(hipEventDisableTiming);
  held.close(a);
  log.enqueue(a, 1);
  ok(hipEventRecord(event, a));
  log.enqueue(a, 3);
  ok(hipStreamWaitEvent(b, event, 0));
  log.enqueue(b, 2);
  held.open();
  ok(hipStreamSynchronize(b));
  EXPECT_TRUE(log.in_order(1, 2));
  if (deferred()) {
    EXPECT_FALSE(log.has(3));  // behind the mark
  }
  ok(hipStreamSynchronize(a));
  ok(hipStreamDestroy(a));
  ok(hipStreamDestroy(b));
  ok(hipEventDestroy(event));
}

TEST(HostEvents, RecordingAgainMovesTheMark) {
  record log;
  gate held;
  auto const a = make_stream(hipStreamNonBlocking);
  auto const b = make_stream(hipStreamNonBlocking);
  auto const early = make_stream(hipStreamNonBlocking);
  auto const event = make_event();
  log.enqueue(a, 1);
  ok(hipEventRecord(event, a));
  ok(hipStreamWaitEvent(early, event, 0));  // this wait stays with the first mark
  held.close(a);
  log.enqueue(a, 2);
  ok(hipEventRecord(event, a));
  log.enqueue(early, 3);
  ok(hipStreamSynchronize(early));
  EXPECT_TRUE(log.in_order(1, 3));
  EXPECT_EQ(!gate::holds(), log.has(2));
  held.open();
  ok(hipStreamWaitEvent(b, event, 0));
  log.enqueue(b, 4);
  ok(hipStreamSynchronize(b));
  EXPECT_TRUE(log.in_order(2, 4));
  for (auto stream : {a, b, early}) ok(hipStreamDestroy(stream));
  ok(hipEventDestroy(event));
}

TEST(HostEvents, SynchronizeWaitsForTheMarkOnly) {
  record log;
  gate held;
  auto const stream = make_stream();
  auto const event = make_event();
  log.enqueue(stream, 1);
  ok(hipEventRecord(event, stream));
  held.close(stream);
  log.enqueue(stream, 2);
  ok(hipEventSynchronize(event));
  EXPECT_TRUE(log.has(1));
  EXPECT_EQ(!gate::holds(), log.has(2));
  held.open();
  ok(hipStreamSynchronize(stream));
  ok(hipStreamDestroy(stream));
  ok(hipEventDestroy(event));
}

TEST(HostEvents, PollingComesToAnEnd) {
  record log;
  auto const stream = make_stream();
  auto const event = make_event();
  for (int i = 0; i < 5; ++i) log.enqueue(stream, i);
  ok(hipEventRecord(event, stream));
  int polls = 0;
  while (hipEventQuery(event) == hipErrorNotReady) ++polls;
  ok(hipEventQuery(event));
  EXPECT_EQ(5u, log.seen().size());
  if (deferred()) {
    EXPECT_EQ(6, polls);
  }
  ok(hipStreamDestroy(stream));
  ok(hipEventDestroy(event));
}

TEST(HostEvents, DestroyingAnEventKeepsWhatWaitsForIt) {
  record log;
  gate held;
  auto const a = make_stream(hipStreamNonBlocking);
  auto const b = make_stream(hipStreamNonBlocking);
  auto const event = make_event();
  held.close(a);
  log.enqueue(a, 1);
  ok(hipEventRecord(event, a));
  ok(hipStreamWaitEvent(b, event, 0));
  ok(hipEventDestroy(event));
  ok(hipStreamDestroy(a));
  log.enqueue(b, 2);
  held.open();
  ok(hipStreamSynchronize(b));
  EXPECT_EQ((numbers{1, 2}), log.seen());
  ok(hipStreamDestroy(b));
}

TEST(HostEvents, ElapsedTimeIsThatBetweenTheMarks) {
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

TEST(HostEvents, ElapsedTimeOfWhatHasNone) {
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
  gate held;
  held.close(stream);
  ok(hipEventRecord(timed, stream));
  expect(gate::holds() ? hipErrorNotReady : hipSuccess,
         hipEventElapsedTime(&milliseconds, timed, timed));
  held.open();
  ok(hipStreamSynchronize(stream));
  ok(hipStreamDestroy(stream));
  for (auto event : {timed, never, untimed}) ok(hipEventDestroy(event));
}

TEST(HostEvents, FlagsAreChecked) {
  hipEvent_t event = nullptr;
  expect(hipErrorInvalidValue, hipEventCreateWithFlags(&event, 0x100));
  expect(hipErrorInvalidValue, hipEventCreateWithFlags(nullptr, 0));
  expect(hipErrorInvalidValue, hipEventCreateWithFlags(&event, hipEventInterprocess));
  ok(hipEventCreateWithFlags(&event, hipEventInterprocess | hipEventDisableTiming));
  expect(hipErrorInvalidValue, hipStreamWaitEvent(nullptr, event, 1));
  ok(hipEventDestroy(event));
}

}  // namespace
