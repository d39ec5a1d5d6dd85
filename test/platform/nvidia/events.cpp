// SPDX-License-Identifier: MIT
// Events: completion, waiting across streams, times, and the codes of what is not to be had.
#include "support.hpp"

namespace probe {

namespace {

using namespace std::chrono_literals;

void waiting() {
  device_memory memory(sizeof(int));
  auto* const value = static_cast<int*>(memory.data);
  need(hipMemsetAsync(value, 0, sizeof(int), nullptr), "memset");
  need(hipDeviceSynchronize(), "hipDeviceSynchronize");
  owned_stream first(hipStreamNonBlocking);
  owned_stream second(hipStreamNonBlocking);
  owned_event event(hipEventDisableTiming);
  expect(hipSuccess, hipEventQuery(event.handle), "an event never recorded is complete");
  expect(hipSuccess, hipEventSynchronize(event.handle), "and not waited for");
  gate closed(first.handle);
  add(value, 1, 40, first.handle);
  need(hipEventRecord(event.handle, first.handle), "hipEventRecord");
  need(hipStreamWaitEvent(second.handle, event.handle, 0), "hipStreamWaitEvent");
  add(value, 1, 2, second.handle);
  expect(hipErrorNotReady, hipEventQuery(event.handle), "a recorded event is pending");
  expect(hipErrorNotReady, hipStreamQuery(second.handle), "a stream waits for an event");
  hipError_t const last = hipPeekAtLastError();
  note(last, "last error after a query that was not ready");
  closed.open();
  int result = 0;
  need(hipStreamSynchronize(second.handle), "hipStreamSynchronize");
  need(hipMemcpy(&result, value, sizeof result, hipMemcpyDeviceToHost), "hipMemcpy");
  check(result == 42 && closed.was_opened(), "and goes on when it is complete");
  expect(hipSuccess, hipEventQuery(event.handle), "the event is complete");
}

void recording_again() {
  owned_stream stream(hipStreamNonBlocking);
  owned_stream waiter(hipStreamNonBlocking);
  owned_event event(hipEventDisableTiming);
  need(hipEventRecord(event.handle, stream.handle), "hipEventRecord");
  need(hipStreamWaitEvent(waiter.handle, event.handle, 0), "hipStreamWaitEvent");
  gate closed(stream.handle);
  need(hipEventRecord(event.handle, stream.handle), "hipEventRecord again");
  expect(hipErrorNotReady, hipEventQuery(event.handle), "recorded again, an event moves");
  expect(hipSuccess, hipStreamSynchronize(waiter.handle), "who waited before is not held");
  hipEvent_t pending = nullptr;
  need(hipEventCreateWithFlags(&pending, hipEventDisableTiming), "hipEventCreateWithFlags");
  need(hipEventRecord(pending, stream.handle), "hipEventRecord");
  need(hipStreamWaitEvent(waiter.handle, pending, 0), "hipStreamWaitEvent");
  expect(hipSuccess, hipEventDestroy(pending), "destroy a pending event");
  expect(hipErrorNotReady, hipStreamQuery(waiter.handle), "who waits for it still does");
  closed.open();
  expect(hipSuccess, hipStreamSynchronize(waiter.handle), "and goes on");
}

void times() {
  owned_stream stream(hipStreamNonBlocking);
  owned_event start;
  owned_event stop;
  owned_event untimed(hipEventDisableTiming);
  float milliseconds = -1;
  auto const invalid = hipErrorInvalidHandle;
  expect(invalid, hipEventElapsedTime(&milliseconds, start.handle, stop.handle),
         "time between events never recorded: 400");
  need(hipEventRecord(start.handle, stream.handle), "hipEventRecord");
  {
    gate closed(stream.handle);
    need(hipEventRecord(stop.handle, stream.handle), "hipEventRecord");
    expect(hipErrorNotReady, hipEventElapsedTime(&milliseconds, start.handle, stop.handle),
           "time to an event that is pending: 600");
    std::this_thread::sleep_for(50ms);
    closed.open();
    need(hipEventSynchronize(stop.handle), "hipEventSynchronize");
  }
  expect(hipSuccess, hipEventElapsedTime(&milliseconds, start.handle, stop.handle), "time");
  check(milliseconds > 45 && milliseconds < 5000, "between events around 50 ms of waiting");
  note(double{milliseconds}, "ms", "which took");
  need(hipEventRecord(untimed.handle, stream.handle), "hipEventRecord");
  need(hipStreamSynchronize(stream.handle), "hipStreamSynchronize");
  expect(invalid, hipEventElapsedTime(&milliseconds, start.handle, untimed.handle),
         "time to an event without times: 400");
}

}  // namespace

void probe_events() {
  section("events");
  waiting();
  recording_again();
  times();
}

}  // namespace probe
