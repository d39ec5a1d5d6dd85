// SPDX-License-Identifier: MIT
#include "copy/staging/pack.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "copy/staging/nontemporal_copy.hpp"
#include "layout/for_each_row.hpp"

namespace roc::transfer {
namespace {

// Prefetches the rows of the strided side. A hardware prefetcher treats a row after a gap as an
// unrelated line, and does not look beyond a page. Measured with 12 threads on 16 cores: rows of 4
// bytes at twice the pitch are packed 1.5 times as fast with prefetching. Rows of 1, 2 and 4 KiB
// are packed at 69, 71 and 83 GB/s instead of 58, 66 and 74, and unpacked at 40, 50 and 62 instead
// of 27, 30 and 41; rows of 16 KiB are not packed faster.
struct prefetcher {
  static constexpr std::size_t line_bytes = cache_line_bytes;
  static constexpr std::size_t distance_bytes = 4096;  // the bytes that memory can have in flight
  static constexpr std::size_t max_run_bytes = 4096;
  // At least so many rows are prefetched ahead, or as many as have distance_bytes.
  static constexpr std::size_t min_distance_rows = 8;

  std::size_t rows_per_line;
  std::size_t distance_rows;  // a multiple of rows_per_line

  // `step`: bytes between rows of `run` bytes.
  prefetcher(std::ptrdiff_t step, std::size_t run) noexcept {
    auto const pitch = std::max<std::size_t>(static_cast<std::size_t>(std::abs(step)), 1);
    rows_per_line = std::max<std::size_t>(line_bytes / pitch, 1);
    std::size_t const least = std::clamp<std::size_t>(distance_bytes / run, 1, min_distance_rows);
    distance_rows = std::max(distance_bytes / pitch / rows_per_line, least) * rows_per_line;
  }

  // Prefetches all cache lines of a row.
  static void prefetch_row(std::byte const* row, std::size_t run) noexcept {
    constexpr int for_reading = 0;  // writes to a line that no other core has are as fast
    constexpr int level_2_cache = 2;
    for (std::size_t offset = 0; offset < run; offset += line_bytes) {
      __builtin_prefetch(row + offset, for_reading, level_2_cache);
    }
  }
};

constexpr std::size_t any_run = 0;

// Copies `count` runs of `Run` bytes, or of `run` bytes if Run is any_run, and advances both
// pointers. A memcpy of a length known at compile time is one or two instructions.
template <std::size_t Run>
void copy_runs(std::byte*& to, std::ptrdiff_t to_step, std::byte const*& from,
               std::ptrdiff_t from_step, std::size_t count, std::size_t run) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(to, from, Run == any_run ? run : Run);
    to += to_step;
    from += from_step;
  }
}

// Copies rows as copy_runs does, and prefetches rows of `strided`, the side that is not staging
// memory.
template <std::size_t Run>
void copy_runs_prefetched(std::byte* to, std::ptrdiff_t to_step, std::byte const* from,
                          std::ptrdiff_t from_step, layout::rows rows,
                          layout::side strided) noexcept {
  std::size_t done = 0;
  if (rows.count > 1 && rows.run <= prefetcher::max_run_bytes) {
    bool const is_source = strided == layout::side::source;
    std::ptrdiff_t const step = is_source ? from_step : to_step;
    prefetcher const prefetch(step, rows.run);
    std::ptrdiff_t const distance = static_cast<std::ptrdiff_t>(prefetch.distance_rows) * step;
    std::size_t const group = prefetch.rows_per_line;
    for (; done + prefetch.distance_rows + group <= rows.count; done += group) {
      prefetcher::prefetch_row((is_source ? from : to) + distance, rows.run);
      copy_runs<Run>(to, to_step, from, from_step, group, rows.run);
    }
  }
  copy_runs<Run>(to, to_step, from, from_step, rows.count - done, rows.run);
}

// Calls copy_runs_prefetched with the length of the rows as a constant, if it is a common one.
void copy_rows(std::byte* to, std::ptrdiff_t to_step, std::byte const* from,
               std::ptrdiff_t from_step, layout::rows rows, layout::side strided) noexcept {
  switch (rows.run) {
    case 1: return copy_runs_prefetched<1>(to, to_step, from, from_step, rows, strided);
    case 2: return copy_runs_prefetched<2>(to, to_step, from, from_step, rows, strided);
    case 4: return copy_runs_prefetched<4>(to, to_step, from, from_step, rows, strided);
    case 8: return copy_runs_prefetched<8>(to, to_step, from, from_step, rows, strided);
    case 12: return copy_runs_prefetched<12>(to, to_step, from, from_step, rows, strided);
    case 16: return copy_runs_prefetched<16>(to, to_step, from, from_step, rows, strided);
    case 32: return copy_runs_prefetched<32>(to, to_step, from, from_step, rows, strided);
    case 64: return copy_runs_prefetched<64>(to, to_step, from, from_step, rows, strided);
    case 128: return copy_runs_prefetched<128>(to, to_step, from, from_step, rows, strided);
    default: return copy_runs_prefetched<any_run>(to, to_step, from, from_step, rows, strided);
  }
}

