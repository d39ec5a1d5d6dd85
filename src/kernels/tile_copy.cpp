// SPDX-License-Identifier: MIT
#include "kernels/tile_copy.hpp"

#include <cstdint>
#include <cstdlib>

#include "base/round_up.hpp"
#include "kernels/launch.hpp"
#include "kernels/strided_loop.hpp"
#include "platform/call.hpp"

namespace roc::kernels {
namespace {

// Returns the axis with the smallest step on one side, along which accesses coalesce best.
template <class StepOf>
std::size_t fastest_axis(strided_loop const& loop, StepOf step_of) {
  std::size_t result = 0;
  for (std::size_t i = 1; i < loop.rank; ++i) {
    if (std::abs(step_of(loop.axes[i])) <= std::abs(step_of(loop.axes[result]))) result = i;
  }
  return result;
}

}  // namespace

bool try_tile_copy(strided_loop const& loop, hipStream_t stream) {
  // An estimate, not measured: shorter axes leave most of a tile empty, and with a higher limit
  // more layouts are copied word by word, without coalesced accesses on one side.
  constexpr std::size_t min_extent = 8;
  if (loop.rank < 2 || loop.reversed_bytes != 0) return false;
  std::size_t const a = fastest_axis(loop, [](layout::axis const& x) { return x.source; });
  std::size_t const b = fastest_axis(loop, [](layout::axis const& x) { return x.destination; });
  layout::axis const& axis_a = loop.axes[a];
  layout::axis const& axis_b = loop.axes[b];
  if (a == b || axis_a.extent < min_extent || axis_b.extent < min_extent) return false;
  constexpr std::size_t max_extent = max_index32 - sector_bytes;
  if (axis_a.extent > max_extent || axis_b.extent > max_extent) return false;

  auto const word_step = static_cast<std::ptrdiff_t>(loop.word_bytes);
  bool const by_dwords =
      loop.word_bytes < 4 && axis_a.source == word_step && axis_b.destination == word_step;
  tile_job job;
  base::byte_range const source = source_range(loop);
  job.source_low = source.begin;
  job.source_high = source.end;
  // The alignment of the beginnings of all lines that are read, and of those that are written.
  std::uintptr_t read_bits = loop.source | static_cast<std::uintptr_t>(axis_b.source);
  std::uintptr_t written_bits = loop.destination | static_cast<std::uintptr_t>(axis_a.destination);
  for (std::size_t i = 0; i < loop.rank; ++i) {
    if (i == a || i == b) continue;
    read_bits |= static_cast<std::uintptr_t>(loop.axes[i].source);
    written_bits |= static_cast<std::uintptr_t>(loop.axes[i].destination);
  }
  if (by_dwords) {
    auto const per_dword = static_cast<unsigned>(sizeof(std::uint32_t) / loop.word_bytes);
    bool const aligned = read_bits % sizeof(std::uint32_t) == 0;
    job.side_a = (aligned ? dwords_per_line : dwords_per_line - 1) * per_dword;
    job.side_b = tile_dwords * per_dword;
  } else {
    job.side_a = max_side_a_for(loop.word_bytes);
    job.side_b = max_side_b_for(loop.word_bytes);
  }
  bool const writes_dwords = by_dwords || loop.word_bytes >= sizeof(std::uint32_t);
  if (writes_dwords && axis_b.destination == word_step && axis_b.extent > job.side_b &&
      written_bits % sector_bytes != 0) {
    auto const words_per_sector = static_cast<unsigned>(sector_bytes / loop.word_bytes);
    job.side_b -= words_per_sector;
    job.lookback = words_per_sector - 1;
  }
  job.source = loop.source;
  job.destination = loop.destination;
  job.extent_a = static_cast<std::uint32_t>(axis_a.extent);
  job.extent_b = static_cast<std::uint32_t>(axis_b.extent);
  job.source_a = axis_a.source;
  job.source_b = axis_b.source;
  job.destination_a = axis_a.destination;
  job.destination_b = axis_b.destination;
  job.tiles_a = fast_divmod(static_cast<std::uint32_t>(base::ceil_div(axis_a.extent, job.side_a)));
  job.tiles_b = fast_divmod(
      static_cast<std::uint32_t>(base::ceil_div(axis_b.extent + job.lookback, job.side_b)));
  std::size_t blocks = std::size_t{job.tiles_a.divisor} * job.tiles_b.divisor;
  for (std::size_t i = 0; i < loop.rank; ++i) {
    if (i == a || i == b) continue;
    layout::axis const& axis = loop.axes[i];
    if (axis.extent > max_index32 / blocks) return false;
    blocks *= axis.extent;
    job.extents[job.rank] = fast_divmod(static_cast<std::uint32_t>(axis.extent));
    job.source_steps[job.rank] = axis.source;
    job.destination_steps[job.rank] = axis.destination;
    ++job.rank;
  }
  // The kernels' loops step beyond the last block by less than a grid.
  if (blocks > max_index32 - max_tile_blocks) return false;
  job.blocks = static_cast<std::uint32_t>(blocks);
  platform::check_launch("tile kernel", by_dwords ? launch_dword_tile(job, loop.word_bytes, stream)
                                                  : launch_tile(job, loop.word_bytes, stream));
  return true;
}

}  // namespace roc::kernels
