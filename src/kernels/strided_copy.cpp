// SPDX-License-Identifier: MIT
#include "kernels/strided_copy.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "kernels/launch.hpp"
#include "kernels/unit.hpp"
#include "platform/call.hpp"

namespace roc::kernels {
namespace {

using transfer::normal_form;
using transfer::piece;

// A side of the job: real steps, or those of packed memory.
struct side_steps {
  std::uintptr_t base;
  bool packed;
};

// What a kernel walks: the axes of a form, and one for the units of a run.
struct walked {
  std::uintptr_t source = 0;
  std::uintptr_t destination = 0;
  std::size_t unit = 1;
  std::size_t rank = 0;
  std::array<transfer::axis, max_job_axes> axes{};
  std::size_t turned = 0;  // bytes of the elements that lie the other way round within a unit
};

std::uintptr_t bits_of(transfer::axis const& axis) {
  return static_cast<std::uintptr_t>(axis.source) | static_cast<std::uintptr_t>(axis.destination);
}

// Along an axis that goes forward on one side and back on the other, without gaps, several elements
// are one unit too, turned round on the way.
void widen_turned(walked& all, std::size_t run) {
  if (all.rank == 0 || run > 8 || all.unit != run) return;
  transfer::axis& inner = all.axes[all.rank - 1];
  auto const step = static_cast<std::ptrdiff_t>(run);
  if (inner.source != -inner.destination || std::abs(inner.source) != step) return;
  // The side that goes back begins at its last element.
  std::uintptr_t& back = inner.source < 0 ? all.source : all.destination;
  std::uintptr_t const forth = inner.source < 0 ? all.destination : all.source;
  std::uintptr_t bits = (back + run) | forth | inner.extent * run;
  for (std::size_t i = 0; i + 1 < all.rank; ++i) bits |= bits_of(all.axes[i]);
  std::size_t const unit = widest_unit(bits);
  if (unit <= run) return;
  auto const wide = static_cast<std::ptrdiff_t>(unit);
  back -= unit - run;
  inner = {inner.extent * run / unit, inner.source < 0 ? -wide : wide,
           inner.destination < 0 ? -wide : wide};
  all.unit = unit;
  all.turned = run;
}

walked walk_of(normal_form const& form, side_steps source, side_steps destination) {
  walked result;
  result.source = source.base;
  result.destination = destination.base;
  std::uintptr_t bits = source.base | destination.base | form.run;
  auto packed_step = static_cast<std::ptrdiff_t>(form.bytes());
  for (std::size_t i = 0; i < form.rank; ++i) {
    transfer::axis const& axis = form.axes[i];
    packed_step /= static_cast<std::ptrdiff_t>(axis.extent);
    transfer::axis const& next = result.axes[result.rank++] = {
        axis.extent, source.packed ? packed_step : axis.source,
        destination.packed ? packed_step : axis.destination};
    bits |= bits_of(next);
  }
  result.unit = widest_unit(bits);
  if (form.run != result.unit) {
    auto const step = static_cast<std::ptrdiff_t>(result.unit);
    result.axes[result.rank++] = {form.run / result.unit, step, step};
  }
  widen_turned(result, form.run);
  return result;
}

constexpr std::size_t most_small = std::numeric_limits<std::uint32_t>::max();

template <class Unit, class Index>
void launch_units(walked const& all, piece part, hipStream_t stream) {
  strided_job<Index> job;
  job.source = all.source;
  job.destination = all.destination;
  job.first = static_cast<Index>(part.begin / all.unit);
  job.count = (part.end - part.begin) / all.unit;
  job.rank = static_cast<unsigned>(all.rank);
  job.turned = static_cast<unsigned>(all.turned);
  for (std::size_t i = 0; i < all.rank; ++i) {
    job.extents[i] =
        typename strided_job<Index>::extent(static_cast<Index>(all.axes[i].extent));
    job.source_steps[i] = all.axes[i].source;
    job.destination_steps[i] = all.axes[i].destination;
  }
  platform::check_launch("strided copy kernel", launch_strided_copy<Unit>(job, stream));
}

template <class Unit>
void launch_units(walked const& all, piece part, hipStream_t stream) {
  if (part.end / all.unit <= most_small) {
    launch_units<Unit, std::uint32_t>(all, part, stream);
  } else {
    launch_units<Unit, std::size_t>(all, part, stream);
  }
}

void launch(walked const& all, piece part, hipStream_t stream) {
  switch (all.unit) {
    case 1: return launch_units<std::uint8_t>(all, part, stream);
    case 2: return launch_units<std::uint16_t>(all, part, stream);
    case 4: return launch_units<std::uint32_t>(all, part, stream);
    case 8: return launch_units<std::uint64_t>(all, part, stream);
    default: return launch_units<unit16>(all, part, stream);
  }
}

// The axis along which a side is read or written best.
template <class Step>
std::size_t fastest(walked const& all, Step step) {
  std::size_t result = 0;
  for (std::size_t i = 1; i < all.rank; ++i) {
    if (std::abs(step(all.axes[i])) <= std::abs(step(all.axes[result]))) result = i;
  }
  return result;
}

std::size_t tiles_along(std::size_t extent, std::size_t side) { return (extent + side - 1) / side; }

// In tiles, where the fastest axes differ and are long enough for it. False where they are not.
bool launch_in_tiles(walked const& all, hipStream_t stream) {
  constexpr std::size_t shortest = 8;
  if (all.rank < 2 || all.turned != 0) return false;
  std::size_t const a = fastest(all, [](transfer::axis const& x) { return x.source; });
  std::size_t const b = fastest(all, [](transfer::axis const& x) { return x.destination; });
  transfer::axis const& along_a = all.axes[a];
  transfer::axis const& along_b = all.axes[b];
  if (a == b || along_a.extent < shortest || along_b.extent < shortest) return false;
  constexpr std::size_t longest = most_small - sector_bytes;
  if (along_a.extent > longest || along_b.extent > longest) return false;

  auto const unit = static_cast<std::ptrdiff_t>(all.unit);
  bool const words = all.unit < 4 && along_a.source == unit && along_b.destination == unit;
  // Where lines begin.
  std::uintptr_t read = all.source | static_cast<std::uintptr_t>(along_b.source);
  std::uintptr_t written = all.destination | static_cast<std::uintptr_t>(along_a.destination);
  for (std::size_t i = 0; i < all.rank; ++i) {
    if (i == a || i == b) continue;
    read |= static_cast<std::uintptr_t>(all.axes[i].source);
    written |= static_cast<std::uintptr_t>(all.axes[i].destination);
  }
  tile_job job;
  job.side_a = job.side_b = most_side_for(all.unit);
  if (words && (read | written) % sizeof(std::uint32_t) != 0) {
    job.side_a = job.side_b = unaligned_side_for(all.unit);
  } else if (all.unit >= sizeof(std::uint32_t) && along_b.destination == unit &&
             along_b.extent > job.side_b && written % sector_bytes != 0) {
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
  job.tiles_a = divider(static_cast<std::uint32_t>(tiles_along(along_a.extent, job.side_a)));
  job.tiles_b =
      divider(static_cast<std::uint32_t>(tiles_along(along_b.extent + job.reach, job.side_b)));
  std::size_t blocks = std::size_t{job.tiles_a.divisor} * job.tiles_b.divisor;
  for (std::size_t i = 0; i < all.rank; ++i) {
    if (i == a || i == b) continue;
    transfer::axis const& axis = all.axes[i];
    if (axis.extent > most_small / blocks) return false;  // more blocks than can be counted
    blocks *= axis.extent;
    job.extents[job.rank] = divider(static_cast<std::uint32_t>(axis.extent));
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

// Rows that no wide unit fits, because they begin or end anywhere. False where they are short, or
// more than can be counted.
bool launch_rows(walked const& all, normal_form const& form, hipStream_t stream) {
  constexpr std::size_t shortest = 32;
  if (all.unit >= row_part::word || form.run < shortest || form.run > most_small / 4) return false;
  row_job job;
  job.run = static_cast<int>(form.run);
  job.parts = divider(
      static_cast<std::uint32_t>((job.run + 2 * (row_part::bytes - 1)) / row_part::bytes));
  job.rows.source = all.source;
  job.rows.destination = all.destination;
  job.rows.rank = static_cast<unsigned>(form.rank);
  job.count = job.parts.divisor;
  for (std::size_t i = 0; i < form.rank; ++i) {
    transfer::axis const& axis = all.axes[i];
    if (axis.extent > most_small / job.count) return false;
    job.count *= axis.extent;
    job.rows.extents[i] = divider(static_cast<std::uint32_t>(axis.extent));
    job.rows.source_steps[i] = axis.source;
    job.rows.destination_steps[i] = axis.destination;
  }
  platform::check_launch("row kernel", launch_row_copy(job, stream));
  return true;
}

std::uintptr_t address(std::byte const* data) { return reinterpret_cast<std::uintptr_t>(data); }

}  // namespace

void permute(normal_form const& form, hipStream_t stream) {
  walked const all =
      walk_of(form, {address(form.source), false}, {address(form.destination), false});
  if (launch_in_tiles(all, stream) || launch_rows(all, form, stream)) return;
  launch(all, {0, form.bytes()}, stream);
}

void gather(normal_form const& form, piece part, std::byte* packed, hipStream_t stream) {
  launch(walk_of(form, {address(form.source), false}, {address(packed) - part.begin, true}), part,
         stream);
}

void scatter(normal_form const& form, piece part, std::byte const* packed, hipStream_t stream) {
  launch(walk_of(form, {address(packed) - part.begin, true}, {address(form.destination), false}),
         part, stream);
}

}  // namespace roc::kernels
