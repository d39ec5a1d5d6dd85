// SPDX-License-Identifier: MIT
// Streams: which stream waits for which. A closed gate blocks a stream; other streams then either
// wait for it or do not.
#include "support.hpp"

#include <cstdio>
#include <cstring>

namespace probe {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t size = 4096;

bool all_bytes_equal(void const* device, int value) {
  std::vector<unsigned char> host(size);
  need(hipMemcpy(host.data(), device, size, hipMemcpyDeviceToHost), "hipMemcpy");
  for (unsigned char byte : host) {
    if (byte != value) return false;
  }
  return true;
}

void legacy_null_stream() {
  device_memory memory(size);
  owned_stream blocking;
  owned_stream non_blocking(hipStreamNonBlocking);
  {
    gate closed(blocking.handle);
    need(hipMemsetAsync(memory.data, 1, size, nullptr), "memset on the null stream");
    expect(hipErrorNotReady, hipStreamQuery(nullptr), "the null stream waits for a blocking one");
    need(hipMemsetAsync(memory.data, 2, size, non_blocking.handle),
         "memset on a non-blocking stream");
    expect(hipSuccess, hipStreamSynchronize(non_blocking.handle),
           "a non-blocking stream does not wait");
    closed.open();
    expect(hipSuccess, hipStreamSynchronize(nullptr),
           "the null stream completes after the gate is opened");
    check(closed.was_opened() && all_bytes_equal(memory.data, 1),
          "the null stream's memset ran after the blocking stream's work");
  }
  {
    gate closed(nullptr);
    need(hipMemsetAsync(memory.data, 3, size, blocking.handle), "memset on a blocking stream");
    expect(hipErrorNotReady, hipStreamQuery(blocking.handle),
           "a blocking stream waits for the null stream");
    need(hipMemsetAsync(memory.data, 4, size, hipStreamPerThread), "memset, stream per thread");
    expect(hipErrorNotReady, hipStreamQuery(hipStreamPerThread),
           "the per-thread stream waits for the null stream");
    need(hipMemsetAsync(memory.data, 5, size, non_blocking.handle),
         "memset on a non-blocking stream");
    expect(hipSuccess, hipStreamSynchronize(non_blocking.handle),
           "a non-blocking stream does not wait");
    closed.open();
    expect(hipSuccess, hipDeviceSynchronize(), "hipDeviceSynchronize waits for all");
    check(closed.was_opened(), "the gate was opened before its timeout");
  }
}

void synchronous_copy() {
  device_memory memory(size);
  owned_stream blocking;
  gate closed(blocking.handle);
  need(hipMemsetAsync(memory.data, 6, size, blocking.handle), "memset on a blocking stream");
  auto const start = std::chrono::steady_clock::now();
  closed.open_later(200ms);
  check(all_bytes_equal(memory.data, 6), "hipMemcpy waits for the work of blocking streams");
  check(milliseconds_since(start) > 150, "hipMemcpy blocked until the gate was opened");
}

void pageable_copies() {
  constexpr std::size_t large = 8 << 20;
  device_memory memory(large);
  owned_stream stream(hipStreamNonBlocking);
  std::vector<unsigned char> source = pattern(large, 11);
  std::vector<unsigned char> const original = source;
  need(hipMemcpyAsync(memory.data, source.data(), large, hipMemcpyHostToDevice, stream.handle),
       "pageable, 8 MiB, to device");
  std::memset(source.data(), 0, large);
  std::vector<unsigned char> back(large);
  need(hipMemcpyAsync(back.data(), memory.data, large, hipMemcpyDeviceToHost, stream.handle),
       "pageable, 8 MiB, to host");
  need(hipStreamSynchronize(stream.handle), "hipStreamSynchronize");
  check(back == original,
        "a large pageable source may change on return, and a destination is complete");

  std::vector<unsigned char> small = pattern(size, 12);
  std::vector<unsigned char> const kept = small;
  gate closed(stream.handle);
  closed.open_later(200ms);
  auto start = std::chrono::steady_clock::now();
  need(hipMemcpyAsync(memory.data, small.data(), size, hipMemcpyHostToDevice, stream.handle),
       "pageable, 4 KiB, to device");
  note(milliseconds_since(start), "ms of 200", "time until a copy after a closed gate returned");
  std::memset(small.data(), 0, size);
  start = std::chrono::steady_clock::now();
  need(hipMemcpyAsync(back.data(), memory.data, size, hipMemcpyDeviceToHost, stream.handle),
       "pageable, 4 KiB, to host");
  note(milliseconds_since(start), "ms of 200",
       "time until a copy back after a closed gate returned");
  need(hipStreamSynchronize(stream.handle), "hipStreamSynchronize");
  check(std::memcmp(back.data(), kept.data(), size) == 0,
        "a small pageable source may change on return after a closed gate");
}

struct host_call {
  std::vector<int>* order;
  int number;
};

void in_host_function(void* data) {
  auto const* const call = static_cast<host_call*>(data);
  call->order->push_back(call->number);
}

void slow_write(void* data) {
  std::this_thread::sleep_for(30ms);
  *static_cast<int*>(data) = 7;
}

void host_functions() {
  owned_stream stream(hipStreamNonBlocking);
  constexpr int count = 50;
  std::vector<int> order;
  std::vector<host_call> calls;
  for (int i = 0; i < count; ++i) calls.push_back({&order, i});
  {
    gate closed(stream.handle);
    for (host_call& call : calls) {
      need(hipLaunchHostFunc(stream.handle, in_host_function, &call), "hipLaunchHostFunc");
    }
    std::this_thread::sleep_for(20ms);
    check(order.empty(), "host functions wait for earlier work");
    closed.open();
    need(hipStreamSynchronize(stream.handle), "hipStreamSynchronize");
  }
  bool sorted = order.size() == count;
  for (int i = 0; sorted && i < count; ++i) sorted = order[static_cast<std::size_t>(i)] == i;
  check(sorted, "host functions run once each, in order");

  pinned_memory pinned(sizeof(int));
  device_memory memory(sizeof(int));
  int* const value = static_cast<int*>(pinned.data);
  *value = 0;
  need(hipLaunchHostFunc(stream.handle, slow_write, value), "hipLaunchHostFunc");
  need(hipMemcpyAsync(memory.data, value, sizeof(int), hipMemcpyHostToDevice, stream.handle),
       "copy");
  add(static_cast<int*>(memory.data), 1, 35, stream.handle);
  need(hipMemcpyAsync(value, memory.data, sizeof(int), hipMemcpyDeviceToHost, stream.handle),
       "copy back");
  need(hipStreamSynchronize(stream.handle), "hipStreamSynchronize");
  check(*value == 42, "later work waits for a host function");
}

void destroyed_stream() {
  device_memory memory(size);
  owned_event done(hipEventDisableTiming);
  hipStream_t stream = nullptr;
  need(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking), "hipStreamCreateWithFlags");
  gate closed(stream);
  need(hipMemsetAsync(memory.data, 9, size, stream), "memset");
  need(hipEventRecord(done.handle, stream), "hipEventRecord");
  expect(hipSuccess, hipStreamDestroy(stream), "hipStreamDestroy with pending work");
  expect(hipErrorNotReady, hipEventQuery(done.handle),
         "hipStreamDestroy does not wait for pending work");
  closed.open();
  expect(hipSuccess, hipEventSynchronize(done.handle),
         "pending work of a destroyed stream completes");
  check(closed.was_opened() && all_bytes_equal(memory.data, 9),
        "pending work of a destroyed stream has its effect");
}

