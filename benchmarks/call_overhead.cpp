// SPDX-License-Identifier: MIT
// Measures the CPU time of calls of the library and of the equivalent HIP calls (raw_*).
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <vector>

#include <benchmark/benchmark.h>

#include <roc/copy.hpp>
#include <roc/device_array.hpp>
#include <roc/host_array.hpp>
#include <roc/native.hpp>
#include <roc/registration.hpp>

#include "memory/device/device_use.hpp"

namespace {

constexpr std::size_t page_bytes = 4096;
// Calls between two synchronizations. If the queue were full, the call would block, and the
// device's speed would be measured instead.
constexpr std::size_t calls_per_synchronization = 256;

// The error check of a typical program around raw HIP calls.
void check(hipError_t result) {
  if (result != hipSuccess) [[unlikely]]
    throw std::runtime_error(hipGetErrorString(result));
}

// Times calls that enqueue work on `stream`. The synchronizations between them are not timed.
template <class F>
void time_enqueuing(benchmark::State& state, roc::stream_ref stream, F const& call) {
  while (state.KeepRunningBatch(calls_per_synchronization)) {
    for (std::size_t i = 0; i < calls_per_synchronization; ++i) call();
    state.PauseTiming();
    stream.synchronize();
    state.ResumeTiming();
  }
}

void event_record(benchmark::State& state) {
  roc::stream const stream;
  roc::event event;
  time_enqueuing(state, stream, [&] { event.record(stream); });
}

void raw_event_record(benchmark::State& state) {
  roc::stream const stream;
  roc::event event;
  time_enqueuing(state, stream, [stream = roc::native(stream), event = roc::native(event)] {
    check(hipEventRecord(event, stream));
  });
}

void stream_synchronize(benchmark::State& state) {
  roc::stream const stream;
  for (auto _ : state) stream.synchronize();
}

void raw_stream_synchronize(benchmark::State& state) {
  roc::stream const stream;
  hipStream_t const native = roc::native(stream);
  for (auto _ : state) check(hipStreamSynchronize(native));
}

void stream_query(benchmark::State& state) {
  roc::stream const stream;
  for (auto _ : state) benchmark::DoNotOptimize(stream.query());
}

void raw_stream_query(benchmark::State& state) {
  roc::stream const stream;
  hipStream_t const native = roc::native(stream);
  for (auto _ : state) benchmark::DoNotOptimize(hipStreamQuery(native));
}

void copy_4_bytes(benchmark::State& state) {
  roc::stream const stream;
  auto const host = roc::pinned_array<int>(1);
  roc::device_array<int> device(roc::shape<1>{1});
  time_enqueuing(state, stream, [&] { roc::copy(host, device, stream); });
}

void raw_copy_4_bytes(benchmark::State& state) {
  roc::stream const stream;
  auto const host = roc::pinned_array<int>(1);
  roc::device_array<int> const device(roc::shape<1>{1});
  time_enqueuing(
      state, stream,
      [stream = roc::native(stream), source = host.data(), destination = device.data()] {
        check(hipMemcpyAsync(destination, source, sizeof(int), hipMemcpyHostToDevice, stream));
      });
}

void copy_4_bytes_to_host(benchmark::State& state) {
  roc::stream const stream;
  auto host = roc::pinned_array<int>(1);
  roc::device_array<int> const device(roc::shape<1>{1});
  time_enqueuing(state, stream, [&] { roc::copy(device, host, stream); });
}

void raw_copy_4_bytes_to_host(benchmark::State& state) {
  roc::stream const stream;
  auto host = roc::pinned_array<int>(1);
  roc::device_array<int> const device(roc::shape<1>{1});
  time_enqueuing(
      state, stream,
      [stream = roc::native(stream), source = device.data(), destination = host.data()] {
        check(hipMemcpyAsync(destination, source, sizeof(int), hipMemcpyDeviceToHost, stream));
      });
}

void copy_4_bytes_and_wait(benchmark::State& state) {
  auto const host = roc::pinned_array<int>(1);
  roc::device_array<int> device(roc::shape<1>{1});
  for (auto _ : state) roc::copy(host, device);
}

void raw_copy_4_bytes_and_wait(benchmark::State& state) {
  auto const host = roc::pinned_array<int>(1);
  roc::device_array<int> const device(roc::shape<1>{1});
  for (auto _ : state) {
    check(hipMemcpyAsync(device.data(), host.data(), sizeof(int), hipMemcpyHostToDevice, nullptr));
    check(hipStreamSynchronize(nullptr));
  }
}

void device_array_4_kib(benchmark::State& state) {
  for (auto _ : state) {
    roc::device_array<std::byte> array(roc::shape<1>{page_bytes});
    benchmark::DoNotOptimize(array.data());
  }
}

// Deallocates on one stream and allocates on another.
void device_array_4_kib_across_streams(benchmark::State& state) {
  roc::stream const streams[2];
  unsigned iteration = 0;
  for (auto _ : state) {
    roc::device_array<std::byte> array(roc::shape<1>{page_bytes}, roc::order::c,
                                       streams[++iteration % 2]);
    benchmark::DoNotOptimize(array.data());
  }
}

void raw_malloc_free_4_kib(benchmark::State& state) {
  for (auto _ : state) {
    void* memory = nullptr;
    check(hipMalloc(&memory, page_bytes));
    benchmark::DoNotOptimize(memory);
    check(hipFree(memory));
  }
}

struct alignas(page_bytes) whole_page {
  std::byte bytes[page_bytes];
};

void register_4_kib(benchmark::State& state) {
  auto const memory = std::make_unique<whole_page>();
  for (auto _ : state) roc::register_host(memory->bytes).deregister();
}

void raw_register_4_kib(benchmark::State& state) {
  auto const memory = std::make_unique<whole_page>();
  for (auto _ : state) {
    check(hipHostRegister(memory->bytes, page_bytes, hipHostRegisterDefault));
    check(hipHostUnregister(memory->bytes));
  }
}

// Records the use of memory inside one of 1000 live arrays, on the stream that they were allocated
// on or on another one.
void record_use(benchmark::State& state) {
  roc::stream const own_stream;
  roc::stream const other_stream;
  std::vector<roc::device_array<std::byte>> arrays;
  for (std::size_t i = 0; i < 1000; ++i)
    arrays.emplace_back(roc::shape<1>{100 + i * 97}, roc::order::c, own_stream);
  std::size_t next = 0;
  roc::stream_ref const using_stream = state.range(0) == 0 ? own_stream : other_stream;
  for (auto _ : state) {
    next = (next + 7) % arrays.size();
    roc::memory::device_use const use(using_stream, 0, arrays[next].data() + 50);
    benchmark::ClobberMemory();
  }
}

// Records the use of memory that the library did not allocate.
void record_use_of_unknown_memory(benchmark::State& state) {
  roc::stream const stream;
  std::vector<std::byte> memory(1000);
  for (auto _ : state) {
    roc::memory::device_use const use(stream, 0, memory.data());
    benchmark::ClobberMemory();
  }
}

BENCHMARK(event_record);
BENCHMARK(raw_event_record);
BENCHMARK(stream_synchronize);
BENCHMARK(raw_stream_synchronize);
BENCHMARK(stream_query);
BENCHMARK(raw_stream_query);
BENCHMARK(copy_4_bytes);
BENCHMARK(raw_copy_4_bytes);
BENCHMARK(copy_4_bytes_to_host);
BENCHMARK(raw_copy_4_bytes_to_host);
BENCHMARK(copy_4_bytes_and_wait);
BENCHMARK(raw_copy_4_bytes_and_wait);
BENCHMARK(device_array_4_kib);
BENCHMARK(device_array_4_kib)->Threads(8)->UseRealTime();
BENCHMARK(device_array_4_kib_across_streams);
BENCHMARK(raw_malloc_free_4_kib);
BENCHMARK(raw_malloc_free_4_kib)->Threads(8)->UseRealTime();
BENCHMARK(register_4_kib);
BENCHMARK(raw_register_4_kib);
BENCHMARK(record_use)->Arg(0)->Arg(1)->ArgName("other_stream");
BENCHMARK(record_use_of_unknown_memory);

}  // namespace
