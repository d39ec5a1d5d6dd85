// SPDX-License-Identifier: MIT
// Memory and events of another process, which is this program in a role.
#include <atomic>
#include <chrono>
#include <cstring>

#include "platform/host/support.hpp"
#include "support/other_process.hpp"

namespace {

using namespace roc::test;

bool emulates_rocm() { return setting("ROCARRAY_HOST_EMULATE").starts_with("rocm"); }

std::vector<unsigned char> bytes_at(void const* data, std::size_t bytes) {
  std::vector<unsigned char> result(bytes);
  ok(hipMemcpy(result.data(), data, bytes, hipMemcpyDeviceToHost));
  return result;
}

void set_bytes(void* data, int value, std::size_t bytes) {
  ok(hipMemsetAsync(data, value, bytes, nullptr));
  ok(hipStreamSynchronize(nullptr));
}

struct exported {
  hipIpcMemHandle_t first;
  hipIpcMemHandle_t second;
  hipIpcEventHandle_t event;
  void* address;
};

// Exports two allocations that share a page, and an event.
role_definition const owner{
    "owner", [](channel& parent) {
      exported sent{};
      void* first = nullptr;
      void* second = nullptr;
      ok(hipMalloc(&first, 1000));
      ok(hipMalloc(&second, 3 << 20));
      set_bytes(first, 1, 1000);
      set_bytes(second, 2, 3 << 20);
      ok(hipIpcGetMemHandle(&sent.first, first));
      ok(hipIpcGetMemHandle(&sent.second, second));
      hipEvent_t const event = make_event(hipEventInterprocess | hipEventDisableTiming);
      ok(hipIpcGetEventHandle(&sent.event, event));
      sent.address = first;
      parent.send(sent);
      int const value = parent.receive<int>();
      EXPECT_EQ(std::vector<unsigned char>(1000, static_cast<unsigned char>(value)),
                bytes_at(first, 1000));
      EXPECT_EQ(std::vector<unsigned char>(3 << 20, 2), bytes_at(second, 3 << 20));
    }};

TEST(HostIpcMemory, IsShared) {
  other_process other("owner");
  auto const handles = other.receive<exported>();
  void* first = nullptr;
  void* second = nullptr;
  ok(hipIpcOpenMemHandle(&first, handles.first, hipIpcMemLazyEnablePeerAccess));
  ok(hipIpcOpenMemHandle(&second, handles.second, hipIpcMemLazyEnablePeerAccess));
  EXPECT_EQ(std::vector<unsigned char>(1000, 1), bytes_at(first, 1000));
  EXPECT_EQ(std::vector<unsigned char>(3 << 20, 2), bytes_at(second, 3 << 20));
  set_bytes(first, 7, 500);
  // Kernels may access it too.
  struct range {
    unsigned char* data;
  } closure{static_cast<unsigned char*>(first) + 500};
  ok(launch_host_kernel(
      nullptr, 500,
      [](void* data, std::size_t begin, std::size_t end) {
        std::memset(static_cast<range*>(data)->data + begin, 7, end - begin);
      },
      &closure, [](void*) {}));
  ok(hipDeviceSynchronize());

  hipPointerAttribute_t attributes{};
  ok(hipPointerGetAttributes(&attributes, static_cast<char*>(first) + 999));
  EXPECT_EQ(hipMemoryTypeDevice, attributes.type);
  std::size_t bytes = 0;
  ok(hipPointerGetAttribute(&bytes, HIP_POINTER_ATTRIBUTE_RANGE_SIZE, first));
  EXPECT_EQ(1000u, bytes);
  // Copies beyond its end fail as for other allocations.
  char byte[1001];
  expect(hipErrorInvalidValue, hipMemcpy(byte, first, 1001, hipMemcpyDeviceToHost));

  other.send(7);
  EXPECT_TRUE(other.join());
  // The memory stays as long as a process has it.
  EXPECT_EQ(std::vector<unsigned char>(1000, 7), bytes_at(first, 1000));
  expect(hipErrorInvalidValue, hipFree(first));
  expect(hipErrorInvalidValue, hipIpcCloseMemHandle(static_cast<char*>(first) + 1));
  ok(hipIpcCloseMemHandle(first));
  expect(hipErrorInvalidValue, hipIpcCloseMemHandle(first));
  ok(hipPointerGetAttributes(&attributes, second));
  hipError_t const unknown = hipPointerGetAttributes(&attributes, first);
  EXPECT_TRUE(unknown == hipErrorInvalidValue || attributes.type == hipMemoryTypeUnregistered);
  ok(hipIpcCloseMemHandle(second));
}

TEST(HostIpcMemory, SecondOpeningIsCountedOrRefused) {
  other_process other("owner");
  auto const handles = other.receive<exported>();
  void* first = nullptr;
  void* second = nullptr;
  ok(hipIpcOpenMemHandle(&first, handles.first, hipIpcMemLazyEnablePeerAccess));
  if (emulates_rocm()) {
    expect(hipErrorInvalidValue,
           hipIpcOpenMemHandle(&second, handles.first, hipIpcMemLazyEnablePeerAccess));
  } else {
    ok(hipIpcOpenMemHandle(&second, handles.first, hipIpcMemLazyEnablePeerAccess));
    EXPECT_EQ(first, second);
    ok(hipIpcCloseMemHandle(second));
    EXPECT_EQ(std::vector<unsigned char>(1000, 1), bytes_at(first, 1000));
  }
  ok(hipIpcCloseMemHandle(first));
  ok(hipIpcOpenMemHandle(&first, handles.first, hipIpcMemLazyEnablePeerAccess));
  ok(hipIpcCloseMemHandle(first));
  other.kill();
}

TEST(HostIpcMemory, RefusesInvalidArguments) {
  hipError_t const unsuitable =
      emulates_rocm() ? hipErrorInvalidDevicePointer : hipErrorInvalidValue;
  hipIpcMemHandle_t handle{};
  char host = 0;
  expect(unsuitable, hipIpcGetMemHandle(&handle, nullptr));
  expect(unsuitable, hipIpcGetMemHandle(&handle, &host));
  void* pinned = nullptr;
  ok(hipHostMalloc(&pinned, 64, 0));
  expect(unsuitable, hipIpcGetMemHandle(&handle, pinned));
  ok(hipHostFree(pinned));
  void* pooled = nullptr;
  ok(hipMallocAsync(&pooled, 64, nullptr));
  expect(unsuitable, hipIpcGetMemHandle(&handle, pooled));
  ok(hipFreeAsync(pooled, nullptr));
  void* data = nullptr;
  ok(hipMalloc(&data, 64));
  expect(hipErrorInvalidValue, hipIpcGetMemHandle(nullptr, data));

  void* opened = nullptr;
  expect(hipErrorInvalidValue, hipIpcOpenMemHandle(&opened, handle, hipIpcMemLazyEnablePeerAccess));
  ok(hipIpcGetMemHandle(&handle, data));
  expect(hipErrorInvalidContext,
         hipIpcOpenMemHandle(&opened, handle, hipIpcMemLazyEnablePeerAccess));
  expect(hipErrorInvalidValue, hipIpcOpenMemHandle(&opened, handle, 1234));
  expect(hipErrorInvalidValue, hipIpcOpenMemHandle(nullptr, handle, hipIpcMemLazyEnablePeerAccess));
  expect(hipErrorInvalidValue, hipIpcCloseMemHandle(data));
  ok(hipFree(data));
}

TEST(HostIpcMemory, RefusesHandlesOfEndedProcessesAndOpenedMemory) {
  other_process other("owner");
  auto const handles = other.receive<exported>();
  void* data = nullptr;
  ok(hipIpcOpenMemHandle(&data, handles.first, hipIpcMemLazyEnablePeerAccess));
  hipIpcMemHandle_t again;
  expect(emulates_rocm() ? hipErrorInvalidDevicePointer : hipErrorInvalidValue,
         hipIpcGetMemHandle(&again, data));
  other.kill(false);
  void* opened = nullptr;
  expect(hipErrorInvalidHandle,
         hipIpcOpenMemHandle(&opened, handles.second, hipIpcMemLazyEnablePeerAccess));
  other.kill();
  expect(hipErrorInvalidHandle,
         hipIpcOpenMemHandle(&opened, handles.second, hipIpcMemLazyEnablePeerAccess));
  hipEvent_t event = nullptr;
  expect(hipErrorInvalidHandle, hipIpcOpenEventHandle(&event, handles.event));
  EXPECT_EQ(std::vector<unsigned char>(1000, 1), bytes_at(data, 1000));
  ok(hipIpcCloseMemHandle(data));
}

// Without ROCARRAY_HOST_PROTECT the first handle of an allocation moves its pages, and those of its
// neighbors in part.
TEST(HostIpcMemory, SharingLosesNoByteThatIsWrittenMeanwhile) {
  constexpr std::size_t bytes = (4 << 20) + 100;
  std::vector<void*> kept;  // only the first handle moves pages
  for (int round = 0; round < 20; ++round) {
    void* data[2];
    for (void*& allocated : data) ok(hipMalloc(&allocated, bytes));
    std::atomic<bool> has_begun = false;
    std::atomic<bool> is_done = false;
    std::thread writer([&] {
      hipStream_t const stream = make_stream();
      std::vector<unsigned char> read(bytes);
      for (int i = 0; !is_done; ++i) {
        auto const value = static_cast<unsigned char>(i % 250 + 1);
        for (void* written : data) {
          ok(hipMemsetAsync(written, value, bytes, stream));
          has_begun = true;
          ok(hipMemcpyAsync(read.data(), written, bytes, hipMemcpyDeviceToHost, stream));
          ok(hipStreamSynchronize(stream));
          // All bytes are equal to the next one.
          ASSERT_EQ(value, read[0]);
          ASSERT_EQ(0, std::memcmp(read.data(), read.data() + 1, bytes - 1));
        }
      }
      ok(hipStreamDestroy(stream));
    });
    while (!has_begun) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::microseconds(700 * round));
    hipIpcMemHandle_t handle;
    ok(hipIpcGetMemHandle(&handle, data[round % 2]));
    is_done = true;
    writer.join();
    kept.insert(kept.end(), std::begin(data), std::end(data));
  }
  for (void* allocated : kept) ok(hipFree(allocated));
}

