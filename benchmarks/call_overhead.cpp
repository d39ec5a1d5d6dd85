// SPDX-License-Identifier: MIT
// What a call of the library costs the CPU, and beside it HIP's own call that does the same.
#include <cstddef>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>

#include <benchmark/benchmark.h>

#include <roc/copy.hpp>
#include <roc/device.hpp>
#include <roc/device_array.hpp>
#include <roc/host_array.hpp>
#include <roc/native.hpp>
#include <roc/registration.hpp>

namespace {

constexpr int no_device = 5;
constexpr std::size_t page = 4096;
// Calls before the device is waited for, outside the measured time: a full queue would make the
// call wait, and the figure would be the device's.
constexpr std::size_t queue = 256;

// Around HIP's own calls: no more than every program does.
void check(hipError_t result) {
  if (result != hipSuccess) [[unlikely]]
    throw std::runtime_error(hipGetErrorString(result));
}

// Times calls that enqueue work on `stream`.
template <class F>
void time_enqueuing(benchmark::State& state, roc::stream_ref stream, F const& call) {
  while (state.KeepRunningBatch(queue)) {
    for (std::size_t i = 0; i < queue; ++i) call();
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
  time_enqueuing(state, stream,
                 [stream = roc::native(stream), from = host.data(), to = device.data()] {
                   check(hipMemcpyAsync(to, from, sizeof(int), hipMemcpyHostToDevice, stream));
                 });
}

void copy_4_bytes_back(benchmark::State& state) {
  roc::stream const stream;
  auto host = roc::pinned_array<int>(1);
  roc::device_array<int> const device(roc::shape<1>{1});
  time_enqueuing(state, stream, [&] { roc::copy(device, host, stream); });
}

void raw_copy_4_bytes_back(benchmark::State& state) {
  roc::stream const stream;
  auto host = roc::pinned_array<int>(1);
  roc::device_array<int> const device(roc::shape<1>{1});
  time_enqueuing(state, stream,
                 [stream = roc::native(stream), from = device.data(), to = host.data()] {
                   check(hipMemcpyAsync(to, from, sizeof(int), hipMemcpyDeviceToHost, stream));
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
    roc::device_array<std::byte> array(roc::shape<1>{page});
    benchmark::DoNotOptimize(array.data());
  }
}

void raw_malloc_free_4_kib(benchmark::State& state) {
  for (auto _ : state) {
    void* memory = nullptr;
    check(hipMalloc(&memory, page));
    benchmark::DoNotOptimize(memory);
    check(hipFree(memory));
  }
}

struct alignas(page) whole_page {
  std::byte bytes[page];
};

void register_4_kib(benchmark::State& state) {
  auto const memory = std::make_unique<whole_page>();
  for (auto _ : state) roc::register_host(memory->bytes).deregister();
}

void raw_register_4_kib(benchmark::State& state) {
  auto const memory = std::make_unique<whole_page>();
  for (auto _ : state) {
    check(hipHostRegister(memory->bytes, page, hipHostRegisterDefault));
    check(hipHostUnregister(memory->bytes));
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
BENCHMARK(copy_4_bytes_back);
BENCHMARK(raw_copy_4_bytes_back);
BENCHMARK(copy_4_bytes_and_wait);
BENCHMARK(raw_copy_4_bytes_and_wait);
BENCHMARK(device_array_4_kib);
BENCHMARK(raw_malloc_free_4_kib);
BENCHMARK(register_4_kib);
BENCHMARK(raw_register_4_kib);

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  try {
    if (roc::device::count() == 0) {
      std::fputs("call_overhead: no device was found\n", stderr);
      return no_device;
    }
    benchmark::AddCustomContext("device", roc::device().name());
    benchmark::RunSpecifiedBenchmarks();
  } catch (std::exception const& e) {
    std::fprintf(stderr, "call_overhead: %s\n", e.what());
    return 1;
  }
  benchmark::Shutdown();
  return 0;
}
