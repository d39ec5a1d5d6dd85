// SPDX-License-Identifier: MIT
// Fills on the device, into any layout, enqueued on a stream.
#pragma once

#include <cstddef>

#include "platform/hip.hpp"
#include "layout/canonical_layout.hpp"

namespace roc::kernels {

/// Repeats `pattern` of `pattern_bytes` (1 to 16, a divisor of the run's) over every run of the
/// destination. The source of the form is not used.
void fill(layout::canonical_layout const& form, std::byte const* pattern, std::size_t pattern_bytes,
          hipStream_t stream);

}  // namespace roc::kernels