void stream_properties() {
  int least = 0;
  int greatest = 0;
  need(hipDeviceGetStreamPriorityRange(&least, &greatest), "hipDeviceGetStreamPriorityRange");
  hipStream_t stream = nullptr;
  expect(hipSuccess, hipStreamCreateWithPriority(&stream, hipStreamNonBlocking, greatest),
         "hipStreamCreateWithPriority");
  unsigned flags = 0;
  int priority = 0;
  expect(hipSuccess, hipStreamGetFlags(stream, &flags), "hipStreamGetFlags");
  expect(hipSuccess, hipStreamGetPriority(stream, &priority), "hipStreamGetPriority");
  check(flags == hipStreamNonBlocking && priority == greatest,
        "flags and priority are those requested");
  expect(hipSuccess, hipStreamQuery(stream), "an idle stream is ready");
  expect(hipSuccess, hipStreamDestroy(stream), "hipStreamDestroy");
  expect(hipErrorInvalidValue, hipStreamCreateWithFlags(&stream, 0x40),
         "an unknown flag returns 1");
}

}  // namespace

void probe_ordering() {
  section("streams");
  stream_properties();
  legacy_null_stream();
  synchronous_copy();
  pageable_copies();
  host_functions();
  destroyed_stream();
}

}  // namespace probe
