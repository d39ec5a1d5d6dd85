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
/// pattern begins with each run.
template <class Unit>
struct fill_unit {
  std::uintptr_t destination = 0;
  std::size_t count = 0;
  std::size_t period = 1;  // units until the pattern repeats
  Unit pattern[max_pattern_units] = {};
  unsigned rank = 0;
  std::size_t extents[max_job_axes] = {};
  std::ptrdiff_t steps[max_job_axes] = {};

  ROC_HOST_DEVICE void operator()(std::size_t i) const {
    std::size_t rest = i;
    std::uintptr_t to = destination;
    std::size_t within = 0;
    // What is left at the outermost axis is its index: one run alone costs no division.
    for (unsigned axis = rank; axis-- != 0;) {
      std::size_t const quotient = axis == 0 ? 0 : rest / extents[axis];
      std::size_t const index = rest - quotient * extents[axis];
      to += static_cast<std::uintptr_t>(static_cast<std::ptrdiff_t>(index) * steps[axis]);
      if (axis + 1 == rank) within = index;
      rest = quotient;
    }
    *reinterpret_cast<Unit*>(to) = pattern[period == 1 ? 0 : within % period];
  }
};

}  // namespace roc::kernels
