// SPDX-License-Identifier: MIT
// Copies by HIP's own calls, for the raw cases.
#pragma once

#include <roc/native.hpp>

#include "copy_layout.hpp"

namespace rocbench {

/// Enqueues a copy by the function that raw_copy_function() names. Throws roc::error.
/// Precondition: raw_copy_function(layout) is not null.
void raw_copy(copy_layout const& layout, void* destination, void const* source, hipMemcpyKind kind,
              hipStream_t stream);

/// Returns the name of the HIP function that copies this layout in one call; null if HIP has none,
/// as for transpositions.
char const* raw_copy_function(copy_layout const& layout);

}  // namespace rocbench
