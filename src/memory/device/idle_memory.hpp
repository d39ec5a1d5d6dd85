// SPDX-License-Identifier: MIT
// Allocation and deallocation of memory that no work uses, for accesses by the host and by
// libraries without streams.
#pragma once

#include <cstddef>

#include <roc/memory/memory_resource.hpp>

namespace roc::memory {

/// Returns the device of the resource, or the current one if it names none. Throws roc::error.
int device_of(memory_resource const& resource);
/// Allocates memory that no work uses: blocks until the work that may still use it has finished.
/// Returns an empty block for 0 bytes. The caller deallocates the block. Throws out_of_memory,
/// roc::error.
detail::resource_block allocate_idle(memory_resource& resource, std::size_t bytes);

}  // namespace roc::memory
