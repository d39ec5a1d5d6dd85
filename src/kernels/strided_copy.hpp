// SPDX-License-Identifier: MIT
// Copies on the device between any layouts. All functions enqueue work on the stream and return;
// they throw roc::error if the launch fails.
#pragma once

#include <cstddef>

#include "layout/canonical_layout.hpp"
#include "platform/hip.hpp"

namespace roc::kernels {

/// Copies the source to the destination, both on the device.
void permute(layout::canonical_layout const& layout, hipStream_t stream);
/// Copies a range of the source to packed memory, both on the device. The range begins and ends at
/// multiples of 16 bytes or at the end of the layout; `packed` is its first byte in packed memory.
void gather(layout::canonical_layout const& layout, layout::packed_range range, std::byte* packed,
            hipStream_t stream);
/// Copies packed memory to a range of the destination, both on the device. The range is as for
/// gather.
void scatter(layout::canonical_layout const& layout, layout::packed_range range,
             std::byte const* packed, hipStream_t stream);

}  // namespace roc::kernels
