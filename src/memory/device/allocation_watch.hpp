// SPDX-License-Identifier: MIT
// Tells graphs that an allocation whose address they contain has been freed.
#pragma once

#include <atomic>
#include <memory>

#include "memory/device/allocation_record.hpp"

namespace roc::memory {

/// True while an allocation exists.
using allocation_token = std::shared_ptr<std::atomic<bool> const>;

/// Returns a token of the present allocation of a record, which must be alive. Takes a process-wide
/// lock. Throws std::bad_alloc.
allocation_token watch_allocation(allocation_record& record);

/// Implements end_watch.
void end_watch_slow_path(allocation_record& record) noexcept;
/// To be called after the memory of a record has been marked as free, and before it is freed or
/// given to another allocation. Waits for visits of the record first, because they may watch it:
/// see allocation_record::wait_for_visits. Costs a fence and a relaxed load otherwise, unless the
/// allocation is watched. Does not call HIP.
inline void end_watch(allocation_record& record) noexcept {
  record.wait_for_visits();
  if (record.is_watched.load(std::memory_order_relaxed)) [[unlikely]]
    end_watch_slow_path(record);
}

}  // namespace roc::memory
