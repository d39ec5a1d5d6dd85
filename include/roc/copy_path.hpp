// SPDX-License-Identifier: MIT
// The ways that a copy can take.
#pragma once

#include <roc/config.hpp>

namespace roc {

/// How the bytes of a copy travel. The library picks one from the layouts and the kinds of memory
/// on both sides; every one gives the same bytes.
enum class copy_path : unsigned char {
  none,     ///< there is nothing to copy
  dma,      ///< one copy of contiguous memory
  dma_2d,   ///< rows at a pitch on either side
  dma_3d,   ///< planes of rows
  staged,   ///< contiguous, through pinned staging memory: the host side is pageable
  packed,   ///< strided, packed or unpacked by the CPU in pinned staging memory
  kernel,   ///< strided on the device, by a kernel
  host,     ///< on the CPU: both sides are host memory
};

/// The enumerator's name.
ROCARRAY_API char const* to_string(copy_path path) noexcept;

}  // namespace roc
