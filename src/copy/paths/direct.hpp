// SPDX-License-Identifier: MIT
// Copies that one call of HIP does: contiguous, rows, planes.
#pragma once

#include "platform/hip.hpp"
#include "copy/plan.hpp"

namespace roc::transfer {

/// What HIP is told about the two sides of a copy between them, or by staging memory.
hipMemcpyKind kind_of(plan const& p);

/// Enqueues the copy on `stream`. The plan's path is dma, dma_2d or dma_3d.
void copy_directly(plan const& p, hipStream_t stream);

}  // namespace roc::transfer