// Events

hipEvent_t make_shared_event() { return make_event(hipEventInterprocess | hipEventDisableTiming); }

struct event_handles {
  hipIpcEventHandle_t recorded;
  hipIpcEventHandle_t destroyed;
};

// Sends an event that is recorded behind a closed gate, and one that does not exist any more.
role_definition const recorder{"recorder", [](channel& parent) {
                                 hipStream_t const stream = make_stream();
                                 gate gate;
                                 gate.close(stream);
                                 hipEvent_t const event = make_shared_event();
                                 ok(hipEventRecord(event, stream));
                                 hipEvent_t const destroyed = make_shared_event();
                                 event_handles handles;
                                 ok(hipIpcGetEventHandle(&handles.recorded, event));
                                 ok(hipIpcGetEventHandle(&handles.destroyed, destroyed));
                                 ok(hipEventDestroy(destroyed));
                                 parent.send(handles);
                                 parent.receive<bool>();
                                 gate.open();
                                 parent.receive<bool>();
                               }};

TEST(HostIpcEvent, IsReachedWhenItsStreamReachesIt) {
  other_process other("recorder");
  auto const handles = other.receive<event_handles>();
  hipEvent_t event = nullptr;
  expect(hipErrorInvalidHandle, hipIpcOpenEventHandle(&event, handles.destroyed));
  ok(hipIpcOpenEventHandle(&event, handles.recorded));
  if (threaded()) expect(hipErrorNotReady, hipEventQuery(event));
  execution_log log;
  hipStream_t const stream = make_stream();
  ok(hipStreamWaitEvent(stream, event, 0));
  log.enqueue(stream, 1);
  if (threaded()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_FALSE(log.has(1));
  }
  other.send(true);
  ok(hipStreamSynchronize(stream));
  EXPECT_TRUE(log.has(1));
  ok(hipEventQuery(event));
  ok(hipEventSynchronize(event));
  other.send(true);
  EXPECT_TRUE(other.join());
  ok(hipEventDestroy(event));
  ok(hipStreamDestroy(stream));
}

