// SPDX-License-Identifier: MIT
// What deciding about a copy costs the CPU, by rank and by layout, and what a batch costs for each
// of its copies.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <vector>

#include <benchmark/benchmark.h>

#include <roc/copy.hpp>
#include <roc/copy_batch.hpp>
#include <roc/device.hpp>
#include <roc/device_array.hpp>
#include <roc/host_array.hpp>

#include "copy/batch/batch_chunks.hpp"
#include "copy/batch/batch.hpp"
#include "copy/batch/batch_group.hpp"

namespace {

constexpr int no_device = 5;

template <std::size_t N>
roc::shape<N> extents() {
  roc::shape<N> result;
  result.fill(3);
  return result;
}

// All axes merge into one.
template <std::size_t N>
void contiguous(benchmark::State& state) {
  roc::device_array<float, N> const device(extents<N>());
  roc::host_array<float, N> const host(extents<N>());
  for (auto _ : state) benchmark::DoNotOptimize(roc::planned_path(host, device));
}

// None does: every axis has a gap behind it on the host.
template <std::size_t N>
void padded(benchmark::State& state) {
  roc::device_array<float, N> const device(extents<N>());
  roc::shape<N> wide;
  wide.fill(4);
  std::vector<float> memory(roc::host_array<float, N>(wide).size());
  roc::host_view const whole(memory.data(), wide);
  roc::host_view const host(memory.data(), extents<N>(), whole.strides());
  for (auto _ : state) benchmark::DoNotOptimize(roc::planned_path(host, device));
}

// The other way round on one side: sorted from the worst order.
template <std::size_t N>
void transposed(benchmark::State& state) {
  roc::device_array<float, N> const from(extents<N>(), roc::order::f);
  roc::device_array<float, N> const to(extents<N>());
  for (auto _ : state) benchmark::DoNotOptimize(roc::planned_path(from, to));
}

#define ROCARRAY_BY_RANK(name)          \
  BENCHMARK_TEMPLATE(name, 1);     \
  BENCHMARK_TEMPLATE(name, 2);     \
  BENCHMARK_TEMPLATE(name, 4);     \
  BENCHMARK_TEMPLATE(name, 8)
ROCARRAY_BY_RANK(contiguous);
ROCARRAY_BY_RANK(padded);
ROCARRAY_BY_RANK(transposed);

constexpr std::size_t piece = 64;

// Pieces of host memory to places in reverse order, so that nothing is sorted already.
template <class Add>
void in_reverse(std::size_t count, std::vector<std::byte>& host,
                roc::device_array<std::byte> const& device, Add add) {
  for (std::size_t i = 0; i != count; ++i) {
    auto const to = static_cast<std::ptrdiff_t>(piece * (count - 1 - i));
    auto const end = to + static_cast<std::ptrdiff_t>(piece);
    add(roc::host_view(host.data() + piece * i, roc::shape<1>{piece}), device(roc::slice(to, end)));
  }
}

void batch_add(benchmark::State& state) {
  auto const count = static_cast<std::size_t>(state.range(0));
  std::vector<std::byte> host(count * piece);
  roc::device_array<std::byte> const device({count * piece});
  for (auto _ : state) {
    roc::copy_batch batch;
    in_reverse(count, host, device, [&](auto const& from, auto const& to) { batch.add(from, to); });
    benchmark::DoNotOptimize(batch.size());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(batch_add)->RangeMultiplier(8)->Range(64, 32768);

// So many of them, written down.
struct reversed_copies {
  explicit reversed_copies(std::size_t count) : host(count * piece), device({count * piece}) {
    in_reverse(count, host, device, [&](auto const& from, auto const& to) {
      contents->add(roc::detail::side_of(from).region(), roc::detail::side_of(to).region());
    });
  }

  std::vector<std::byte> host;
  roc::device_array<std::byte> device;
  std::shared_ptr<roc::transfer::batch> contents =
      std::make_shared<roc::transfer::batch>();
};

void batch_groups(benchmark::State& state) {
  reversed_copies const copies(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(roc::transfer::independent_groups(*copies.contents));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(batch_groups)->RangeMultiplier(8)->Range(64, 32768);

roc::transfer::piece_list whole(std::size_t count) {
  roc::transfer::piece_list all;
  for (std::size_t i = 0; i != count; ++i) all.push_back(i);
  return all;
}

// What submitting asks about each copy.
void batch_sorted(benchmark::State& state) {
  auto const count = static_cast<std::size_t>(state.range(0));
  reversed_copies const copies(count);
  for (auto _ : state) {
    benchmark::DoNotOptimize(roc::transfer::sorted_group(*copies.contents, 0, count, true,
                                                         roc::detail::source_use::copied));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(batch_sorted)->RangeMultiplier(8)->Range(64, 32768);

// What it plans before the first of them is packed.
void batch_in_chunks(benchmark::State& state) {
  auto const count = static_cast<std::size_t>(state.range(0));
  reversed_copies const copies(count);
  auto const all = whole(count);
  for (auto _ : state) {
    benchmark::DoNotOptimize(roc::transfer::in_chunks(copies.contents, all,
                                                      roc::transfer::direction::host_to_device,
                                                      {std::size_t{256} << 10, SIZE_MAX}));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(batch_in_chunks)->RangeMultiplier(8)->Range(64, 32768);

// Tiles of one matrix reach into each other's bounds: the costly case.
void batch_groups_of_tiles(benchmark::State& state) {
  auto const tiles = static_cast<std::size_t>(state.range(0));
  constexpr std::size_t side = 8;
  std::vector<float> const host(side * side);
  roc::device_array<float, 2> const device({tiles * side, tiles * side});
  roc::transfer::batch contents;
  roc::host_view const from(host.data(), roc::shape<2>{side, side});
  for (std::size_t t = 0; t != tiles * tiles; ++t) {
    auto const row = static_cast<std::ptrdiff_t>(t / tiles * side);
    auto const column = static_cast<std::ptrdiff_t>(t % tiles * side);
    auto const length = static_cast<std::ptrdiff_t>(side);
    auto const to = device(roc::slice(row, row + length), roc::slice(column, column + length));
    contents.add(roc::detail::side_of(from).region(), roc::detail::side_of(to).region());
  }
  for (auto _ : state) benchmark::DoNotOptimize(roc::transfer::independent_groups(contents));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(tiles * tiles));
}
BENCHMARK(batch_groups_of_tiles)->RangeMultiplier(2)->Range(8, 64);

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  try {
    if (roc::device::count() == 0) {
      std::fputs("planning: no device was found\n", stderr);
      return no_device;
    }
    benchmark::AddCustomContext("device", roc::device().name());
    benchmark::RunSpecifiedBenchmarks();
  } catch (std::exception const& error) {
    std::fprintf(stderr, "planning: %s\n", error.what());
    return 1;
  }
  benchmark::Shutdown();
  return 0;
}