// Copies rows with non-temporal stores; the caller makes them visible after the last one.
// Prefetches rows of the source if that is the strided side: rows of 4 KiB were packed at 50 GB/s
// instead of 39.
void copy_rows_nontemporal(std::byte* to, std::ptrdiff_t to_step, std::byte const* from,
                           std::ptrdiff_t from_step, layout::rows rows,
                           layout::side strided) noexcept {
  constexpr std::size_t max_prefetched_bytes = std::size_t{8} << 10;
  bool const prefetches = strided == layout::side::source && rows.run <= max_prefetched_bytes;
  for (std::size_t i = 0; i < rows.count; ++i) {
    if (prefetches && i + 1 != rows.count) prefetcher::prefetch_row(from + from_step, rows.run);
    nontemporal_copy(to, from, rows.run);
    to += to_step;
    from += from_step;
  }
}

}  // namespace

void pack(layout::canonical_layout const& canonical, layout::packed_range range, std::byte* packed,
          std::size_t opposite_bytes) noexcept {
  layout::canonical_layout const host = layout::merged_for(canonical, layout::side::source);
  std::ptrdiff_t const step = layout::inner_step(host, layout::side::source);
  bool const nontemporal = host.run >= min_packed_nontemporal_run_bytes &&
                           is_packed_nontemporally(host.bytes(), opposite_bytes);
  layout::for_each_row(
      host, range,
      [&](std::ptrdiff_t source, std::ptrdiff_t, std::size_t offset, layout::rows rows) {
        auto const run = static_cast<std::ptrdiff_t>(rows.run);
        if (nontemporal) {
          copy_rows_nontemporal(packed + offset, run, host.source + source, step, rows,
                                layout::side::source);
        } else {
          copy_rows(packed + offset, run, host.source + source, step, rows, layout::side::source);
        }
      });
  if (nontemporal) nontemporal_fence();
}

void unpack(layout::canonical_layout const& canonical, layout::packed_range range,
            std::byte const* packed, std::size_t opposite_bytes) noexcept {
  layout::canonical_layout const host = layout::merged_for(canonical, layout::side::destination);
  std::ptrdiff_t const step = layout::inner_step(host, layout::side::destination);
  bool const nontemporal = are_runs_unpacked_nontemporally(host) &&
                           is_unpacked_nontemporally(host.bytes(), opposite_bytes);
  layout::for_each_row(
      host, range,
      [&](std::ptrdiff_t, std::ptrdiff_t destination, std::size_t offset, layout::rows rows) {
        auto const run = static_cast<std::ptrdiff_t>(rows.run);
        std::byte* const to = host.destination + destination;
        if (nontemporal) {
          copy_rows_nontemporal(to, step, packed + offset, run, rows, layout::side::destination);
        } else {
          copy_rows(to, step, packed + offset, run, rows, layout::side::destination);
        }
      });
  if (nontemporal) nontemporal_fence();
}

void copy_on_host(layout::canonical_layout const& canonical) noexcept {
  std::ptrdiff_t const from_step = layout::inner_step(canonical, layout::side::source);
  std::ptrdiff_t const to_step = layout::inner_step(canonical, layout::side::destination);
  layout::for_each_row(
      canonical, {0, canonical.bytes()},
      [&](std::ptrdiff_t source, std::ptrdiff_t destination, std::size_t, layout::rows rows) {
        copy_rows(canonical.destination + destination, to_step, canonical.source + source,
                  from_step, rows, layout::side::source);
      });
}

void fill_on_host(layout::canonical_layout const& canonical, std::byte const* pattern,
                  std::size_t pattern_bytes) noexcept {
  std::ptrdiff_t const step = layout::inner_step(canonical, layout::side::destination);
  layout::for_each_row(
      canonical, {0, canonical.bytes()},
      [&](std::ptrdiff_t, std::ptrdiff_t destination, std::size_t, layout::rows rows) {
        std::byte* to = canonical.destination + destination;
        for (std::size_t i = 0; i < rows.count; ++i, to += step) {
          if (pattern_bytes == 1) {
            std::memset(to, std::to_integer<int>(*pattern), rows.run);
            continue;
          }
          copy_rows(to, static_cast<std::ptrdiff_t>(pattern_bytes), pattern, 0,
                    {rows.run / pattern_bytes, pattern_bytes}, layout::side::destination);
        }
      });
}

}  // namespace roc::transfer
