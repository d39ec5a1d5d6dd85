// SPDX-License-Identifier: MIT
// Iteration over a range of a strided copy, in rows of equal runs.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "layout/canonical_layout.hpp"

namespace roc::layout {

/// `count` runs of `run` bytes each. Each side has a constant step between runs (inner_step).
struct rows {
  std::size_t count;
  std::size_t run;
};

/// Calls `visit(source_offset, destination_offset, packed_offset, rows)` for consecutive parts of
/// `range`, which together cover it in linear order. Each part consists of whole runs along the
/// innermost axis; a run that is only partly in the range is a part by itself. The first two
/// offsets count bytes from the layout's first run, the third from the beginning of the range.
/// `visit` must not throw.
template <class Visit>
void for_each_row(canonical_layout const& layout, packed_range range, Visit visit) noexcept {
  std::size_t const inner = layout.rank == 0 ? 0 : layout.rank - 1;
  std::array<std::size_t, max_axes> index{};
  std::ptrdiff_t source = 0;
  std::ptrdiff_t destination = 0;
  std::size_t outer_index = range.begin / layout.run;
  for (std::size_t i = layout.rank; i-- != 0;) {
    axis const& a = layout.axes[i];
    index[i] = outer_index % a.extent;
    outer_index /= a.extent;
    source += static_cast<std::ptrdiff_t>(index[i]) * a.source;
    destination += static_cast<std::ptrdiff_t>(index[i]) * a.destination;
  }
  // Advances by `runs` runs along the innermost axis, and carries to the outer axes at its end.
  auto const advance = [&](std::size_t runs) {
    for (std::size_t i = layout.rank; i-- != 0; runs = 1) {
      axis const& a = layout.axes[i];
      source += static_cast<std::ptrdiff_t>(runs) * a.source;
      destination += static_cast<std::ptrdiff_t>(runs) * a.destination;
      index[i] += runs;
      if (index[i] != a.extent) return;
      source -= static_cast<std::ptrdiff_t>(a.extent) * a.source;
      destination -= static_cast<std::ptrdiff_t>(a.extent) * a.destination;
      index[i] = 0;
    }
  };
  std::size_t offset_in_run = range.begin % layout.run;
  for (std::size_t position = range.begin; position < range.end;) {
    std::size_t const bytes_left = range.end - position;
    std::size_t const packed = position - range.begin;
    if (offset_in_run != 0 || bytes_left < layout.run) {
      std::size_t const bytes = std::min(layout.run - offset_in_run, bytes_left);
      auto const offset = static_cast<std::ptrdiff_t>(offset_in_run);
      visit(source + offset, destination + offset, packed, rows{1, bytes});
      position += bytes;
      offset_in_run = 0;
      advance(1);
      continue;
    }
    std::size_t const runs_left = layout.rank == 0 ? 1 : layout.axes[inner].extent - index[inner];
    std::size_t const count = std::min(runs_left, bytes_left / layout.run);
    visit(source, destination, packed, rows{count, layout.run});
    position += count * layout.run;
    advance(count);
  }
}

/// Returns the step in bytes, on one side, between the runs that for_each_row visits together; 0 if
/// the layout has a single run.
inline std::ptrdiff_t inner_step(canonical_layout const& layout, side operand) noexcept {
  if (layout.rank == 0) return 0;
  axis const& inner = layout.axes[layout.rank - 1];
  return operand == side::source ? inner.source : inner.destination;
}

}  // namespace roc::layout
