// SPDX-License-Identifier: MIT
// One allocation and its free: the pool beside HIP's own, on one stream and across two, by one
// thread and several. And what noting the use of a block on another stream costs.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include <roc/native.hpp>
#include <roc/roc.hpp>

#include "memory/device/allocation_record.hpp"
#include "platform/call.hpp"

namespace {

std::size_t bytes_of(benchmark::State const& state) {
  return static_cast<std::size_t>(state.range(0));
}

// A resource, shared by the threads, and a stream of each.
template <class Make>
void pairs(benchmark::State& state, Make make) {
  static std::unique_ptr<roc::memory_resource> resource;
  if (state.thread_index() == 0) resource = make();
  roc::stream const stream;
  std::size_t const bytes = bytes_of(state);
  for (auto _ : state) {
    void* const data = resource->allocate(bytes, stream);
    benchmark::DoNotOptimize(data);
    resource->deallocate(data, bytes, stream);
  }
  stream.synchronize();
  if (state.thread_index() == 0) roc::device().synchronize();
}

roc::hip_memory_resource& direct() {
  static auto* const instance = new roc::hip_memory_resource;
  return *instance;
}

void pool(benchmark::State& state) {
  pairs(state, [] { return std::make_unique<roc::pool_resource>(direct()); });
}
void hip_malloc(benchmark::State& state) {
  pairs(state, [] { return std::make_unique<roc::hip_memory_resource>(); });
}
void hip_malloc_async(benchmark::State& state) {
  pairs(state, [] { return std::make_unique<roc::hip_async_memory_resource>(); });
}

// What a user sees: an array made and dropped.
void array(benchmark::State& state) {
  roc::stream const stream;
  std::size_t const bytes = bytes_of(state);
  for (auto _ : state) {
    roc::device_array<std::byte> const made({bytes}, roc::order::c, stream);
    benchmark::DoNotOptimize(made.data());
  }
}

// Memory given back on one stream and taken on another.
void across_streams(benchmark::State& state) {
  roc::pool_resource pool(direct());
  roc::stream const streams[2];
  std::size_t const bytes = bytes_of(state);
  unsigned turn = 0;
  for (auto _ : state) {
    roc::stream_ref const on = streams[++turn % 2];
    void* const data = pool.allocate(bytes, on);
    pool.deallocate(data, bytes, on);
  }
}

// A thousand arrays live, as in a program; the address lies inside one of them.
void record_use(benchmark::State& state) {
  roc::stream const own;
  roc::stream const other;
  std::vector<roc::device_array<std::byte>> live;
  for (std::size_t i = 0; i < 1000; ++i)
    live.emplace_back(roc::shape<1>{100 + i * 97}, roc::order::c, own);
  std::size_t next = 0;
  roc::stream_ref const used = state.range(0) == 0 ? own : other;
  for (auto _ : state) {
    next = (next + 7) % live.size();
    roc::memory::device_use const noted(used, 0, live[next].data() + 50);
    benchmark::ClobberMemory();
  }
}

void note_use_of_foreign(benchmark::State& state) {
  roc::stream const stream;
  std::vector<std::byte> memory(1000);
  for (auto _ : state) {
    roc::memory::device_use const noted(stream, 0, memory.data());
    benchmark::ClobberMemory();
  }
}

// 256 B to 1 GiB.
void sizes(benchmark::internal::Benchmark* b) {
  for (std::int64_t bytes = 256; bytes <= std::int64_t{1} << 30; bytes *= 16) b->Arg(bytes);
  b->Arg(std::int64_t{1} << 30)->ArgName("bytes");
}
void small_sizes(benchmark::internal::Benchmark* b) {
  b->Arg(256)->Arg(64 << 10)->Arg(1 << 20)->Arg(16 << 20)->ArgName("bytes");
}

BENCHMARK(pool)->Apply(sizes);
BENCHMARK(hip_malloc)->Apply(sizes);
BENCHMARK(hip_malloc_async)->Apply(sizes);
BENCHMARK(array)->Apply(small_sizes);
BENCHMARK(across_streams)->Apply(small_sizes);
BENCHMARK(pool)->Apply(small_sizes)->Threads(8)->UseRealTime();
BENCHMARK(hip_malloc)->Apply(small_sizes)->Threads(8)->UseRealTime();
BENCHMARK(hip_malloc_async)->Apply(small_sizes)->Threads(8)->UseRealTime();
BENCHMARK(record_use)->Arg(0)->Arg(1)->ArgName("elsewhere");
BENCHMARK(note_use_of_foreign);

}  // namespace

BENCHMARK_MAIN();
