// SPDX-License-Identifier: MIT
// Measures the CPU time of planning a copy, by rank and layout, and of planning a batch, per copy.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <benchmark/benchmark.h>

#include <roc/roc.hpp>

#include "copy/batch/batch.hpp"
#include "copy/batch/conflicts.hpp"
#include "copy/batch/routing.hpp"
#include "copy/batch/staging.hpp"

namespace {

// Returns a shape whose extents are all 3.
template <std::size_t N>
roc::shape<N> extents_of_3() {
  roc::shape<N> result;
  result.fill(3);
  return result;
}

// Contiguous on both sides: all axes merge into one.
template <std::size_t N>
void contiguous(benchmark::State& state) {
  roc::device_array<float, N> const device(extents_of_3<N>());
  roc::host_array<float, N> const host(extents_of_3<N>());
  for (auto _ : state) benchmark::DoNotOptimize(roc::planned_path(host, device));
}

// Gaps after every axis on the host: no axes merge.
template <std::size_t N>
void padded(benchmark::State& state) {
  roc::device_array<float, N> const device(extents_of_3<N>());
  roc::shape<N> padded_extents;
  padded_extents.fill(4);
  std::vector<float> memory(roc::host_array<float, N>(padded_extents).size());
  roc::host_view const padded_view(memory.data(), padded_extents);
  roc::host_view const host(memory.data(), extents_of_3<N>(), padded_view.strides());
  for (auto _ : state) benchmark::DoNotOptimize(roc::planned_path(host, device));
}

// F order to C order: the axes are sorted from the worst order.
template <std::size_t N>
void transposed(benchmark::State& state) {
  roc::device_array<float, N> const source(extents_of_3<N>(), roc::order::f);
  roc::device_array<float, N> const destination(extents_of_3<N>());
  for (auto _ : state) benchmark::DoNotOptimize(roc::planned_path(source, destination));
}

#define ROCARRAY_BY_RANK(name) \
  BENCHMARK_TEMPLATE(name, 1); \
  BENCHMARK_TEMPLATE(name, 2); \
  BENCHMARK_TEMPLATE(name, 4); \
  BENCHMARK_TEMPLATE(name, 8)
ROCARRAY_BY_RANK(contiguous);
ROCARRAY_BY_RANK(padded);
ROCARRAY_BY_RANK(transposed);

constexpr std::size_t copy_bytes = 64;

// Calls add(source, destination) for copies of host memory to the device in reverse order, so that
// nothing is sorted already.
template <class Add>
void add_reversed(std::size_t count, std::vector<std::byte>& host,
                  roc::device_array<std::byte> const& device, Add add) {
  for (std::size_t i = 0; i != count; ++i) {
    auto const destination = static_cast<std::ptrdiff_t>(copy_bytes * (count - 1 - i));
    auto const destination_end = destination + static_cast<std::ptrdiff_t>(copy_bytes);
    add(roc::host_view(host.data() + copy_bytes * i, roc::shape<1>{copy_bytes}),
        device(roc::slice(destination, destination_end)));
  }
}

// Adds copies to a new batch.
void batch_add(benchmark::State& state) {
  auto const count = static_cast<std::size_t>(state.range(0));
  std::vector<std::byte> host(count * copy_bytes);
  roc::device_array<std::byte> const device({count * copy_bytes});
  for (auto _ : state) {
    roc::copy_batch batch;
    add_reversed(count, host, device, [&](auto const& source, auto const& destination) {
      batch.add(source, destination);
    });
    benchmark::DoNotOptimize(batch.size());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(batch_add)->RangeMultiplier(8)->Range(64, 32768);

using shared_batch = std::shared_ptr<roc::transfer::batch>;

// Measures f(batch, indices of its copies, count) with a batch of reversed copies.
template <class F>
void measure_batch(benchmark::State& state, F f) {
  auto const count = static_cast<std::size_t>(state.range(0));
  std::vector<std::byte> host(count * copy_bytes);
  roc::device_array<std::byte> const device({count * copy_bytes});
  auto const batch = std::make_shared<roc::transfer::batch>();
  roc::transfer::copy_selection indices;
  add_reversed(count, host, device, [&](auto const& source, auto const& destination) {
    batch->add(roc::detail::operand_of(source).region(),
               roc::detail::operand_of(destination).region());
  });
  for (std::size_t i = 0; i != count; ++i) indices.push_back(i);
  for (auto _ : state) benchmark::DoNotOptimize(f(batch, indices, count));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

// Finds the groups of copies that are independent of each other.
auto const batch_groups = [](shared_batch const& batch, auto const&, std::size_t) {
  return roc::transfer::independent_groups(*batch);
};
// Classifies and sorts the copies of a batch, as submit() does.
auto const batch_sorted = [](shared_batch const& batch, auto const&, std::size_t count) {
  return roc::transfer::route_copies(*batch, 0, count, true, roc::detail::source_use::copied);
};
// Divides a batch into staging chunks.
auto const batch_in_chunks = [](shared_batch const& batch, auto const& indices, std::size_t) {
  return roc::transfer::make_staged_batches(
      batch, indices, roc::transfer::copy_kind::host_to_device, {std::size_t{256} << 10, SIZE_MAX});
};

// clang-format off
#define ROCARRAY_OF_BATCH(name) \
  BENCHMARK_CAPTURE(measure_batch, name, name)->Name(#name)->RangeMultiplier(8)->Range(64, 32768)
// clang-format on
ROCARRAY_OF_BATCH(batch_groups);
ROCARRAY_OF_BATCH(batch_sorted);
ROCARRAY_OF_BATCH(batch_in_chunks);

// Tiles of one matrix have overlapping bounds, which is the most expensive case of finding
// independent copies.
void batch_groups_of_tiles(benchmark::State& state) {
  auto const tiles = static_cast<std::size_t>(state.range(0));
  constexpr std::size_t tile_extent = 8;
  std::vector<float> const host(tile_extent * tile_extent);
  roc::device_array<float, 2> const device({tiles * tile_extent, tiles * tile_extent});
  roc::transfer::batch batch;
  roc::host_view const source(host.data(), roc::shape<2>{tile_extent, tile_extent});
  for (std::size_t tile = 0; tile != tiles * tiles; ++tile) {
    auto const row = static_cast<std::ptrdiff_t>(tile / tiles * tile_extent);
    auto const column = static_cast<std::ptrdiff_t>(tile % tiles * tile_extent);
    auto const tile_length = static_cast<std::ptrdiff_t>(tile_extent);
    auto const destination =
        device(roc::slice(row, row + tile_length), roc::slice(column, column + tile_length));
    batch.add(roc::detail::operand_of(source).region(),
              roc::detail::operand_of(destination).region());
  }
  for (auto _ : state) benchmark::DoNotOptimize(roc::transfer::independent_groups(batch));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(tiles * tiles));
}
BENCHMARK(batch_groups_of_tiles)->RangeMultiplier(2)->Range(8, 64);

}  // namespace
