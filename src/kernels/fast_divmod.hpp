// SPDX-License-Identifier: MIT
// Fast division of 32-bit numbers by a divisor that is known before the kernel runs: a
// multiplication and a shift.
#pragma once

#include <cstddef>
#include <cstdint>

#include <roc/config.hpp>

namespace roc::kernels {

/// A divisor of at least 1, with its magic number (Granlund and Montgomery, 1994). The multiplier
/// has 33 bits; its highest bit, which is always set, is applied as an addition.
struct fast_divmod {
  std::uint32_t divisor = 1;
  std::uint32_t multiplier = 1;
  std::uint32_t shift = 0;

  fast_divmod() = default;
  explicit fast_divmod(std::uint32_t d) : divisor(d) {
    while ((std::uint64_t{1} << shift) < d) ++shift;
    std::uint64_t const power = std::uint64_t{1} << shift;
    multiplier = static_cast<std::uint32_t>(((power - d) << 32) / d + 1);
  }

  ROCARRAY_HOST_DEVICE std::uint32_t quotient(std::uint32_t number) const {
    std::uint64_t const high = (std::uint64_t{number} * multiplier) >> 32;
    return static_cast<std::uint32_t>((high + number) >> shift);
  }
};

/// Division for code that is generic in the index type: 64-bit indices are divided as usual, which
/// is several times slower on a device. Kernels that copy have 32-bit indices only.
ROCARRAY_HOST_DEVICE inline std::uint32_t quotient(std::uint32_t a, fast_divmod const& d) {
  return d.quotient(a);
}
ROCARRAY_HOST_DEVICE inline std::uint32_t divisor(fast_divmod const& d) { return d.divisor; }
ROCARRAY_HOST_DEVICE inline std::size_t quotient(std::size_t a, std::size_t d) { return a / d; }
ROCARRAY_HOST_DEVICE inline std::size_t divisor(std::size_t d) { return d; }

}  // namespace roc::kernels
