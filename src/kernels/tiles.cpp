// SPDX-License-Identifier: MIT
// How a permutation is cut into tiles.
#include <cstdint>
#include <cstdlib>

#include "kernels/launch.hpp"
#include "kernels/strided_loop.hpp"
#include "platform/call.hpp"

namespace roc::kernels {
namespace {

// The axis along which a side is read or written best.
template <class Step>
std::size_t fastest(strided_loop const& all, Step step) {
  std::size_t result = 0;
  for (std::size_t i = 1; i < all.rank; ++i) {
    if (std::abs(step(all.axes[i])) <= std::abs(step(all.axes[result]))) result = i;
  }
  return result;
}

std::size_t tiles_along(std::size_t extent, std::size_t side) { return (extent + side - 1) / side; }

}  // namespace

bool launch_in_tiles(strided_loop const& all, hipStream_t stream) {
  constexpr std::size_t shortest = 8;
  if (all.rank < 2 || all.turned != 0) return false;
  std::size_t const a = fastest(all, [](layout::axis const& x) { return x.source; });
  std::size_t const b = fastest(all, [](layout::axis const& x) { return x.destination; });
  layout::axis const& along_a = all.axes[a];
  layout::axis const& along_b = all.axes[b];
  if (a == b || along_a.extent < shortest || along_b.extent < shortest) return false;
  constexpr std::size_t longest = most_small - sector_bytes;
  if (along_a.extent > longest || along_b.extent > longest) return false;

  auto const unit = static_cast<std::ptrdiff_t>(all.unit);
  bool const words = all.unit < 4 && along_a.source == unit && along_b.destination == unit;
  tile_job job;
  base::byte_range const source = source_range(all);
  job.source_low = source.begin;
  job.source_high = source.end;
  // Where lines begin.
  std::uintptr_t read = all.source | static_cast<std::uintptr_t>(along_b.source);
  std::uintptr_t written = all.destination | static_cast<std::uintptr_t>(along_a.destination);
  for (std::size_t i = 0; i < all.rank; ++i) {
    if (i == a || i == b) continue;
    read |= static_cast<std::uintptr_t>(all.axes[i].source);
    written |= static_cast<std::uintptr_t>(all.axes[i].destination);
  }
  if (words) {
    auto const per_word = static_cast<unsigned>(sizeof(std::uint32_t) / all.unit);
    bool const aligned = read % sizeof(std::uint32_t) == 0;
    job.side_a = (aligned ? words_per_line : words_per_line - 1) * per_word;
    job.side_b = tile_words * per_word;
  } else {
    job.side_a = job.side_b = most_side_for(all.unit);
  }
  bool const in_lines = words || all.unit >= sizeof(std::uint32_t);
  if (in_lines && along_b.destination == unit && along_b.extent > job.side_b &&
      written % sector_bytes != 0) {
    auto const units = static_cast<unsigned>(sector_bytes / all.unit);
    job.side_b -= units;
    job.reach = units - 1;
  }
  job.source = all.source;
  job.destination = all.destination;
  job.extent_a = static_cast<std::uint32_t>(along_a.extent);
  job.extent_b = static_cast<std::uint32_t>(along_b.extent);
  job.source_a = along_a.source;
  job.source_b = along_b.source;
  job.destination_a = along_a.destination;
  job.destination_b = along_b.destination;
  job.tiles_a = fast_divmod(static_cast<std::uint32_t>(tiles_along(along_a.extent, job.side_a)));
  job.tiles_b =
      fast_divmod(static_cast<std::uint32_t>(tiles_along(along_b.extent + job.reach, job.side_b)));
  std::size_t blocks = std::size_t{job.tiles_a.divisor} * job.tiles_b.divisor;
  for (std::size_t i = 0; i < all.rank; ++i) {
    if (i == a || i == b) continue;
    layout::axis const& axis = all.axes[i];
    if (axis.extent > most_small / blocks) return false;  // more blocks than can be counted
    blocks *= axis.extent;
    job.extents[job.rank] = fast_divmod(static_cast<std::uint32_t>(axis.extent));
    job.source_steps[job.rank] = axis.source;
    job.destination_steps[job.rank] = axis.destination;
    ++job.rank;
  }
  if (blocks > most_small) return false;
  job.blocks = static_cast<std::uint32_t>(blocks);
  platform::check_launch("tile kernel", words ? launch_word_tile(job, all.unit, stream)
                                              : launch_tile(job, all.unit, stream));
  return true;
}

}  // namespace roc::kernels
