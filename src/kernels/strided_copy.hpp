// SPDX-License-Identifier: MIT
// Copies on the device between any layouts, enqueued on a stream.
#pragma once

#include <cstddef>

#include "platform/hip.hpp"
#include "layout/canonical_layout.hpp"
#include "layout/canonical_layout.hpp"

namespace roc::kernels {

/// Both sides on the device.
void permute(layout::canonical_layout const& form, hipStream_t stream);
/// A piece of the source, which is on the device, to packed memory there. Pieces begin and end at
/// multiples of 16 bytes or at the end of the form.
void gather(layout::canonical_layout const& form, layout::packed_range part, std::byte* packed,
            hipStream_t stream);
/// Packed memory on the device to a piece of the destination there.
void scatter(layout::canonical_layout const& form, layout::packed_range part, std::byte const* packed,
             hipStream_t stream);

}  // namespace roc::kernels
