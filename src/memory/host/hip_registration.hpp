// SPDX-License-Identifier: MIT
// Registration of host memory with HIP. The functions do not use the host_table and do not need its
// lock. They are slow: registering gigabytes takes seconds.
#pragma once

#include <vector>

#include "base/byte_range.hpp"

namespace roc::memory {

/// Throws registration_error if the first or the last byte of the range is already pinned. Old
/// versions of ROCm would register it twice and lose one registration. Calls HIP.
void check_not_pinned(base::byte_range range);
/// Throws registration_error if the range is not in one allocation or registration of pinned host
/// memory. Calls HIP.
void check_pinned(base::byte_range range);

/// Registers the range with flags of hipHostRegister, and returns the segments that it was
/// registered in, in order. The setting ROCARRAY_REGISTER_CHUNK is the size of a segment.
/// Boundaries between segments are multiples of this size, so that no page belongs to two segments.
/// Mapped memory is one segment, because it needs one device address. Calls HIP and blocks for a
/// long time. Throws roc::error, and registration_error if a part is already registered; nothing
/// remains registered then.
std::vector<base::byte_range> register_segments(base::byte_range range, unsigned flags);

}  // namespace roc::memory
