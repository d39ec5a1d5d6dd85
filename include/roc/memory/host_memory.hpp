// SPDX-License-Identifier: MIT
// The kinds of host memory, and the flags of pinned memory.
#pragma once

namespace roc {

/// What kind of host memory an array lives in.
enum class host_memory : unsigned char {
  pageable,  ///< ordinary memory: copies are staged
  pinned,    ///< locked by the runtime (hipHostMalloc): the device reaches it by DMA
  mapped,    ///< pinned, and kernels reach it by its device_view (hipHostMallocMapped)
  managed,   ///< moves between host and device by itself (hipMallocManaged)
};

/// Flags of pinned memory (hipHostMalloc's; numba.cuda: `portable`, `wc`). Combined by |.
///
/// Coherence is chosen on AMD only, where memory that is portable or write-combined and not
/// coherent is seen by the other side when a kernel or a copy has ended, not before.
enum class host_flags : unsigned {
  default_flags = 0,
  portable = 1,        ///< pinned for every device (hipHostMallocPortable)
  mapped = 2,          ///< kernels may reach it (hipHostMallocMapped)
  write_combined = 4,  ///< fast to write and send, slow to read (hipHostMallocWriteCombined)
  coherent = 8,        ///< kernels and the CPU see each other's writes (hipHostMallocCoherent)
  non_coherent = 16,   ///< cached by the device while a kernel runs (hipHostMallocNonCoherent)
};

/// The flags of both.
constexpr host_flags operator|(host_flags a, host_flags b) noexcept {
  return static_cast<host_flags>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
/// The flags that both have.
constexpr host_flags operator&(host_flags a, host_flags b) noexcept {
  return static_cast<host_flags>(static_cast<unsigned>(a) & static_cast<unsigned>(b));
}
/// Whether `set` has each of the flags.
constexpr bool has(host_flags set, host_flags flags) noexcept { return (set & flags) == flags; }

}  // namespace roc
