// SPDX-License-Identifier: MIT
// Many ranges brought into order, in time that grows as their number where they lie about evenly.
#pragma once

#include <span>

#include "memory/range.hpp"

namespace roc::memory {

/// Sorts by the first address; what is in order already costs one look.
void sort_ranges(std::span<range> all);

}  // namespace roc::memory
