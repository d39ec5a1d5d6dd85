// SPDX-License-Identifier: MIT
// What the fill kernel does with one index; the same on the device and on the CPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include <roc/config.hpp>

#include "kernels/strided_copy_job.hpp"

namespace roc::kernels {

/// Patterns of 1 to 16 bytes, written in units of 1 to 16: after that many units they repeat.
inline constexpr std::size_t max_pattern_units = 16;

/// `count` units over the axes, outermost first; the last axis is the units of a run, and the
/// pattern begins with each run. Index as for strided copies.
template <class Unit, class Index>
struct fill_unit {
  using extent = typename strided_job<Index>::extent;

  std::uintptr_t destination = 0;
  std::size_t count = 0;
  extent period = extent(1);  // units until the pattern repeats
  Unit pattern[max_pattern_units] = {};
  unsigned rank = 0;
  extent extents[max_job_axes] = {};
  std::ptrdiff_t steps[max_job_axes] = {};

  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const {
    auto rest = static_cast<Index>(i);
    std::uintptr_t to = destination;
    Index within = 0;
    for (unsigned axis = rank; axis-- != 0;) {
      // What is left at the outermost axis is its index: one run alone costs no division.
      Index const whole = axis == 0 ? 0 : quotient(rest, extents[axis]);
      Index const index = axis == 0 ? rest : rest - whole * divisor(extents[axis]);
      to += static_cast<std::uintptr_t>(static_cast<std::ptrdiff_t>(index) * steps[axis]);
      if (axis + 1 == rank) within = index;
      rest = whole;
    }
    Index const place =
        divisor(period) == 1 ? 0 : within - quotient(within, period) * divisor(period);
    *reinterpret_cast<Unit*>(to) = pattern[place];
  }
};

}  // namespace roc::kernels
