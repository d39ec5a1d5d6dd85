// SPDX-License-Identifier: MIT
// Free memory of pools is closed to AddressSanitizer where device memory is plain memory.
#pragma once

#include <cstddef>

#include "platform/hip.hpp"

#if ROC_PLATFORM_HOST && defined(__has_include)
#if __has_include(<sanitizer/asan_interface.h>)
#if defined(__SANITIZE_ADDRESS__)
#define ROC_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ROC_ADDRESS_SANITIZER 1
#endif
#endif
#endif
#endif

#if ROC_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace roc::memory {

inline void close_memory([[maybe_unused]] void const* data, [[maybe_unused]] std::size_t bytes) {
#if ROC_ADDRESS_SANITIZER
  ASAN_POISON_MEMORY_REGION(data, bytes);
#endif
}

inline void open_memory([[maybe_unused]] void const* data, [[maybe_unused]] std::size_t bytes) {
#if ROC_ADDRESS_SANITIZER
  ASAN_UNPOISON_MEMORY_REGION(data, bytes);
#endif
}

}  // namespace roc::memory
