// SPDX-License-Identifier: MIT
// Kinds of host memory, and flags of pinned memory.
#pragma once

namespace roc {

/// The kind of host memory that an array is in.
enum class host_memory : unsigned char {
  pageable,  ///< ordinary memory; copies to and from the device are staged
  pinned,    ///< page-locked (hipHostMalloc); the device accesses it by DMA
  mapped,    ///< pinned, and accessible to kernels through a device_view (hipHostMallocMapped)
  managed,   ///< migrates between host and device (hipMallocManaged)
};

/// Flags of pinned memory (those of hipHostMalloc; numba.cuda: `portable`, `wc`). Combine with |.
///
/// Coherence can be chosen on AMD only. There, portable or write-combined memory is non-coherent
/// unless `coherent` is set: writes become visible to the other side when a kernel or a copy ends.
enum class host_flags : unsigned {
  default_flags = 0,   ///< pinned for the current device
  portable = 1,        ///< pinned for every device (hipHostMallocPortable)
  mapped = 2,          ///< accessible to kernels (hipHostMallocMapped)
  write_combined = 4,  ///< fast to write and to send, slow to read (hipHostMallocWriteCombined)
  coherent = 8,        ///< kernels and the CPU see each other's writes (hipHostMallocCoherent)
  non_coherent = 16,   ///< cached by the device while a kernel runs (hipHostMallocNonCoherent)
};

/// Returns the union of two sets of flags.
constexpr host_flags operator|(host_flags a, host_flags b) noexcept {
  return static_cast<host_flags>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
/// Returns the intersection of two sets of flags.
constexpr host_flags operator&(host_flags a, host_flags b) noexcept {
  return static_cast<host_flags>(static_cast<unsigned>(a) & static_cast<unsigned>(b));
}
/// Returns true if `set` contains all of `flags`.
constexpr bool has(host_flags set, host_flags flags) noexcept { return (set & flags) == flags; }

}  // namespace roc
