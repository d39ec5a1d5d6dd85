// SPDX-License-Identifier: MIT
// Queries of HIP about the memory at an address.
#pragma once

#include <cstdint>
#include <optional>

#include "base/byte_range.hpp"
#include "platform/hip.hpp"

namespace roc::platform {

/// The memory at an address. The other members are set unless `kind` is `unregistered`.
struct pointer_information {
  native_detail::memory_kind kind = native_detail::memory_kind::unregistered;
  int device = -1;  ///< of device memory; of other memory what the runtime reports
  /// The addresses of the same byte for kernels and for the CPU; 0 if there is none.
  std::uintptr_t device_address = 0;
  std::uintptr_t host_address = 0;
  /// The runtime knows that the memory was freed. Never set for runtimes that reject all memory
  /// that they do not know: ROCm before version 6, and CUDA.
  bool is_freed = false;
};

/// Returns what HIP knows about an address. The kind is `unregistered` for memory that HIP does not
/// know, which the runtimes report differently, and if there is no device. Throws roc::error for
/// any other error of HIP.
pointer_information query_pointer(void const* data);

/// Returns the allocation or registration that contains an address which HIP knows; nullopt if the
/// runtime does not tell its bounds. Two calls of HIP.
std::optional<base::byte_range> query_block(std::uintptr_t address);

/// Returns true if the driver says that the current device can read and write the memory at an
/// address of another device. Always false on AMD, whose runtime does not tell, and for memory of
/// CUDA's pools, for which CUDA does not tell.
bool is_accessible(void const* data);

/// Returns a number that no other allocation of this process has or had; 0 if the runtime has none.
std::uint64_t query_allocation_number(std::uintptr_t address);

}  // namespace roc::platform
