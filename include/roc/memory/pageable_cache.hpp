// SPDX-License-Identifier: MIT
// The cache of freed pageable memory of host arrays. The system fills a new page with zeros when it
// is first written, which takes as long as copying it from the device: memory is reused instead.
#pragma once

#include <cstddef>

#include <roc/config.hpp>

namespace roc {

/// State and counters of the cache of pageable memory.
struct pageable_cache_information {
  std::size_t bytes;      ///< bytes in the cache
  std::size_t blocks;     ///< blocks in the cache
  std::size_t limit;      ///< largest number of bytes that it keeps (options::pageable_cache)
  std::size_t reused;     ///< allocations served from the cache so far
  std::size_t allocated;  ///< allocations of 2 MiB and more that were not, so far
};

/// Returns the state of the cache of pageable memory.
///
/// A host_array with pageable memory of 2 MiB and more that is destroyed leaves its memory in the
/// cache. If the cache exceeds its limit (options::pageable_cache; default 256 MiB, 0 disables the
/// cache), the oldest blocks are freed. An array of a similar size reuses a block; its elements are
/// not initialized. Cached memory is not available to other allocations of the process.
[[nodiscard]] ROCARRAY_API pageable_cache_information pageable_cache();

/// Frees cached blocks, oldest first, until at most `keep` bytes remain. Does not wait for streams:
/// no work uses cached blocks.
ROCARRAY_API void trim_pageable_cache(std::size_t keep = 0) noexcept;

}  // namespace roc
