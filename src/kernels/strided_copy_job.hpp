// SPDX-License-Identifier: MIT
// What the strided copy kernel does with one index; the same on the device and on the CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <roc/config.hpp>

#include "kernels/fast_divmod.hpp"
#include "kernels/vector_word.hpp"

namespace roc::kernels {

/// Where a unit comes from and goes to.
struct unit_place {
  std::uintptr_t from;
  std::uintptr_t to;
};

/// The axes of a form, and one for the units of a run.
inline constexpr std::size_t max_job_axes = 17;

/// Index is std::uint32_t where all units can be counted so, which is several times faster on a
/// device. Addresses are integers: the base of a packed side lies before its memory, by what the
/// pieces before have taken.
template <class Index>
struct strided_job {
  using extent = std::conditional_t<sizeof(Index) == 4, fast_divmod, Index>;

  std::uintptr_t source = 0;
  std::uintptr_t destination = 0;
  Index first = 0;  // linear index of the first unit
  std::size_t count = 0;
  unsigned rank = 0;
  unsigned turned = 0;  // bytes of elements that are turned round within each unit; 0: none
  extent extents[max_job_axes] = {};
  std::ptrdiff_t source_steps[max_job_axes] = {};
  std::ptrdiff_t destination_steps[max_job_axes] = {};

  /// `i` counts from the first unit.
  ROCARRAY_HOST_DEVICE unit_place locate(std::size_t i) const {
    Index rest = first + static_cast<Index>(i);
    unit_place at{source, destination};
    // What is left at the outermost axis is its index.
    for (unsigned axis = rank; axis-- > 1;) {
      Index const whole = quotient(rest, extents[axis]);
      move(at, rest - whole * divisor(extents[axis]), axis);
      rest = whole;
    }
    if (rank != 0) move(at, rest, 0);
    return at;
  }

 private:
  ROCARRAY_HOST_DEVICE void move(unit_place& at, Index index, unsigned axis) const {
    auto const steps = static_cast<std::ptrdiff_t>(index);
    at.from += static_cast<std::uintptr_t>(steps * source_steps[axis]);
    at.to += static_cast<std::uintptr_t>(steps * destination_steps[axis]);
  }
};

/// Copies one unit; `i` counts from the job's first.
template <class Unit, class Index>
struct copy_unit {
  strided_job<Index> job;

  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const {
    unit_place const at = locate(i);
    *reinterpret_cast<Unit*>(at.to) = read(at);
  }

  ROCARRAY_HOST_DEVICE Unit read(unit_place const& at) const {
    Unit const unit = *reinterpret_cast<Unit const*>(at.from);
    return job.turned == 0 ? unit : turned(unit, job.turned);
  }

  ROCARRAY_HOST_DEVICE unit_place locate(std::size_t i) const { return job.locate(i); }
};

}  // namespace roc::kernels
