// SPDX-License-Identifier: MIT
#include "copy/batch/staging.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/round_up.hpp"
#include "copy/staging/nontemporal_copy.hpp"
#include "copy/staging/pack.hpp"
#include "kernels/launch.hpp"
#include "layout/for_each_row.hpp"
#include "platform/call.hpp"
#include "runtime/stream_handle.hpp"

namespace roc::transfer {
namespace {

using kernels::batch_item;

// Longer copies are divided into parts of this size. An estimate, not measured: large parts give
// the threads that pack unequal tasks, small ones cost the CPU more time.
constexpr std::size_t max_part_bytes = std::size_t{256} << 10;
// A task ends after the part with which it reaches this size.
constexpr std::size_t min_task_bytes = std::size_t{64} << 10;
// The data of every part is aligned, so that the kernel can use wide accesses.
constexpr std::size_t data_alignment = 16;
constexpr std::size_t description_alignment = 256;

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

staged_batch::position staged_batch::first_of(copy_selection const& selection) noexcept {
  return selection.empty() ? position{} : position{0, selection.ranges().front().first, 0};
}

staged_batch::part_needs staged_batch::needs_of(batch_copy const& copy,
                                                std::size_t bytes) const noexcept {
  return {has_data() ? base::round_up(bytes, data_alignment) : 0, max_items(*batch_, copy, bytes)};
}

std::size_t staged_batch::free_bytes(chunk_info const& chunk) const noexcept {
  std::size_t const description =
      base::round_up(chunk.max_items * sizeof(batch_item), description_alignment) +
      description_alignment;
  auto const difference = [](std::size_t all, std::size_t used) {
    return all > used ? all - used : 0;
  };
  return std::min(difference(max_.chunk, description + chunk.data_bytes),
                  difference(max_.descriptions, complete_descriptions_ + description));
}

void staged_batch::advance(position& cursor, std::size_t bytes) const noexcept {
  cursor.offset += bytes;
  if (cursor.offset != batch_->copies[cursor.copy].bytes) return;
  cursor.offset = 0;
  if (++cursor.copy != selection_->ranges()[cursor.range].end) return;
  ++cursor.range;
  cursor.copy = is_end(*selection_, cursor) ? 0 : selection_->ranges()[cursor.range].first;
}

staged_batch::position staged_batch::add(position cursor) {
  bool was_divided = false;  // the rest of the copy begins another chunk
  while (!is_end(*selection_, cursor)) {
    batch_copy const& copy = batch_->copies[cursor.copy];
    std::size_t bytes = std::min(copy.bytes - cursor.offset, max_part_bytes);
    part_needs needs = needs_of(copy, bytes);
    std::size_t const free = chunks_.empty() || was_divided ? 0 : free_bytes(chunks_.back());
    if (needs.bytes() > free) [[unlikely]] {
      if (chunks_.empty() || chunks_.back().max_items != 0) {
        if (!begin_chunk()) break;
        was_divided = false;
        continue;
      }
      // In an empty chunk, the part is made smaller until it fits; data_alignment bytes always do.
      was_divided = true;
      while (bytes > data_alignment && needs.bytes() > free) {
        bytes = std::max(bytes / 2 / data_alignment * data_alignment, data_alignment);
        needs = needs_of(copy, bytes);
      }
    }
    chunk_info& last = chunks_.back();
    if (last.max_items == 0 || last.data_bytes - tasks_.back().data_offset >= min_task_bytes) {
      tasks_.push_back({cursor, last.data_bytes});
    }
    last.data_bytes += needs.data_bytes;
    last.max_items += needs.items;
    advance(cursor, bytes);
  }
  end_ = cursor;
  return cursor;
}

bool staged_batch::begin_chunk() {
  // Enough to describe data_alignment bytes of any copy.
  constexpr std::size_t min_description_bytes = 2048;
  std::size_t const complete =
      chunks_.empty() ? 0 : complete_descriptions_ + description_bytes(chunks_.size() - 1);
  if (complete + min_description_bytes > max_.descriptions && !chunks_.empty()) return false;
  complete_descriptions_ = complete;
  chunks_.push_back({tasks_.size()});
  return true;
}

std::size_t staged_batch::data_bytes(std::size_t chunk) const noexcept {
  return chunks_[chunk].data_bytes;
}

std::size_t staged_batch::description_bytes(std::size_t chunk) const noexcept {
  return base::round_up(chunks_[chunk].max_items * sizeof(batch_item), description_alignment);
}

std::size_t staged_batch::end_task_of(std::size_t chunk) const noexcept {
  return chunk + 1 == chunks_.size() ? tasks_.size() : chunks_[chunk + 1].first_task;
}

std::size_t staged_batch::task_count(std::size_t chunk) const noexcept {
  return end_task_of(chunk) - chunks_[chunk].first_task;
}

staged_batch::position staged_batch::end_position_of(std::size_t task) const noexcept {
  return task + 1 == tasks_.size() ? end_ : tasks_[task + 1].begin;
}

template <class Visit>
void staged_batch::visit_parts(std::size_t task, Visit visit) const {
  position const end = end_position_of(task);
  std::size_t data_offset = tasks_[task].data_offset;
  for (position cursor = tasks_[task].begin; cursor != end;) {
    batch_copy const& copy = batch_->copies[cursor.copy];
    std::size_t bytes = std::min(copy.bytes - cursor.offset, max_part_bytes);
    if (cursor.copy == end.copy && cursor.range == end.range) {
      bytes = std::min(bytes, end.offset - cursor.offset);
    }
    visit(copy, layout::packed_range{cursor.offset, cursor.offset + bytes}, data_offset);
    if (has_data()) data_offset += base::round_up(bytes, data_alignment);
    advance(cursor, bytes);
  }
}

void staged_batch::pack(std::size_t chunk, std::size_t task, std::byte* data) const noexcept {
  // A shorter part has too large a share of partial cache lines.
  constexpr std::size_t min_nontemporal_part_bytes = 512;
  bool const is_small_batch = is_packed_nontemporally(batch_->bytes, 0);
  visit_parts(chunks_[chunk].first_task + task,
              [&](batch_copy const& copy, layout::packed_range range, std::size_t offset) {
                std::size_t const bytes = range.end - range.begin;
                if (copy.rank == 0 && is_small_batch && bytes >= min_nontemporal_part_bytes) {
                  nontemporal_copy(data + offset, copy.source + range.begin, bytes);
                } else if (copy.rank == 0) {
                  std::memcpy(data + offset, copy.source + range.begin, bytes);
                } else {
                  transfer::pack(batch_->layout_of(copy), range, data + offset);
                }
              });
  nontemporal_fence();
}

void staged_batch::unpack(std::size_t chunk, std::size_t task,
                          std::byte const* data) const noexcept {
  visit_parts(chunks_[chunk].first_task + task,
              [&](batch_copy const& copy, layout::packed_range range, std::size_t offset) {
                if (copy.rank == 0) {
                  std::memcpy(copy.destination + range.begin, data + offset,
                              range.end - range.begin);
                } else {
                  transfer::unpack(batch_->layout_of(copy), range, data + offset);
                }
              });
}

std::size_t staged_batch::write_description(std::size_t chunk, staging_slot const& slot) const {
  auto* const items = reinterpret_cast<batch_item*>(slot.description);
  batch_item* end = items;
  for (std::size_t task = chunks_[chunk].first_task; task != end_task_of(chunk); ++task) {
    visit_parts(task, [&](batch_copy const& copy, layout::packed_range range, std::size_t offset) {
      packed_sides packed{};
      if (kind_ == copy_kind::host_to_device) packed.source = slot.data + offset;
      if (kind_ == copy_kind::device_to_host) packed.destination = slot.data + offset;
      end = write_items(*batch_, copy, range, packed, end);
    });
  }
  return static_cast<std::size_t>(end - items);
}

void staged_batch::enqueue_device_step(std::size_t, staging_slot const& slot) const {
  platform::check_launch("batch kernel",
                         kernels::launch_items(reinterpret_cast<batch_item*>(slot.description),
                                               slot.item_count, runtime::handle(slot.stream)));
}

std::vector<std::shared_ptr<staged_batch const>> make_staged_batches(
    shared_batch const& batch, copy_selection const& selection, copy_kind kind,
    staged_batch::limits max_bytes) {
  std::vector<std::shared_ptr<staged_batch const>> batches;
  if (selection.empty()) return batches;
  auto const shared = std::make_shared<copy_selection const>(selection);
  for (auto cursor = staged_batch::first_of(selection); !staged_batch::is_end(selection, cursor);) {
    auto work = std::make_shared<staged_batch>(batch, shared, kind, max_bytes);
    cursor = work->add(cursor);
    batches.push_back(std::move(work));
  }
  return batches;
}

}  // namespace roc::transfer
