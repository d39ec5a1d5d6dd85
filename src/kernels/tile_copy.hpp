// SPDX-License-Identifier: MIT
// Permutations in square tiles, which make both sides of a transposing copy coalesced.
#pragma once

#include "kernels/strided_loop.hpp"
#include "platform/hip.hpp"

namespace roc::kernels {

/// Enqueues the copy in tiles, if different axes are the fastest on the two sides and both are long
/// enough. Otherwise enqueues nothing and returns false. Throws roc::error if the launch fails.
bool try_tile_copy(strided_loop const& loop, hipStream_t stream);

}  // namespace roc::kernels