TEST(HostIpcEvent, IsReachedWhenItsProcessHasEnded) {
  other_process other("recorder");
  auto const handles = other.receive<event_handles>();
  hipEvent_t event = nullptr;
  ok(hipIpcOpenEventHandle(&event, handles.recorded));
  hipStream_t const stream = make_stream();
  ok(hipStreamWaitEvent(stream, event, 0));
  std::thread killer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    other.kill(false);
  });
  ok(hipStreamSynchronize(stream));
  killer.join();
  ok(hipEventQuery(event));
  ok(hipEventSynchronize(event));
  ok(hipEventDestroy(event));
  ok(hipStreamDestroy(stream));
}

// The process is no longer in the process table when the wait begins, so that it cannot be watched.
TEST(HostIpcEvent, IsReachedWhenItsProcessHasEndedBeforeTheWait) {
  other_process other("recorder");
  auto const handles = other.receive<event_handles>();
  hipEvent_t event = nullptr;
  ok(hipIpcOpenEventHandle(&event, handles.recorded));
  other.kill();
  ok(hipEventQuery(event));
  hipStream_t const stream = make_stream();
  ok(hipStreamWaitEvent(stream, event, 0));
  ok(hipStreamSynchronize(stream));
  ok(hipEventSynchronize(event));
  ok(hipEventDestroy(event));
  ok(hipStreamDestroy(stream));
}

