// SPDX-License-Identifier: MIT
// The file descriptors of the process.
#pragma once

#include <cstddef>
#include <filesystem>
#include <iterator>

namespace roc::test {

/// Returns how many file descriptors are open.
inline std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

}  // namespace roc::test
