// SPDX-License-Identifier: MIT
#include "copy/batch/batch_items.hpp"

#include <algorithm>
#include <cstdint>

#include "layout/for_each_row.hpp"

namespace roc::transfer {
namespace {

using kernels::batch_item;

// Writes items for `run` contiguous bytes that begin at the addresses of `item`.
batch_item* write_run(batch_item item, std::size_t run, batch_item* items) {
  item.rows = 1;
  for (std::size_t done = 0; done < run; done += max_item_bytes) {
    item.run = static_cast<std::uint32_t>(std::min(max_item_bytes, run - done));
    *items++ = item;
    item.source += item.run;
    item.destination += item.run;
  }
  return items;
}

// Writes items for rows that begin at the addresses of `item`, at its steps; several short rows
// share an item.
batch_item* write_rows(batch_item item, layout::rows rows, batch_item* items) {
  auto const run = static_cast<std::ptrdiff_t>(rows.run);
  bool const is_contiguous = item.source_step == run && item.destination_step == run;
  if (is_contiguous) return write_run(item, rows.run * rows.count, items);
  if (rows.run <= max_item_bytes) {
    std::size_t const rows_per_item = max_item_bytes / rows.run;
    item.run = static_cast<std::uint32_t>(rows.run);
    for (std::size_t row = 0; row < rows.count; row += rows_per_item) {
      item.rows = static_cast<std::uint32_t>(std::min(rows_per_item, rows.count - row));
      *items++ = item;
      auto const steps = static_cast<std::ptrdiff_t>(rows_per_item);
      item.source += static_cast<std::uintptr_t>(steps * item.source_step);
      item.destination += static_cast<std::uintptr_t>(steps * item.destination_step);
    }
    return items;
  }
  for (std::size_t row = 0; row != rows.count; ++row) {
    items = write_run(item, rows.run, items);
    item.source += static_cast<std::uintptr_t>(item.source_step);
    item.destination += static_cast<std::uintptr_t>(item.destination_step);
  }
  return items;
}

std::uintptr_t address(std::byte const* data, std::size_t offset) noexcept {
  return reinterpret_cast<std::uintptr_t>(data) + offset;
}

// One side of some rows: the address of the first row, and the step between rows.
struct row_side {
  std::uintptr_t begin;
  std::ptrdiff_t step;
};

// Returns rows on a side that is not packed; the first begins `offset` bytes after the side's base.
row_side unpacked_rows(layout::canonical_layout const& canonical, layout::side side,
                       std::ptrdiff_t offset) noexcept {
  std::byte const* const base =
      side == layout::side::source ? canonical.source : canonical.destination;
  return {address(base, static_cast<std::size_t>(offset)), layout::inner_step(canonical, side)};
}

}  // namespace

// for_each_row visits all rows along the innermost axis at once, and partial rows at both ends of
// the range. The last item of each visit may be small.
std::size_t max_strided_items(batch const& batch, batch_copy const& copy,
                              std::size_t bytes) noexcept {
  std::size_t const by_size = bytes / (max_item_bytes / 2) + 1;
  std::size_t const inner_rows = batch.axes[copy.first_axis + copy.rank - 1].extent;
  return by_size + bytes / (copy.run * inner_rows) + 4;
}

batch_item* write_items(batch const& batch, batch_copy const& copy, layout::packed_range range,
                        packed_sides packed, batch_item* items) noexcept {
  if (copy.rank == 0) {
    batch_item first{};
    first.source =
        packed.source != nullptr ? address(packed.source, 0) : address(copy.source, range.begin);
    first.destination = packed.destination != nullptr ? address(packed.destination, 0)
                                                      : address(copy.destination, range.begin);
    return write_run(first, range.end - range.begin, items);
  }
  layout::canonical_layout const canonical = batch.layout_of(copy);
  layout::for_each_row(
      canonical, range,
      [&](std::ptrdiff_t source, std::ptrdiff_t destination, std::size_t offset,
          layout::rows rows) {
        auto const run = static_cast<std::ptrdiff_t>(rows.run);
        row_side const from = packed.source != nullptr
                                  ? row_side{address(packed.source, offset), run}
                                  : unpacked_rows(canonical, layout::side::source, source);
        row_side const to = packed.destination != nullptr
                                ? row_side{address(packed.destination, offset), run}
                                : unpacked_rows(canonical, layout::side::destination, destination);
        items = write_rows({from.begin, to.begin, from.step, to.step, 0, 0}, rows, items);
      });
  return items;
}

}  // namespace roc::transfer
