// SPDX-License-Identifier: MIT
// The size of the processor's pages.
#pragma once

#include <unistd.h>

#include <cstddef>

namespace roc::host_hip {

/// Returns the size of a page in bytes.
inline std::size_t page_size() noexcept {
  static auto const size = static_cast<std::size_t>(getpagesize());
  return size;
}

}  // namespace roc::host_hip
