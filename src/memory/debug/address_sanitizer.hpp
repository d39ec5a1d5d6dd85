// SPDX-License-Identifier: MIT
// Marks cached free memory for AddressSanitizer, which then reports accesses to it as it reports
// accesses to freed memory. No operation in builds without AddressSanitizer.
#pragma once

#include <cstddef>

#include "platform/hip.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define ROCARRAY_HAS_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ROCARRAY_HAS_ADDRESS_SANITIZER 1
#endif
#endif

#ifdef ROCARRAY_HAS_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace roc::memory {

/// Makes AddressSanitizer report every access to `bytes` of host memory at `data`.
inline void poison_host_memory([[maybe_unused]] void const* data,
                               [[maybe_unused]] std::size_t bytes) {
#ifdef ROCARRAY_HAS_ADDRESS_SANITIZER
  __asan_poison_memory_region(data, bytes);
#endif
}

/// Allows access to memory that poison_host_memory has marked.
inline void unpoison_host_memory([[maybe_unused]] void const* data,
                                 [[maybe_unused]] std::size_t bytes) {
#ifdef ROCARRAY_HAS_ADDRESS_SANITIZER
  __asan_unpoison_memory_region(data, bytes);
#endif
}

/// Makes AddressSanitizer report every access of the CPU to `bytes` of device memory at `data`. No
/// operation on platforms where the CPU cannot access device memory.
inline void poison_device_memory([[maybe_unused]] void const* data,
                                 [[maybe_unused]] std::size_t bytes) {
#if ROCARRAY_PLATFORM_HOST
  poison_host_memory(data, bytes);
#endif
}

/// Allows access to memory that poison_device_memory has marked.
inline void unpoison_device_memory([[maybe_unused]] void const* data,
                                   [[maybe_unused]] std::size_t bytes) {
#if ROCARRAY_PLATFORM_HOST
  unpoison_host_memory(data, bytes);
#endif
}

}  // namespace roc::memory
