// SPDX-License-Identifier: MIT
// The memory resource of pinned arrays. By default it is a cache of freed pinned memory: pinning 1
// GiB takes half a second, so blocks are reused.
#pragma once

#include <cstddef>
#include <source_location>

#include <roc/config.hpp>
#include <roc/detail/call_scope.hpp>
#include <roc/memory/memory_resource.hpp>

namespace roc {

/// Returns the resource from which pinned arrays with the flags `host_flags::portable`, the default
/// of pinned_array, allocate, and the memory of roc::map. Unless set_pinned_resource has set one,
/// it is the cache of pinned memory, which pinned_cache describes: it hands out portable memory and
/// names no device.
[[nodiscard]] ROCARRAY_API memory_resource& pinned_resource();
/// Sets the resource from which pinned arrays with the flags `host_flags::portable`, the default of
/// pinned_array, will allocate, for example a pool_resource over a hip_pinned_memory_resource
/// (cudf: `set_pinned_memory_resource`).
///
/// Arrays with other flags, and mapped arrays, allocate as before. So does staging memory: see
/// options::staging_limit.
///
/// @param resource null restores the cache
/// @returns the previous resource
/// @throws roc::error if the resource does not allocate memory of the kind host_memory::pinned.
///   Mapped memory is refused: kernels may use it, so that giving it back blocks.
///
/// *Lifetime:* the resource must outlive the arrays that allocate from it. If the resource is
/// destroyed, later arrays allocate from the cache again.
ROCARRAY_API memory_resource* set_pinned_resource(
    memory_resource* resource, detail::caller at = std::source_location::current());

/// State and counters of the cache of pinned memory.
struct pinned_cache_information {
  std::size_t bytes;   ///< bytes in the cache
  std::size_t blocks;  ///< blocks in the cache
  std::size_t limit;   ///< largest number of bytes that the cache keeps (options::pinned_cache)
  std::size_t reused;  ///< allocations served from the cache so far
  std::size_t pinned;  ///< allocations that called HIP so far
};

/// Returns the state of the cache of pinned memory.
///
/// A pinned array that is destroyed leaves its block in the cache. If the cache exceeds its limit
/// (options::pinned_cache; default 256 MiB, 0 disables the cache), the oldest
/// blocks are freed. A block is reused by an array with the same flags and a similar size, after
/// all copies that use the block have finished. Mapped memory is not cached, because kernels may
/// still use it.
[[nodiscard]] ROCARRAY_API pinned_cache_information pinned_cache();

/// Frees cached blocks, oldest first, until at most `keep` bytes remain. Errors are reported to
/// the log hook. If HIP cannot wait for the copies that use a block, the block is leaked, and the
/// log hook is told its size.
///
/// *Synchronization:* blocks until the copies that use a freed block have finished; hipHostFree
/// blocks until the device is idle.
ROCARRAY_API void trim_pinned_cache(std::size_t keep = 0) noexcept;

}  // namespace roc
