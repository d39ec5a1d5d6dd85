// SPDX-License-Identifier: MIT
// The division of a batch into groups of copies that can be executed at the same time.
#pragma once

#include <cstddef>
#include <vector>

#include "copy/batch/batch.hpp"

namespace roc::transfer {

/// Returns the ends of consecutive groups of the batch's copies, the last of which is their number.
/// Within a group, no copy writes what another one reads or writes. Groups are as long as possible,
/// except that copies whose conflict cannot be decided in O(n log n) count as conflicting, unless
/// they are columns, tiles or boxes of one array. Calls no HIP function.
std::vector<std::size_t> independent_groups(batch const& batch);

}  // namespace roc::transfer
