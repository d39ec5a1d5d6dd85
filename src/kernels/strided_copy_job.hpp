// SPDX-License-Identifier: MIT
// What the strided copy kernel does with one index; the same on the device and on the CPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include <roc/config.hpp>

#include "kernels/unit.hpp"

namespace roc::kernels {

/// The axes of a form, and one for the units of a run.
inline constexpr std::size_t max_job_axes = 17;

/// Addresses are integers: the base of a packed side lies before its memory, by what the pieces
/// before have taken.
struct strided_job {
  std::uintptr_t source = 0;
  std::uintptr_t destination = 0;
  std::size_t first = 0;  // linear index of the first unit
  std::size_t count = 0;
  unsigned rank = 0;
  std::size_t extents[max_job_axes] = {};
  std::ptrdiff_t source_steps[max_job_axes] = {};
  std::ptrdiff_t destination_steps[max_job_axes] = {};
};

/// Copies one unit; `i` counts from the job's first.
template <class Unit>
struct copy_unit {
  strided_job job;

  ROC_HOST_DEVICE void operator()(std::size_t i) const {
    std::size_t rest = job.first + i;
    std::uintptr_t from = job.source;
    std::uintptr_t to = job.destination;
    for (unsigned axis = job.rank; axis-- != 0;) {
      std::size_t const extent = job.extents[axis];
      std::size_t const quotient = rest / extent;
      auto const index = static_cast<std::ptrdiff_t>(rest - quotient * extent);
      from += static_cast<std::uintptr_t>(index * job.source_steps[axis]);
      to += static_cast<std::uintptr_t>(index * job.destination_steps[axis]);
      rest = quotient;
    }
    *reinterpret_cast<Unit*>(to) = *reinterpret_cast<Unit const*>(from);
  }
};

}  // namespace roc::kernels
