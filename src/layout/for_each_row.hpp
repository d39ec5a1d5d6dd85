// SPDX-License-Identifier: MIT
// A piece of a strided region, taken apart into rows of equal runs.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "layout/canonical_layout.hpp"

namespace roc::layout {

/// Equal runs, one after the other at a step.
struct rows {
  std::size_t count;
  std::size_t run;
};

/// Calls visit(source offset, destination offset, packed offset, rows) for a piece: whole rows of
/// the innermost axis at a time, and parts of a run where the piece cuts one.
template <class Visit>
void for_each_row(canonical_layout const& form, packed_range part, Visit visit) noexcept {
  std::size_t const inner = form.rank == 0 ? 0 : form.rank - 1;
  std::array<std::size_t, max_axes> index{};
  std::ptrdiff_t source = 0;
  std::ptrdiff_t destination = 0;
  std::size_t rest = part.begin / form.run;
  for (std::size_t i = form.rank; i-- != 0;) {
    axis const& a = form.axes[i];
    index[i] = rest % a.extent;
    rest /= a.extent;
    source += static_cast<std::ptrdiff_t>(index[i]) * a.source;
    destination += static_cast<std::ptrdiff_t>(index[i]) * a.destination;
  }
  // `done` more runs of the innermost axis, and where that is full, of those around it.
  auto const advance = [&](std::size_t done) {
    for (std::size_t i = form.rank; i-- != 0; done = 1) {
      axis const& a = form.axes[i];
      source += static_cast<std::ptrdiff_t>(done) * a.source;
      destination += static_cast<std::ptrdiff_t>(done) * a.destination;
      index[i] += done;
      if (index[i] != a.extent) return;
      source -= static_cast<std::ptrdiff_t>(a.extent) * a.source;
      destination -= static_cast<std::ptrdiff_t>(a.extent) * a.destination;
      index[i] = 0;
    }
  };
  std::size_t within = part.begin % form.run;
  for (std::size_t at = part.begin; at < part.end;) {
    std::size_t const left = part.end - at;
    std::size_t const packed = at - part.begin;
    if (within != 0 || left < form.run) {
      std::size_t const bytes = std::min(form.run - within, left);
      auto const offset = static_cast<std::ptrdiff_t>(within);
      visit(source + offset, destination + offset, packed, rows{1, bytes});
      at += bytes;
      within = 0;
      advance(1);
      continue;
    }
    std::size_t const along = form.rank == 0 ? 1 : form.axes[inner].extent - index[inner];
    std::size_t const count = std::min(along, left / form.run);
    visit(source, destination, packed, rows{count, form.run});
    at += count * form.run;
    advance(count);
  }
}

/// The step between the rows that walk gives; 0 where there is one run only.
inline std::ptrdiff_t inner_step(canonical_layout const& form, side which) noexcept {
  if (form.rank == 0) return 0;
  axis const& inner = form.axes[form.rank - 1];
  return which == side::source ? inner.source : inner.destination;
}

}  // namespace roc::layout
