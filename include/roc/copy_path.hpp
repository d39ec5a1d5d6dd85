// SPDX-License-Identifier: MIT
// How the bytes of a copy travel.
#pragma once

#include <roc/config.hpp>

namespace roc {

// GCC warns that the scoped enumerator `none` shadows roc::none.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif

/// How the bytes of a copy travel. The library chooses a path from the layouts and the kinds of
/// memory of both operands. The result is the same for every path.
enum class copy_path : unsigned char {
  none,    ///< there is nothing to copy
  dma,     ///< one contiguous copy
  dma_2d,  ///< rows with a pitch in the source or the destination
  dma_3d,  ///< planes of rows; on AMD, each row of dma_2d or dma_3d may need a call of HIP
  staged,  ///< contiguous, through pinned staging memory: the host memory is pageable
  packed,  ///< strided: the CPU packs or unpacks the elements in pinned staging memory
  kernel,  ///< strided device memory: a kernel copies
  host,    ///< both operands are host memory: the CPU copies
};

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

/// Returns the enumerator's name.
ROCARRAY_API char const* to_string(copy_path path) noexcept;

}  // namespace roc
