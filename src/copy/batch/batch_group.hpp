// SPDX-License-Identifier: MIT
// Copies of a batch that may be done in any order, sorted by the way they go.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include <roc/detail/region.hpp>

#include "memory/device/allocation_record.hpp"
#include "base/byte_range.hpp"
#include "copy/batch/batch.hpp"
#include "copy/batch/piece_list.hpp"

namespace roc::transfer {

/// The copies of a group on one device, by what is to be done with them.
struct batch_on_device {
  piece_list up;          // host memory is read when the batch is submitted
  piece_list up_ordered;  // in the stream's order
  piece_list down;
  piece_list within;
  std::vector<base::byte_range> read;     // host memory, of up
  std::vector<base::byte_range> used;     // of up_ordered and down
  std::vector<base::byte_range> written;  // of down
  std::vector<memory::allocation_record*> records;

  bool touches_host() const noexcept {
    return !up.empty() || !up_ordered.empty() || !down.empty();
  }
};

struct batch_group {
  std::map<int, batch_on_device> devices;
  std::vector<std::size_t> alone;  // copies as any other
};

/// Copies [first, end) of a batch, by the memory that they use now. `at_once`: the CPU may touch
/// all host memory, and which that is is left out. Throws registration_error for a destination
/// registered for reading only.
batch_group sorted_group(batch const& contents, std::size_t first, std::size_t end,
                         bool at_once, detail::source_use use);

}  // namespace roc::transfer
