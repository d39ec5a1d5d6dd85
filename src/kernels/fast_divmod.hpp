// SPDX-License-Identifier: MIT
// Division of 32-bit numbers by one that is known before the kernel: a product and a shift.
#pragma once

#include <cstddef>
#include <cstdint>

#include <roc/config.hpp>

namespace roc::kernels {

/// The multiplier has 33 bits, the highest of which is the addition (Granlund and Montgomery,
/// 1994).
struct fast_divmod {
  std::uint32_t divisor = 1;
  std::uint32_t multiplier = 1;
  std::uint32_t shift = 0;

  fast_divmod() = default;
  explicit fast_divmod(std::uint32_t by) : divisor(by) {
    while ((std::uint64_t{1} << shift) < by) ++shift;
    std::uint64_t const power = std::uint64_t{1} << shift;
    multiplier = static_cast<std::uint32_t>(((power - by) << 32) / by + 1);
  }

  ROCARRAY_HOST_DEVICE std::uint32_t quotient(std::uint32_t number) const {
    std::uint64_t const high = (std::uint64_t{number} * multiplier) >> 32;
    return static_cast<std::uint32_t>((high + number) >> shift);
  }
};

/// The same for numbers of any size, which a plain division serves.
ROCARRAY_HOST_DEVICE inline std::uint32_t quotient(std::uint32_t a, fast_divmod const& by) {
  return by.quotient(a);
}
ROCARRAY_HOST_DEVICE inline std::uint32_t divisor(fast_divmod const& by) { return by.divisor; }
ROCARRAY_HOST_DEVICE inline std::size_t quotient(std::size_t a, std::size_t by) { return a / by; }
ROCARRAY_HOST_DEVICE inline std::size_t divisor(std::size_t by) { return by; }

}  // namespace roc::kernels
