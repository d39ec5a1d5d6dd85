// SPDX-License-Identifier: MIT
// What the kernels of strided copies walk: a form's axes, in units of one access.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "kernels/strided_copy_job.hpp"
#include "platform/hip.hpp"
#include "layout/canonical_layout.hpp"

namespace roc::kernels {

/// Counted by 32 bits.
inline constexpr std::size_t most_small = std::numeric_limits<std::uint32_t>::max();

/// A side of the job: real steps, or those of packed memory.
struct side_steps {
  std::uintptr_t base;
  bool packed;
};

/// The axes of a form, and one for the units of a run.
struct strided_loop {
  std::uintptr_t source = 0;
  std::uintptr_t destination = 0;
  std::size_t unit = 1;
  std::size_t rank = 0;
  std::array<layout::axis, max_job_axes> axes{};
  std::size_t turned = 0;  // bytes of the elements that lie the other way round within a unit
};

strided_loop make_loop(layout::canonical_layout const& form, side_steps source, side_steps destination);

/// From the first to the last byte that the source has of it.
base::byte_range source_range(strided_loop const& all) noexcept;

/// In tiles, where the fastest axes differ and are long enough for it. False where they are not.
bool launch_in_tiles(strided_loop const& all, hipStream_t stream);

}  // namespace roc::kernels
