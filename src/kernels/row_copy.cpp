// SPDX-License-Identifier: MIT
#include "kernels/row_copy.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/round_up.hpp"
#include "kernels/strided_loop.hpp"

namespace roc::kernels {

using layout::canonical_layout;

std::optional<std::size_t> set_axes(strided_job& rows, layout::axis const* axes, std::size_t rank) {
  std::size_t count = 1;
  rows.rank = static_cast<unsigned>(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    if (axes[i].extent > max_index32 / count) return std::nullopt;
    count *= axes[i].extent;
    rows.extents[i] = fast_divmod(static_cast<std::uint32_t>(axes[i].extent));
    rows.source_steps[i] = axes[i].source;
    rows.destination_steps[i] = axes[i].destination;
  }
  return count;
}

std::optional<row_division> divide_rows(std::size_t rows, std::size_t units,
                                        std::size_t units_per_thread) {
  constexpr std::size_t max_threads = 256;
  // Fewer neighboring threads would access less than a line of 128 bytes together, if their units
  // have 16 bytes.
  constexpr std::size_t min_threads = 8;

  // The last threads of a row count beyond its end.
  if (units > max_index32 / 2) return std::nullopt;
  std::size_t const segments = base::ceil_div(units, max_threads * units_per_thread);
  std::size_t const segment_units = base::ceil_div(units, segments);
  std::size_t const threads = std::max(base::ceil_div(segment_units, units_per_thread),
                                       std::min(segment_units, min_threads));
  if (rows > max_index32 / threads || segments > max_index32 / (rows * threads)) {
    return std::nullopt;
  }
  row_division result;
  result.threads = fast_divmod(static_cast<std::uint32_t>(threads));
  result.segments = fast_divmod(static_cast<std::uint32_t>(segments));
  result.count = rows * segments * threads;
  return result;
}

namespace {

// Returns the number of chunks of a row, which is enough for all rows.
std::size_t chunks_of(canonical_layout const& layout, row_job const&) {
  constexpr std::uintptr_t alignment = row_job::alignment;
  std::uintptr_t bits = alignment;
  for (std::size_t i = 0; i < layout.rank; ++i) {
    bits |= static_cast<std::uintptr_t>(layout.axes[i].destination);
  }
  // All rows begin at the same offset from a multiple of `unit`. So the offset of each row from a
  // multiple of the alignment is at most this one.
  std::uintptr_t const unit = bits & (~bits + 1);
  std::size_t const offset =
      reinterpret_cast<std::uintptr_t>(layout.destination) % unit + (alignment - unit);
  return base::ceil_div(offset + layout.run, row_chunk::bytes);
}

// The words before and after the chunks need threads as well.
template <class Word>
std::size_t chunks_of(canonical_layout const& layout, split_row_job<Word> const& job) {
  return std::max<std::size_t>(layout.run / row_chunk::bytes, job.min_threads);
}

}  // namespace

template <class Job>
std::optional<Job> make_row_job(canonical_layout const& layout) {
  Job job;
  job.run = layout.run;
  job.rows.source = reinterpret_cast<std::uintptr_t>(layout.source);
  job.rows.destination = reinterpret_cast<std::uintptr_t>(layout.destination);
  std::optional<std::size_t> const rows = set_axes(job.rows, layout.axes.data(), layout.rank);
  if (!rows) return std::nullopt;
  std::optional<row_division> const division = divide_rows(*rows, chunks_of(layout, job), 1);
  if (!division) return std::nullopt;
  job.division = *division;
  return job;
}

template <class Element>
std::optional<reversed_row_job<Element>> make_reversed_row_job(strided_loop const& loop) {
  layout::axis const& inner = loop.axes[loop.rank - 1];
  // A loop begins at the last word of the row on the backward side.
  auto const lowest = [&](std::uintptr_t first, std::ptrdiff_t step) {
    return step < 0 ? first - (inner.extent - 1) * loop.word_bytes : first;
  };
  reversed_row_job<Element> job;
  job.row_bytes = inner.extent * loop.word_bytes;
  job.rows.source = lowest(loop.source, inner.source);
  job.rows.destination = lowest(loop.destination, inner.destination);
  std::optional<std::size_t> const rows = set_axes(job.rows, loop.axes.data(), loop.rank - 1);
  if (!rows) return std::nullopt;
  // The elements before and after the chunks need threads as well.
  std::size_t const chunks =
      std::max<std::size_t>(job.row_bytes / job.chunk_bytes, job.min_threads);
  std::optional<row_division> const division = divide_rows(*rows, chunks, 1);
  if (!division) return std::nullopt;
  job.division = *division;
  return job;
}

template std::optional<row_job> make_row_job(canonical_layout const&);
template std::optional<split_row_job<std::uint8_t>> make_row_job(canonical_layout const&);
template std::optional<split_row_job<std::uint32_t>> make_row_job(canonical_layout const&);
template std::optional<reversed_row_job<std::uint8_t>> make_reversed_row_job(strided_loop const&);
template std::optional<reversed_row_job<std::uint16_t>> make_reversed_row_job(strided_loop const&);
template std::optional<reversed_row_job<std::uint32_t>> make_reversed_row_job(strided_loop const&);
template std::optional<reversed_row_job<std::uint64_t>> make_reversed_row_job(strided_loop const&);

}  // namespace roc::kernels
