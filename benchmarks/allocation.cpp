// SPDX-License-Identifier: MIT
// Measures an allocation and its deallocation: by the pool and by HIP, on one stream and across
// two, in one thread and in several. Also measures recording the use of memory on a stream.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include <roc/native.hpp>
#include <roc/roc.hpp>

#include "memory/device/device_use.hpp"
#include "platform/call.hpp"

namespace {

std::size_t requested_bytes(benchmark::State const& state) {
  return static_cast<std::size_t>(state.range(0));
}

// Times pairs of allocation and deallocation. Each thread has a stream; all threads share one
// resource.
template <class MakeResource>
void allocate_and_deallocate(benchmark::State& state, MakeResource make_resource) {
  static std::unique_ptr<roc::memory_resource> resource;
  if (state.thread_index() == 0) resource = make_resource();
  roc::stream const stream;
  std::size_t const bytes = requested_bytes(state);
  for (auto _ : state) {
    void* const data = resource->allocate(bytes, stream);
    benchmark::DoNotOptimize(data);
    resource->deallocate(data, bytes, stream);
  }
  stream.synchronize();
  if (state.thread_index() == 0) roc::device().synchronize();
}

roc::hip_memory_resource& hip_resource() {
  static auto* const instance = new roc::hip_memory_resource;
  return *instance;
}

void pool(benchmark::State& state) {
  allocate_and_deallocate(state,
                          [] { return std::make_unique<roc::pool_resource>(hip_resource()); });
}
void hip_malloc(benchmark::State& state) {
  allocate_and_deallocate(state, [] { return std::make_unique<roc::hip_memory_resource>(); });
}
void hip_malloc_async(benchmark::State& state) {
  allocate_and_deallocate(state, [] { return std::make_unique<roc::hip_async_memory_resource>(); });
}

// Constructs and destroys a device_array.
void array(benchmark::State& state) {
  roc::stream const stream;
  std::size_t const bytes = requested_bytes(state);
  for (auto _ : state) {
    roc::device_array<std::byte> const allocated({bytes}, roc::order::c, stream);
    benchmark::DoNotOptimize(allocated.data());
  }
}

// Deallocates on one stream and allocates on another.
void across_streams(benchmark::State& state) {
  roc::pool_resource pool(hip_resource());
  roc::stream const streams[2];
  std::size_t const bytes = requested_bytes(state);
  unsigned iteration = 0;
  for (auto _ : state) {
    roc::stream_ref const stream = streams[++iteration % 2];
    void* const data = pool.allocate(bytes, stream);
    pool.deallocate(data, bytes, stream);
  }
}

// Records the use of memory inside one of 1000 live arrays.
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

// 256 B to 1 GiB in steps of a factor of 16.
void sizes(benchmark::internal::Benchmark* registered) {
  for (std::int64_t bytes = 256; bytes <= std::int64_t{1} << 30; bytes *= 16)
    registered->Arg(bytes);
  registered->Arg(std::int64_t{1} << 30)->ArgName("bytes");
}
void few_sizes(benchmark::internal::Benchmark* registered) {
  registered->Arg(256)->Arg(64 << 10)->Arg(1 << 20)->Arg(16 << 20)->ArgName("bytes");
}

BENCHMARK(pool)->Apply(sizes);
BENCHMARK(hip_malloc)->Apply(sizes);
BENCHMARK(hip_malloc_async)->Apply(sizes);
BENCHMARK(array)->Apply(few_sizes);
BENCHMARK(across_streams)->Apply(few_sizes);
BENCHMARK(pool)->Apply(few_sizes)->Threads(8)->UseRealTime();
BENCHMARK(hip_malloc)->Apply(few_sizes)->Threads(8)->UseRealTime();
BENCHMARK(hip_malloc_async)->Apply(few_sizes)->Threads(8)->UseRealTime();
BENCHMARK(record_use)->Arg(0)->Arg(1)->ArgName("other_stream");
BENCHMARK(record_use_of_unknown_memory);

}  // namespace

BENCHMARK_MAIN();
