// SPDX-License-Identifier: MIT
// Copies by HIP's memcpy functions: contiguous memory, rows at a pitch, and planes of rows.
#pragma once

#include <roc/stream.hpp>

#include "copy/plan.hpp"

namespace roc::transfer {

/// Enqueues the copy on `stream`. Precondition: the plan's path is dma, dma_2d or dma_3d. Normally
/// one call of HIP; several if the host side was registered in several segments, and one for each
/// row unless are_rows_one_command. Blocks only if HIP does, as it may for pageable memory. Throws
/// roc::error; part of the copy may then be enqueued.
void enqueue_dma(plan const& p, stream_ref stream);

}  // namespace roc::transfer
