// SPDX-License-Identifier: MIT
// The loop nest of a strided copy: the axes of a canonical layout, counted in words.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/byte_range.hpp"
#include "kernels/strided_copy_job.hpp"
#include "layout/canonical_layout.hpp"

namespace roc::kernels {

/// The largest index that 32 bits can hold.
inline constexpr std::size_t max_index32 = std::numeric_limits<std::uint32_t>::max();

/// The memory of one side of a copy: strided as in the layout, or packed.
struct side_memory {
  std::uintptr_t base;  // the address of linear index 0
  bool packed;          // the runs follow each other in linear order; else the layout's steps
};

/// The axes of a canonical layout, and one for the words of a run. Steps are in bytes.
struct strided_loop {
  std::uintptr_t source = 0;
  std::uintptr_t destination = 0;
  std::size_t word_bytes = 1;
  std::size_t rank = 0;
  std::array<layout::axis, max_job_axes> axes{};
  std::size_t reversed_bytes = 0;  // bytes of the elements to reverse within each word; 0: none
};

/// Returns the loop over a layout in the widest words that fit all addresses, steps and runs.
strided_loop make_loop(layout::canonical_layout const& layout, side_memory source,
                       side_memory destination);

/// Returns true if the words of the innermost axis are contiguous on both sides, but in opposite
/// directions.
bool is_reversed(strided_loop const& loop) noexcept;

/// Returns the smallest range of addresses that contains all of the source.
base::byte_range source_range(strided_loop const& loop) noexcept;

}  // namespace roc::kernels
