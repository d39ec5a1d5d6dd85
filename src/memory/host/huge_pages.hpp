// SPDX-License-Identifier: MIT
// Large host memory on huge pages: fewer of them to translate, and half the time to pin them.
#pragma once

#include <cstddef>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

#include "base/byte_range.hpp"

namespace roc::memory {

inline constexpr std::size_t huge_page = std::size_t{2} << 20;

/// Memory of this size is worth it.
inline constexpr std::size_t huge_page_threshold = 2 * huge_page;

/// Asks for huge pages in what whole pages the range has. Advice: where the system has none,
/// nothing happens.
inline void advise_huge_pages([[maybe_unused]] base::byte_range where) noexcept {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  auto const page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  std::uintptr_t const begin = (where.begin + page - 1) / page * page;
  std::uintptr_t const end = where.end / page * page;
  if (begin >= end) return;
  static_cast<void>(madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE));
#endif
}

}  // namespace roc::memory
