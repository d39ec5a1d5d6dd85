// SPDX-License-Identifier: MIT
#include "kernels/strided_copy.hpp"

#include <cstdint>

#include "kernels/launch.hpp"
#include "kernels/vector_word.hpp"
#include "kernels/strided_loop.hpp"
#include "platform/call.hpp"

namespace roc::kernels {
namespace {

using layout::canonical_layout;
using layout::packed_range;

template <class Unit, class Index>
void launch_units(strided_loop const& all, layout::packed_range part, hipStream_t stream) {
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
void launch_units(strided_loop const& all, layout::packed_range part, hipStream_t stream) {
  if (part.end / all.unit <= most_small) {
    launch_units<Unit, std::uint32_t>(all, part, stream);
  } else {
    launch_units<Unit, std::size_t>(all, part, stream);
  }
}

void launch(strided_loop const& all, layout::packed_range part, hipStream_t stream) {
  switch (all.unit) {
    case 1: return launch_units<std::uint8_t>(all, part, stream);
    case 2: return launch_units<std::uint16_t>(all, part, stream);
    case 4: return launch_units<std::uint32_t>(all, part, stream);
    case 8: return launch_units<std::uint64_t>(all, part, stream);
    default: return launch_units<unit16>(all, part, stream);
  }
}

// Rows that no wide unit fits, because they begin or end anywhere. False where they are short, or
// more than can be counted.
bool launch_rows(strided_loop const& all, canonical_layout const& form, hipStream_t stream) {
  constexpr std::size_t shortest = 32;
  if (all.unit >= row_part::word || form.run < shortest || form.run > most_small / 4) return false;
  row_job job;
  job.run = static_cast<int>(form.run);
  job.parts = fast_divmod(
      static_cast<std::uint32_t>((job.run + 2 * (row_part::bytes - 1)) / row_part::bytes));
  base::byte_range const source = source_range(all);
  job.source_low = source.begin;
  job.source_high = source.end;
  job.rows.source = all.source;
  job.rows.destination = all.destination;
  job.rows.rank = static_cast<unsigned>(form.rank);
  job.count = job.parts.divisor;
  for (std::size_t i = 0; i < form.rank; ++i) {
    layout::axis const& axis = all.axes[i];
    if (axis.extent > most_small / job.count) return false;
    job.count *= axis.extent;
    job.rows.extents[i] = fast_divmod(static_cast<std::uint32_t>(axis.extent));
    job.rows.source_steps[i] = axis.source;
    job.rows.destination_steps[i] = axis.destination;
  }
  platform::check_launch("row kernel", launch_row_copy(job, stream));
  return true;
}

std::uintptr_t address(std::byte const* data) { return reinterpret_cast<std::uintptr_t>(data); }

}  // namespace

void permute(canonical_layout const& form, hipStream_t stream) {
  strided_loop const all =
      make_loop(form, {address(form.source), false}, {address(form.destination), false});
  if (launch_in_tiles(all, stream) || launch_rows(all, form, stream)) return;
  launch(all, {0, form.bytes()}, stream);
}

void gather(canonical_layout const& form, layout::packed_range part, std::byte* packed, hipStream_t stream) {
  launch(make_loop(form, {address(form.source), false}, {address(packed) - part.begin, true}), part,
         stream);
}

void scatter(canonical_layout const& form, layout::packed_range part, std::byte const* packed, hipStream_t stream) {
  launch(make_loop(form, {address(packed) - part.begin, true}, {address(form.destination), false}),
         part, stream);
}

}  // namespace roc::kernels
