// SPDX-License-Identifier: MIT
// Fills on the device, of any layout.
#pragma once

#include <cstddef>

#include "layout/canonical_layout.hpp"
#include "platform/hip.hpp"

namespace roc::kernels {

/// Enqueues a fill: repeats `pattern`, of `pattern_bytes` bytes, over every run of the destination.
/// `pattern_bytes` is from 1 to 16 and divides the run. The pattern has been read on return. The
/// source of the layout is not used. Throws roc::error if the launch fails.
void fill(layout::canonical_layout const& layout, std::byte const* pattern,
          std::size_t pattern_bytes, hipStream_t stream);

}  // namespace roc::kernels
