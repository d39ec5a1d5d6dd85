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

/// The words [begin, end) of a loop, in its linear order.
struct loop_part {
  strided_loop loop;
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Returns a part of the loop that begins with word `begin`: the words [begin, end), or as many of
/// them as indices below `max_words` allow. The loop of the part may begin at a later step of an
/// axis than `loop`, and may have fewer axes: its words are numbered anew. The next part begins
/// `part.end - part.begin` words after `begin`, so that a loop over the parts has all words.
/// Precondition: begin < end, and the loop has at least `end` words.
loop_part first_part(strided_loop const& loop, std::size_t begin, std::size_t end,
                     std::size_t max_words = max_index32);

/// Returns true if the words of the innermost axis are contiguous on both sides, but in opposite
/// directions.
bool is_reversed(strided_loop const& loop) noexcept;

/// Returns the smallest range of addresses that contains all of the source.
base::byte_range source_range(strided_loop const& loop) noexcept;

}  // namespace roc::kernels
