// SPDX-License-Identifier: MIT
// Measures the CPU time of calls of the library and of the equivalent HIP calls (raw_*). Allocation
// by one thread is measured by rocbench alloc.
#include <cstddef>
#include <stdexcept>
#include <vector>

#include <benchmark/benchmark.h>

#include <roc/detail/locate.hpp>
#include <roc/native.hpp>
#include <roc/roc.hpp>

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

// The arrays and the stream that the measured calls use.
struct operands {
  roc::stream stream;
  roc::event event;
  roc::host_array<int> host = roc::pinned_array<int>(1);
  roc::device_array<int> device{roc::shape<1>{1}};
  hipStream_t hip_stream = roc::native(stream);
  hipEvent_t hip_event = roc::native(event);
};

// Times calls that enqueue work on the stream of the operands. The synchronizations between them
// are not timed.
template <class F>
void add_enqueuing(char const* name, F call) {
  benchmark::RegisterBenchmark(name, [=](benchmark::State& state) {
    operands subject;
    while (state.KeepRunningBatch(calls_per_synchronization)) {
      for (std::size_t i = 0; i < calls_per_synchronization; ++i) call(subject);
      state.PauseTiming();
      subject.stream.synchronize();
      state.ResumeTiming();
    }
  });
}

// Times calls that are complete on return.
template <class F>
void add_complete(char const* name, F call) {
  benchmark::RegisterBenchmark(name, [=](benchmark::State& state) {
    operands subject;
    for (auto _ : state) call(subject);
  });
}

void add_stream_calls() {
  add_enqueuing("event_record", [](operands& on) { on.event.record(on.stream); });
  add_enqueuing("raw_event_record",
                [](operands& on) { check(hipEventRecord(on.hip_event, on.hip_stream)); });
  add_complete("stream_synchronize", [](operands& on) { on.stream.synchronize(); });
  add_complete("raw_stream_synchronize",
               [](operands& on) { check(hipStreamSynchronize(on.hip_stream)); });
  add_complete("stream_query", [](operands& on) { benchmark::DoNotOptimize(on.stream.query()); });
  add_complete("raw_stream_query",
               [](operands& on) { benchmark::DoNotOptimize(hipStreamQuery(on.hip_stream)); });
}

// Copies on a stream from the library's array to device memory that it did not allocate, passed as
// view(memory). The calls are the same for all views, but not what the library finds out about
// them.
template <class F>
void add_copy_to_other_memory(char const* name, F view) {
  benchmark::RegisterBenchmark(name, [=](benchmark::State& state) {
    operands subject;
    int* memory = nullptr;
    check(hipMalloc(reinterpret_cast<void**>(&memory), sizeof(int)));
    while (state.KeepRunningBatch(calls_per_synchronization)) {
      for (std::size_t i = 0; i < calls_per_synchronization; ++i) {
        roc::copy(subject.device, view(memory), subject.stream);
      }
      state.PauseTiming();
      subject.stream.synchronize();
      state.ResumeTiming();
    }
    check(hipFree(memory));
  });
}

// 10 copies of 4 KiB on the device and 10 fills, as 20 calls and as one launch of a graph.
struct graph_operands {
  static constexpr std::size_t arrays = 10;

  roc::stream stream;
  std::vector<roc::device_array<int>> sources;
  std::vector<roc::device_array<int>> destinations;

  graph_operands() {
    for (std::size_t i = 0; i != arrays; ++i) {
      sources.emplace_back(roc::shape<1>{page_bytes / sizeof(int)});
      destinations.emplace_back(roc::shape<1>{page_bytes / sizeof(int)});
    }
  }
  void call(roc::stream_ref on) {
    for (std::size_t i = 0; i != arrays; ++i) {
      sources[i].fill(static_cast<int>(i), on);
      roc::copy(sources[i], destinations[i], on);
    }
  }
  // Throws if the calls have not been executed.
  void check_bytes() {
    for (std::size_t i = 0; i != arrays; ++i) {
      if (destinations[i].copy_to_host()(page_bytes / sizeof(int) - 1) != static_cast<int>(i)) {
        throw std::runtime_error("wrong bytes");
      }
    }
  }
};

