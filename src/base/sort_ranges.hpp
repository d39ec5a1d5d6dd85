// SPDX-License-Identifier: MIT
// Many ranges brought into order, in time that grows as their number where they lie about evenly.
#pragma once

#include <span>

#include "base/byte_range.hpp"

namespace roc::base {

/// Sorts by the first address; what is in order already costs one look.
void sort_ranges(std::span<byte_range> all);

}  // namespace roc::base
