// SPDX-License-Identifier: MIT
#include "copy/batch/batch_items.hpp"

#include <algorithm>
#include <cstdint>

#include "layout/for_each_row.hpp"

namespace roc::transfer {
namespace {

using kernels::batch_item;

// One run as items of a few KiB each.
batch_item* describe_run(batch_item next, std::size_t run, batch_item* items) {
  next.rows = 1;
  for (std::size_t done = 0; done < run; done += item_bytes) {
    next.run = static_cast<std::uint32_t>(std::min(item_bytes, run - done));
    *items++ = next;
    next.source += next.run;
    next.destination += next.run;
  }
  return items;
}

// Rows, several to an item.
batch_item* describe_rows(batch_item at, layout::rows each, batch_item* items) {
  auto const run = static_cast<std::ptrdiff_t>(each.run);
  bool const one = at.source_step == run && at.destination_step == run;
  if (one) return describe_run(at, each.run * each.count, items);
  if (each.run <= item_bytes) {
    std::size_t const together = item_bytes / each.run;
    at.run = static_cast<std::uint32_t>(each.run);
    for (std::size_t row = 0; row < each.count; row += together) {
      at.rows = static_cast<std::uint32_t>(std::min(together, each.count - row));
      *items++ = at;
      auto const steps = static_cast<std::ptrdiff_t>(together);
      at.source += static_cast<std::uintptr_t>(steps * at.source_step);
      at.destination += static_cast<std::uintptr_t>(steps * at.destination_step);
    }
    return items;
  }
  for (std::size_t row = 0; row != each.count; ++row) {
    items = describe_run(at, each.run, items);
    at.source += static_cast<std::uintptr_t>(at.source_step);
    at.destination += static_cast<std::uintptr_t>(at.destination_step);
  }
  return items;
}

std::uintptr_t address(std::byte const* data, std::size_t offset) noexcept {
  return reinterpret_cast<std::uintptr_t>(data) + offset;
}

// Where rows begin on one side, and the step between them.
struct row_side {
  std::uintptr_t begin;
  std::ptrdiff_t step;
};

row_side row_of(layout::canonical_layout const& form, layout::side which, std::ptrdiff_t offset) noexcept {
  std::byte const* const base = which == layout::side::source ? form.source : form.destination;
  return {address(base, static_cast<std::size_t>(offset)), layout::inner_step(form, which)};
}

}  // namespace

// walk gives the rows along the innermost axis at once, and parts of them at both ends; the last
// item of such rows may be small.
std::size_t most_items_of_rows(batch const& contents, batch_copy const& piece,
                               std::size_t bytes) noexcept {
  std::size_t const by_size = bytes / (item_bytes / 2) + 1;
  std::size_t const rows = contents.axes[piece.first_axis + piece.rank - 1].extent;
  return by_size + bytes / (piece.run * rows) + 4;
}

batch_item* describe(batch const& contents, batch_copy const& of, layout::packed_range part,
                     packed_sides packed, batch_item* items) noexcept {
  if (of.rank == 0) {
    batch_item first{};
    first.source = packed.source != nullptr ? address(packed.source, 0)
                                            : address(of.source, part.begin);
    first.destination = packed.destination != nullptr ? address(packed.destination, 0)
                                                      : address(of.destination, part.begin);
    return describe_run(first, part.end - part.begin, items);
  }
  layout::canonical_layout const form = contents.form_of(of);
  layout::for_each_row(form, part,
       [&](std::ptrdiff_t source, std::ptrdiff_t destination, std::size_t at, layout::rows each) {
         auto const run = static_cast<std::ptrdiff_t>(each.run);
         row_side const from = packed.source != nullptr
                                   ? row_side{address(packed.source, at), run}
                                   : row_of(form, layout::side::source, source);
         row_side const to = packed.destination != nullptr
                                 ? row_side{address(packed.destination, at), run}
                                 : row_of(form, layout::side::destination, destination);
         items = describe_rows({from.begin, to.begin, from.step, to.step, 0, 0}, each, items);
       });
  return items;
}

}  // namespace roc::transfer
