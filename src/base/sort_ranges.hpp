// SPDX-License-Identifier: MIT
// Sorting of many address ranges.
#pragma once

#include <span>

#include "base/byte_range.hpp"

namespace roc::base {

/// Sorts by the first address; not stable. O(n) for ranges that are sorted or about evenly spaced,
/// else O(n log n). Allocates scratch memory of the same size, unless the ranges are sorted.
void sort_ranges(std::span<byte_range> ranges);

}  // namespace roc::base
