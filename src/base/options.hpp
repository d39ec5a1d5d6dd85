// SPDX-License-Identifier: MIT
// The library's settings, read from the environment once.
#pragma once

#include <cstddef>

#include <roc/copy_path.hpp>

namespace roc::base {

/// Where the memory of device arrays comes from unless a program says otherwise.
enum class default_resource { pool, direct, driver_pool };

struct library_options {
  std::size_t staging;          // ROCARRAY_STAGING_LIMIT: pinned bytes of a pool; a device has three pools
  std::size_t staging_block;    // ROCARRAY_STAGING_BLOCK: bytes of one block of it
  std::size_t chunk;            // ROCARRAY_STAGING_CHUNK: most bytes of one piece of a staged copy
  std::size_t workers;          // ROCARRAY_COPY_THREADS: threads per device that stage, pack and unpack
  std::size_t direct;           // ROCARRAY_STAGING_THRESHOLD: pageable copies up to here are the runtime's own
  std::size_t direct_enqueued;  // the same where a stream is given, to the device
  std::size_t pinned_cache;     // ROCARRAY_PINNED_CACHE: freed pinned bytes kept at most; 0: none
  std::size_t shortest_row;     // ROCARRAY_MEMCPY2D_MIN_ROW: least bytes of a row for the copy engines
  copy_path path;               // ROCARRAY_COPY_PATH: taken where it can be; nothing: the fastest
  default_resource resource;    // ROCARRAY_MEMORY_RESOURCE
  std::size_t register_chunk;   // ROCARRAY_REGISTER_CHUNK: bytes registered by one call of HIP
};

/// A value that cannot be read is reported on stderr, and the default taken.
library_options const& options();

}  // namespace roc::base
