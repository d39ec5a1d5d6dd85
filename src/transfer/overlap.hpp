// SPDX-License-Identifier: MIT
// Whether strided regions share memory: exactly, as integer equations, not by their bounds.
#pragma once

#include <cstddef>

#include "transfer/normal_form.hpp"

namespace roc::transfer {

/// Whether the two sides share a byte. Exact, except that regions so interleaved that a million
/// steps decide nothing are taken to share one.
bool sides_overlap(normal_form const& form);

/// Whether two indices of the destination share a byte. Exact to the same bound.
bool destination_repeats(normal_form const& form);

}  // namespace roc::transfer