// Times f(operands, executable).
template <class F>
void add_graph_launch(char const* name, F f) {
  benchmark::RegisterBenchmark(name, [=](benchmark::State& state) {
    constexpr std::size_t launches = calls_per_synchronization / (2 * graph_operands::arrays);
    graph_operands subject;
    roc::graph_exec executable(roc::capture([&](roc::stream_ref on) { subject.call(on); }));
    while (state.KeepRunningBatch(launches)) {
      for (std::size_t i = 0; i < launches; ++i) f(subject, executable);
      state.PauseTiming();
      subject.stream.synchronize();
      state.ResumeTiming();
    }
    subject.check_bytes();
  });
}

void add_graphs() {
  add_graph_launch("20_calls", [](graph_operands& on, roc::graph_exec&) { on.call(on.stream); });
  add_graph_launch("launch_graph_of_20_calls", [](graph_operands& on, roc::graph_exec& executable) {
    executable.launch(on.stream);
  });
  add_graph_launch("raw_launch_graph_of_20_calls",
                   [](graph_operands& on, roc::graph_exec& executable) {
                     check(hipGraphLaunch(roc::native(executable), roc::native(on.stream)));
                   });
}

void add_copies() {
  add_copy_to_other_memory("copy_4_bytes_to_device_view",
                           [](int* memory) { return roc::device_view<int>(memory, {1}); });
  add_copy_to_other_memory("copy_4_bytes_to_stated_memory", [](int* memory) {
    return roc::memory_view<int>(memory, {1}).at(roc::device(0));
  });
  add_copy_to_other_memory("copy_4_bytes_to_looked_up_memory",
                           [](int* memory) { return roc::memory_view<int>(memory, {1}); });
  add_enqueuing("copy_4_bytes", [](operands& on) { roc::copy(on.host, on.device, on.stream); });
  add_enqueuing("raw_copy_4_bytes", [](operands& on) {
    check(hipMemcpyAsync(on.device.data(), on.host.data(), sizeof(int), hipMemcpyHostToDevice,
                         on.hip_stream));
  });
  add_enqueuing("copy_4_bytes_to_host",
                [](operands& on) { roc::copy(on.device, on.host, on.stream); });
  add_enqueuing("raw_copy_4_bytes_to_host", [](operands& on) {
    check(hipMemcpyAsync(on.host.data(), on.device.data(), sizeof(int), hipMemcpyDeviceToHost,
                         on.hip_stream));
  });
  add_complete("copy_4_bytes_and_wait", [](operands& on) { roc::copy(on.host, on.device); });
  add_complete("raw_copy_4_bytes_and_wait", [](operands& on) {
    check(hipMemcpyAsync(on.device.data(), on.host.data(), sizeof(int), hipMemcpyHostToDevice,
                         nullptr));
    check(hipStreamSynchronize(nullptr));
  });
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

// Looks up where 4 KiB of memory are: of an array, or unknown to the library.
void look_up(benchmark::State& state, void* data) {
  std::size_t const bytes = page_bytes;
  std::ptrdiff_t const stride = 1;
  for (auto _ : state) {
    roc::detail::strided_region region{data, 1, 1, &bytes, &stride, roc::detail::memory_space::host,
                                       -1};
    roc::detail::locate(region, nullptr, roc::detail::operand_role::source);
    benchmark::DoNotOptimize(region);
  }
}

void look_up_array(benchmark::State& state) {
  roc::device_array<std::byte> const array(roc::shape<1>{page_bytes});
  look_up(state, array.data());
}

void look_up_pinned_array(benchmark::State& state) {
  auto array = roc::pinned_array<std::byte>(page_bytes);
  look_up(state, array.data());
}

void look_up_other_device_memory(benchmark::State& state) {
  void* memory = nullptr;
  check(hipMalloc(&memory, page_bytes));
  look_up(state, memory);
  check(hipFree(memory));
}

void look_up_pageable_memory(benchmark::State& state) {
  std::vector<std::byte> memory(page_bytes);
  look_up(state, memory.data());
}

[[maybe_unused]] bool const added = (add_stream_calls(), add_graphs(), add_copies(), true);
BENCHMARK(device_array_4_kib)->Threads(8)->UseRealTime();
BENCHMARK(device_array_4_kib_across_streams);
BENCHMARK(raw_malloc_free_4_kib)->Threads(8)->UseRealTime();
BENCHMARK(record_use)->Arg(0)->Arg(1)->ArgName("other_stream");
BENCHMARK(record_use_of_unknown_memory);
BENCHMARK(look_up_array);
BENCHMARK(look_up_pinned_array);
BENCHMARK(look_up_other_device_memory);
BENCHMARK(look_up_pageable_memory);

}  // namespace
