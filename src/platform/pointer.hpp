// SPDX-License-Identifier: MIT
// What HIP knows about the memory at an address.
#pragma once

#include <cstdint>

#include "platform/hip.hpp"

namespace roc::platform {

/// The memory at an address. The other members are set unless `kind` is `unregistered`.
struct pointer_information {
  native_detail::memory_kind kind = native_detail::memory_kind::unregistered;
  int device = -1;  ///< of device memory; of other memory what the runtime reports
  /// The addresses of the same byte for kernels and for the CPU; 0 if there is none.
  std::uintptr_t device_address = 0;
  std::uintptr_t host_address = 0;
  /// HIP returned hipErrorInvalidValue: some runtimes do so for memory that was freed, some for all
  /// memory that they do not know.
  bool is_rejected = false;
};

/// Returns what HIP knows about an address. The kind is `unregistered` for memory that HIP does not
/// know, which the runtimes report differently, and if there is no device. Throws roc::error for
/// any other error of HIP.
pointer_information query_pointer(void const* data);

}  // namespace roc::platform
