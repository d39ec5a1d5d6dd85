// SPDX-License-Identifier: MIT
// The pending uses of host memory that are recorded by range.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/byte_range.hpp"
#include "runtime/stream_uses.hpp"

namespace roc::memory {

/// The uses of one kind, reads or writes, of host memory that may still be pending: those by the
/// CPU, for example of staged copies to pageable memory, and those by the device of memory that
/// other code pinned or manages, or that is stated to be on a device. The memory need not be known
/// to the host_table, and the ranges are exact: a copy from one part of an array does not wait for
/// copies to another part. Members are safe to call from any thread. They take the mutex for a
/// short time, and never during a call of HIP.
class cpu_uses {
 public:
  /// Records that work enqueued on `stream` so far uses the ranges. Records an event. Throws
  /// roc::error, std::bad_alloc.
  void record(std::vector<base::byte_range> ranges, runtime::stream_id const& stream);
  /// Adds the pending uses that overlap one of the ranges to `uses`. Takes no lock if no use is
  /// pending. Does not call HIP. Throws std::bad_alloc.
  void add_overlapping(std::span<base::byte_range const> ranges, runtime::stream_uses& uses) const;
  /// The number of recorded uses; finished ones count until they are removed. Lock-free.
  std::size_t count() const noexcept { return count_.load(); }

 private:
  struct use {
    std::vector<base::byte_range> ranges;  // sorted and disjoint
    runtime::stream_uses uses;
  };

  /// Removes the oldest uses if they have finished. Calls HIP. Throws roc::error, std::bad_alloc.
  void remove_finished();

  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<use const>> uses_;  // oldest first; guarded by mutex_
  std::atomic<std::size_t> count_ = 0;            // the size of uses_
};

}  // namespace roc::memory
