// SPDX-License-Identifier: MIT
// Whether strided regions share memory: exactly, as integer equations, not by their bounds.
#pragma once

#include <cstddef>

#include "layout/canonical_layout.hpp"

namespace roc::layout {

/// Whether the two sides share a byte. Exact, except that regions so interleaved that a million
/// steps decide nothing are taken to share one.
bool sides_overlap(canonical_layout const& form);

/// The same of any side of any two forms.
bool regions_overlap(canonical_layout const& first, side of_first, canonical_layout const& second,
                     side of_second);

/// Whether the two are told apart by their places between multiples of one step, as columns and
/// tiles of one array are. Costs next to nothing; false where it takes regions_overlap to know.
bool surely_disjoint(canonical_layout const& first, side of_first, canonical_layout const& second,
                     side of_second) noexcept;

/// Whether two indices of the destination share a byte. Exact to the same bound.
bool destination_repeats(canonical_layout const& form);

}  // namespace roc::layout
