// SPDX-License-Identifier: MIT
// The library's settings, read from the environment once.
#pragma once

#include <cstddef>

#include <roc/copy_path.hpp>

namespace roc::base {

/// The memory resource that device arrays use by default.
enum class default_resource { pool, hip, hip_async };

/// The settings that environment variables choose. Sizes are in bytes.
struct library_options {
  /// ROCARRAY_STAGING_LIMIT: the pinned memory of one staging pool. A device has three pools.
  std::size_t staging_limit;
  /// ROCARRAY_STAGING_BLOCK: the size of the blocks that a staging pool allocates.
  std::size_t staging_block;
  /// ROCARRAY_STAGING_CHUNK: the largest chunk of a staged copy; a multiple of 256.
  std::size_t staging_chunk;
  /// ROCARRAY_COPY_THREADS: threads per device that pack, unpack and stage.
  std::size_t copy_threads;
  /// ROCARRAY_STAGING_THRESHOLD: pageable copies up to this size are staged by the HIP
  /// runtime.
  std::size_t staging_threshold;
  /// The same limit for host-to-device copies on a stream; at most `staging_threshold`.
  std::size_t staging_threshold_on_stream;
  /// ROCARRAY_PINNED_CACHE: the limit of freed pinned memory that is kept for reuse; 0 disables
  /// the cache.
  std::size_t pinned_cache;
  /// ROCARRAY_MEMCPY2D_MIN_ROW: the shortest row that the copy engines (hipMemcpy2D) copy.
  std::size_t memcpy2d_min_row;
  /// ROCARRAY_COPY_PATH: the path of every copy that supports it; `none` selects the fastest
  /// path for each copy.
  copy_path forced_path;
  /// ROCARRAY_MEMORY_RESOURCE: the default memory resource.
  default_resource memory_resource;
  /// ROCARRAY_REGISTER_CHUNK: memory is registered in calls of this size; a multiple of 64 KiB.
  std::size_t register_chunk;
};

/// Returns the settings. The first call reads the environment; a value that cannot be used is
/// reported as a warning and replaced by its default.
library_options const& options();

}  // namespace roc::base
