// SPDX-License-Identifier: MIT
// HIP's own copies, for the rows beside the library's.
#pragma once

#include <roc/native.hpp>

#include "copy_layout.hpp"

namespace rocbench {

/// Enqueues the one call of HIP that copies such a layout: hipMemcpyAsync, hipMemcpy2DAsync or
/// hipMemcpy3DAsync. Throws roc::error. Precondition: raw_call(layout) is not null.
void raw_copy(copy_layout const& layout, void* to, void const* from, hipMemcpyKind kind,
              hipStream_t stream);

/// The name of that call; null where HIP has none, as for transposition.
char const* raw_call(copy_layout const& layout);

}  // namespace rocbench
