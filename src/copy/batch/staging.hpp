// SPDX-License-Identifier: MIT
// Many copies of a batch as staged work, executed by the batch kernel, and the items that describe
// a part of a copy to the kernel.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "copy/batch/batch.hpp"
#include "copy/staging/staged_work.hpp"
#include "kernels/batch_item.hpp"

namespace roc::transfer {

/// The sides of a copy that are packed in staging memory: the address of the first packed byte, or
/// null if the side is accessed at its own address.
struct packed_sides {
  std::byte* source;
  std::byte* destination;
};

/// The maximum bytes of an item. Small, so that each thread of an item makes few accesses, and that
/// there are enough items for all threads of the device.
inline constexpr std::size_t max_item_bytes = 4096;

/// Returns an upper bound on the number of items that describe any `bytes` consecutive bytes of a
/// copy of rank 1 or more.
std::size_t max_strided_items(batch const& batch, batch_copy const& copy,
                              std::size_t bytes) noexcept;

/// Returns an upper bound on the number of items that describe any `bytes` consecutive bytes of a
/// copy.
inline std::size_t max_items(batch const& batch, batch_copy const& copy,
                             std::size_t bytes) noexcept {
  if (copy.rank != 0) [[unlikely]]
    return max_strided_items(batch, copy, bytes);
  return (bytes + max_item_bytes - 1) / max_item_bytes;
}

/// Writes the items that describe the bytes `range` of a copy to `items`, and returns the end of
/// the written items. `items` must have space for max_items(batch, copy, bytes of `range`).
kernels::batch_item* write_items(batch const& batch, batch_copy const& copy,
                                 layout::packed_range range, packed_sides packed,
                                 kernels::batch_item* items) noexcept;

/// Copies of a batch that all have the same kind, as staged work. A chunk consists of many small
/// copies, or of parts of copies. The chunk's data is packed in staging memory; its description is
/// the list of items for the batch kernel, which reads and writes the data in staging memory over
/// the link. Copies within the device have descriptions only, and no data.
///
/// Stores only the positions at which chunks and tasks begin. The thread that works on a task or a
/// description divides the copies again as add() did, so that planning visits each copy only once.
/// Shares ownership of the batch and of the selection. Thread-safe after add().
class staged_batch final : public staged_work {
 public:
  /// Limits in bytes.
  struct limits {
    std::size_t chunk;         // data and description of one chunk
    std::size_t descriptions;  // descriptions of all chunks
  };
  /// The position of a byte of a selected copy, or the end of the selection.
  struct position {
    std::size_t range;   // index into the selection's ranges; equals their number at the end
    std::size_t copy;    // index of the copy in the batch
    std::size_t offset;  // in the copy's linear order

    friend bool operator==(position const&, position const&) = default;
  };
  using shared_selection = std::shared_ptr<copy_selection const>;

  /// Creates empty work; call add() once. All selected copies must have the kind `kind`, which is
  /// not host_to_host.
  staged_batch(shared_batch batch, shared_selection selection, copy_kind kind, limits max_bytes)
      : batch_(std::move(batch)), selection_(std::move(selection)), kind_(kind), max_(max_bytes) {}

  /// Returns the position of the first byte of the selection.
  static position first_of(copy_selection const& selection) noexcept;
  /// Returns true if `cursor` is the end of the selection.
  static bool is_end(copy_selection const& selection, position cursor) noexcept {
    return cursor.range == selection.ranges().size();
  }
  /// Adds the selected bytes from `begin` on, which must not be the end, until the selection ends
  /// or the limit of all descriptions is reached. Returns the position of the first byte not added.
  position add(position begin);

  std::size_t chunk_count() const noexcept override { return chunks_.size(); }
  std::size_t data_bytes(std::size_t chunk) const noexcept override;
  std::size_t description_bytes(std::size_t chunk) const noexcept override;
  std::size_t task_count(std::size_t chunk) const noexcept override;
  bool has_kernels() const noexcept override { return true; }
  std::size_t write_description(std::size_t chunk, staging_slot const& slot) const override;
  void pack(std::size_t chunk, std::size_t task, std::byte* data) const noexcept override;
  void unpack(std::size_t chunk, std::size_t task, std::byte const* data) const noexcept override;
  /// Launches the batch kernel for the chunk. Also used for copies within the device.
  void enqueue_device_step(std::size_t chunk, staging_slot const& slot) const override;

 private:
  struct chunk_info {
    std::size_t first_task;
    std::size_t data_bytes = 0;
    std::size_t max_items = 0;
  };
  struct task_info {
    position begin;
    std::size_t data_offset;  // of its first byte in the chunk's data
  };
  // The staging memory for a part of a copy and its items.
  struct part_needs {
    std::size_t data_bytes;
    std::size_t items;

    std::size_t bytes() const noexcept { return data_bytes + items * sizeof(kernels::batch_item); }
  };

  bool has_data() const noexcept { return kind_ != copy_kind::device_to_device; }
  // Returns upper bounds for a part of `bytes` bytes of the copy.
  part_needs needs_of(batch_copy const& copy, std::size_t bytes) const noexcept;
  // Returns the bytes that can still be added to the chunk, which must be the last.
  std::size_t free_bytes(chunk_info const& chunk) const noexcept;
  // Begins another chunk. Returns false, and begins none, if the descriptions have reached their
  // limit.
  bool begin_chunk();
  // Returns the index after the last task of the chunk.
  std::size_t end_task_of(std::size_t chunk) const noexcept;
  // Returns the position after the last byte of the task `task` (an index into tasks_).
  position end_position_of(std::size_t task) const noexcept;
  // Moves `cursor` forward by `bytes`, which must not exceed the rest of the copy.
  void advance(position& cursor, std::size_t bytes) const noexcept;
  // Calls visit(copy, range of its bytes, offset of their data in the chunk's data) for each part
  // of a copy in the task `task` (an index into tasks_), divided as add() did.
  template <class Visit>
  void visit_parts(std::size_t task, Visit visit) const;

  shared_batch batch_;
  shared_selection selection_;
  copy_kind kind_;
  limits max_;
  std::size_t complete_descriptions_ = 0;  // bytes of the descriptions of all chunks but the last
  std::vector<task_info> tasks_;           // of all chunks
  std::vector<chunk_info> chunks_;
  position end_{};  // the end of the added bytes
};

/// Divides all selected copies among as few staged_batch objects as the limits allow. Calls no HIP
/// function.
std::vector<std::shared_ptr<staged_batch const>> make_staged_batches(
    shared_batch const& batch, copy_selection const& selection, copy_kind kind,
    staged_batch::limits max_bytes);

}  // namespace roc::transfer
