// SPDX-License-Identifier: MIT
// Routing: chooses the mechanism that executes each copy of a batch, by kind, device and kind of
// memory.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include <roc/detail/strided_region.hpp>

#include "base/byte_range.hpp"
#include "copy/batch/batch.hpp"
#include "memory/device/allocation_record.hpp"

namespace roc::transfer {

/// The copies on one device that are executed together, by mechanism, and the memory that they use.
/// For a batch without a stream, the only ranges of host memory are those that are pinned in part,
/// in host_reads and host_writes.
struct device_route {
  copy_selection uploads;                 // the source is read while the batch is submitted
  copy_selection stream_ordered_uploads;  // the source is read in the stream's order
  copy_selection downloads;
  copy_selection within_device;
  std::vector<base::byte_range> read_now;  // the sources of `uploads`
  // By stream_ordered_uploads and downloads, and untracked device sides.
  std::vector<base::byte_range> host_reads;
  std::vector<base::byte_range> host_writes;
  std::vector<memory::allocation_record*> records;  // device memory; sorted, without duplicates
  bool has_partly_pinned = false;                   // some host memory is pinned in part
  bool records_read_ranges = false;  // the host table does not know some memory of host_reads

  bool uses_host_memory() const noexcept {
    return !uploads.empty() || !stream_ordered_uploads.empty() || !downloads.empty();
  }
};

/// The mechanisms that execute a group of independent copies of a batch.
struct routed_copies {
  std::map<int, device_route> devices;
  std::vector<std::size_t> individual;  // indices of copies
};

/// Chooses a mechanism for each of the copies [first, end) of a batch, by the kinds of their memory
/// now. The following copies are executed individually: copies between two devices, copies between
/// host memories, copies of managed memory, copies by the device address of mapped memory, and
/// large contiguous copies of pinned memory; all copies if copy_options name a path.
/// @param is_synchronous true if the batch is submitted without a stream. Then all sources may be
///   read now.
/// Takes the host table's lock. Calls HIP only to get the current device. Throws registration_error
/// if a destination is registered as read-only, and roc::error.
routed_copies route_copies(batch const& batch, std::size_t first, std::size_t end,
                           bool is_synchronous, detail::source_use use);

}  // namespace roc::transfer
