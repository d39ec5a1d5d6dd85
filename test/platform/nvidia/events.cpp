// SPDX-License-Identifier: MIT
// Events: completion, waits across streams, elapsed times, and error codes.
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
  expect(hipSuccess, hipEventSynchronize(event.handle),
         "hipEventSynchronize of such an event returns at once");
  gate closed(first.handle);
  add(value, 1, 40, first.handle);
  need(hipEventRecord(event.handle, first.handle), "hipEventRecord");
  need(hipStreamWaitEvent(second.handle, event.handle, 0), "hipStreamWaitEvent");
  add(value, 1, 2, second.handle);
  expect(hipErrorNotReady, hipEventQuery(event.handle),
         "an event recorded after pending work is pending");
  expect(hipErrorNotReady, hipStreamQuery(second.handle), "a stream waits for an event");
  hipError_t const last = hipPeekAtLastError();
  note(last, "last error after a query that returned not ready");
  closed.open();
  int result = 0;
  need(hipStreamSynchronize(second.handle), "hipStreamSynchronize");
  need(hipMemcpy(&result, value, sizeof result, hipMemcpyDeviceToHost), "hipMemcpy");
  check(result == 42 && closed.was_opened(),
        "work after the wait runs after the event is complete");
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
  expect(hipErrorNotReady, hipEventQuery(event.handle),
         "an event that was recorded again is pending again");
  expect(hipSuccess, hipStreamSynchronize(waiter.handle),
         "a wait for the first recording is complete");
  hipEvent_t pending = nullptr;
  need(hipEventCreateWithFlags(&pending, hipEventDisableTiming), "hipEventCreateWithFlags");
  need(hipEventRecord(pending, stream.handle), "hipEventRecord");
  need(hipStreamWaitEvent(waiter.handle, pending, 0), "hipStreamWaitEvent");
  expect(hipSuccess, hipEventDestroy(pending), "destroy a pending event");
  expect(hipErrorNotReady, hipStreamQuery(waiter.handle),
         "a wait for a destroyed event is still pending");
  closed.open();
  expect(hipSuccess, hipStreamSynchronize(waiter.handle),
         "the wait for the destroyed event completes");
}

void times() {
  owned_stream stream(hipStreamNonBlocking);
  owned_event start;
  owned_event stop;
  owned_event untimed(hipEventDisableTiming);
  float milliseconds = -1;
  auto const invalid = hipErrorInvalidHandle;
  expect(invalid, hipEventElapsedTime(&milliseconds, start.handle, stop.handle),
         "elapsed time of events never recorded returns 400");
  need(hipEventRecord(start.handle, stream.handle), "hipEventRecord");
  {
    gate closed(stream.handle);
    need(hipEventRecord(stop.handle, stream.handle), "hipEventRecord");
    expect(hipErrorNotReady, hipEventElapsedTime(&milliseconds, start.handle, stop.handle),
           "elapsed time to a pending event returns 600");
    std::this_thread::sleep_for(50ms);
    closed.open();
    need(hipEventSynchronize(stop.handle), "hipEventSynchronize");
  }
  expect(hipSuccess, hipEventElapsedTime(&milliseconds, start.handle, stop.handle), "time");
  check(milliseconds > 45 && milliseconds < 5000, "elapsed time of a 50 ms wait is about 50 ms");
  note(double{milliseconds}, "ms", "measured time of the wait");
  need(hipEventRecord(untimed.handle, stream.handle), "hipEventRecord");
  need(hipStreamSynchronize(stream.handle), "hipStreamSynchronize");
  expect(invalid, hipEventElapsedTime(&milliseconds, start.handle, untimed.handle),
         "elapsed time to an untimed event returns 400");
}

}  // namespace

void probe_events() {
  section("events");
  waiting();
  recording_again();
  times();
}

}  // namespace probe
