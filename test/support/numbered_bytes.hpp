// SPDX-License-Identifier: MIT
// Bytes that a test copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace roc::test {

using bytes = std::vector<std::uint8_t>;

/// Returns bytes that differ from their neighbours, and at each index from the bytes of another
/// `first` below 256. The pattern does not repeat after 256 bytes, so that a chunk in the place of
/// another one is noticed.
inline bytes numbered(std::size_t count, unsigned first = 1) {
  bytes result(count);
  for (std::size_t i = 0; i != count; ++i) {
    result[i] = static_cast<std::uint8_t>(first + i * 7 + i / 256);
  }
  return result;
}

}  // namespace roc::test
