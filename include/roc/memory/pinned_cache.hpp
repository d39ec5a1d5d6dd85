// SPDX-License-Identifier: MIT
// Freed pinned memory that is kept for the next pinned array: pinning 1 GiB takes half a second.
#pragma once

#include <cstddef>

#include <roc/config.hpp>

namespace roc {

/// What the cache of pinned memory holds and has done.
struct pinned_cache_information {
  std::size_t bytes;   ///< kept for later arrays
  std::size_t blocks;  ///< in so many blocks
  std::size_t limit;   ///< bytes kept at most: the setting ROCARRAY_PINNED_CACHE (256M; 0: nothing kept)
  std::size_t reused;  ///< arrays that got a kept block
  std::size_t pinned;  ///< arrays for which HIP was called
};

/// Pinned arrays that go leave their memory here, up to the limit; the oldest goes first. A block
/// is given out again when the copies that use it are done, to an array with the same flags. Mapped
/// memory is not kept: kernels may still use it.
[[nodiscard]] ROCARRAY_API pinned_cache_information pinned_cache();

/// Frees kept blocks (hipHostFree, which waits for the device), the oldest first, until at most
/// `keep` bytes are left. Errors go to the log hook.
ROCARRAY_API void trim_pinned_cache(std::size_t keep = 0) noexcept;

}  // namespace roc
