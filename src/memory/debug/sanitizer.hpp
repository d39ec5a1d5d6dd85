// SPDX-License-Identifier: MIT
// Free memory of pools is closed to AddressSanitizer where device memory is plain memory.
#pragma once

#include <cstddef>

#include "memory/debug/address_sanitizer.hpp"
#include "platform/hip.hpp"

namespace roc::memory {

inline void close_memory([[maybe_unused]] void const* data, [[maybe_unused]] std::size_t bytes) {
#if ROCARRAY_PLATFORM_HOST
  forbid_access(data, bytes);
#endif
}

inline void open_memory([[maybe_unused]] void const* data, [[maybe_unused]] std::size_t bytes) {
#if ROCARRAY_PLATFORM_HOST
  allow_access(data, bytes);
#endif
}

}  // namespace roc::memory