TEST(HostIpcEvent, RefusesInvalidArguments) {
  hipEvent_t const local = make_event(hipEventDisableTiming);
  hipIpcEventHandle_t handle{};
  expect(hipErrorInvalidHandle, hipIpcGetEventHandle(&handle, local));
  expect(hipErrorInvalidHandle, hipIpcGetEventHandle(&handle, nullptr));
  hipEvent_t opened = nullptr;
  expect(hipErrorInvalidValue, hipIpcOpenEventHandle(&opened, handle));
  hipEvent_t const event = make_shared_event();
  expect(hipErrorInvalidValue, hipIpcGetEventHandle(nullptr, event));
  ok(hipIpcGetEventHandle(&handle, event));
  expect(hipErrorInvalidContext, hipIpcOpenEventHandle(&opened, handle));
  expect(hipErrorInvalidValue, hipIpcOpenEventHandle(nullptr, handle));
  float milliseconds = 0;
  ok(hipEventRecord(event, nullptr));
  ok(hipEventSynchronize(event));
  expect(hipErrorInvalidHandle, hipEventElapsedTime(&milliseconds, event, event));
  ok(hipEventDestroy(event));
  ok(hipEventDestroy(local));
}

TEST(HostIpcEvent, SlotsAreUsedAgain) {
  std::vector<hipEvent_t> events;
  hipEvent_t event = nullptr;
  while (hipEventCreateWithFlags(&event, hipEventInterprocess | hipEventDisableTiming) ==
         hipSuccess) {
    events.push_back(event);
    ASSERT_LT(events.size(), 5000u);
  }
  static_cast<void>(hipGetLastError());
  EXPECT_GT(events.size(), 500u);
  ok(hipEventRecord(events[0], nullptr));
  ok(hipEventRecord(events[0], nullptr));
  for (hipEvent_t created : events) ok(hipEventDestroy(created));
  ok(hipDeviceSynchronize());
  // A new event has no record, also in the slot of one that had.
  for (int i = 0; i < 5; ++i) {
    event = make_shared_event();
    ok(hipEventQuery(event));
    ok(hipEventDestroy(event));
  }
}

}  // namespace
