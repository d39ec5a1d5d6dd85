// SPDX-License-Identifier: MIT
// Memory that is kept but belongs to nobody, told to AddressSanitizer: using it is found as use of
// freed memory would be.
#pragma once

#include <cstddef>

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

inline void forbid_access([[maybe_unused]] void const* data, [[maybe_unused]] std::size_t bytes) {
#ifdef ROCARRAY_HAS_ADDRESS_SANITIZER
  __asan_poison_memory_region(data, bytes);
#endif
}

inline void allow_access([[maybe_unused]] void const* data, [[maybe_unused]] std::size_t bytes) {
#ifdef ROCARRAY_HAS_ADDRESS_SANITIZER
  __asan_unpoison_memory_region(data, bytes);
#endif
}

}  // namespace roc::memory
