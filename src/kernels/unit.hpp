// SPDX-License-Identifier: MIT
// The piece that one thread reads and writes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace roc::kernels {

struct alignas(16) unit16 {
  std::uint64_t low;
  std::uint64_t high;
};

/// The largest power of two, 16 at most, that divides all of the numbers or'ed into `bits`.
inline std::size_t widest_unit(std::uintptr_t bits) {
  std::size_t unit = 16;
  while (bits % unit != 0) unit /= 2;
  return unit;
}

}  // namespace roc::kernels

/// use(Unit, Index) for every kind of unit, counted by 32 or 64 bits: what the kernels are made
/// for.
#define ROC_FOR_EACH_UNIT(use)                         \
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
