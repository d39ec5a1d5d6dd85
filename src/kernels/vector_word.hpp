// SPDX-License-Identifier: MIT
// The piece that one thread reads and writes.
#pragma once

#include <cstddef>
#include <cstdint>

#include <roc/config.hpp>

namespace roc::kernels {

struct alignas(16) unit16 {
  std::uint64_t low;
  std::uint64_t high;
};

/// The elements of `bytes` bytes (1, 2, 4 or 8, less than a unit has) within a unit, the last
/// first.
ROCARRAY_HOST_DEVICE inline std::uint64_t turned(std::uint64_t unit, unsigned bytes) {
  constexpr std::uint64_t pairs = 0x0000FFFF0000FFFFu;
  constexpr std::uint64_t singles = 0x00FF00FF00FF00FFu;
  if (bytes <= 4) unit = unit << 32 | unit >> 32;
  if (bytes <= 2) unit = (unit & pairs) << 16 | (unit >> 16 & pairs);
  if (bytes == 1) unit = (unit & singles) << 8 | (unit >> 8 & singles);
  return unit;
}
ROCARRAY_HOST_DEVICE inline std::uint32_t turned(std::uint32_t unit, unsigned bytes) {
  return static_cast<std::uint32_t>(turned(std::uint64_t{unit}, bytes) >> 32);
}
ROCARRAY_HOST_DEVICE inline std::uint16_t turned(std::uint16_t unit, unsigned bytes) {
  return static_cast<std::uint16_t>(turned(std::uint64_t{unit}, bytes) >> 48);
}
ROCARRAY_HOST_DEVICE inline std::uint8_t turned(std::uint8_t unit, unsigned) { return unit; }
ROCARRAY_HOST_DEVICE inline unit16 turned(unit16 unit, unsigned bytes) {
  return {turned(unit.high, bytes), turned(unit.low, bytes)};
}

/// The largest power of two, 16 at most, that divides all of the numbers or'ed into `bits`.
inline std::size_t widest_unit(std::uintptr_t bits) {
  std::size_t unit = 16;
  while (bits % unit != 0) unit /= 2;
  return unit;
}

}  // namespace roc::kernels

/// use(Unit, Index) for every kind of unit, counted by 32 or 64 bits: what the kernels are made
/// for.
#define ROCARRAY_FOR_EACH_UNIT(use)                         \
  use(std::uint8_t, std::uint32_t);                    \
  use(std::uint16_t, std::uint32_t);                   \
  use(std::uint32_t, std::uint32_t);                   \
  use(std::uint64_t, std::uint32_t);                   \
  use(::roc::kernels::unit16, std::uint32_t);          \
  use(std::uint8_t, std::size_t);                      \
  use(std::uint16_t, std::size_t);                     \
  use(std::uint32_t, std::size_t);                     \
  use(std::uint64_t, std::size_t);                     \
  use(::roc::kernels::unit16, std::size_t)
