// SPDX-License-Identifier: MIT
// The registrations of host memory with HIP.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/byte_range.hpp"
#include "base/no_destructor.hpp"
#include "memory/host/host_uses.hpp"

namespace roc::memory {

/// Registers and deregisters host memory, and counts the registrations of each range. Members are
/// safe to call from any thread. They take the mutex for a short time, and never during a call of
/// HIP: registering gigabytes takes seconds, and deregistration waits for the device. Meanwhile the
/// range is busy: copies of the memory are staged, and threads that want to register or deregister
/// the same range block. Ranges are never empty.
class host_registrations {
 public:
  /// Returns the one object of the process, which is never destroyed. Does not allocate.
  static host_registrations& instance() noexcept {
    static base::no_destructor<host_registrations> registrations;
    return *registrations;
  }

  /// Registers a range with flags of hipHostRegister, or increments its count if it is registered
  /// already. A large range is registered in segments. Calls HIP, and blocks for a long time.
  /// Throws registration_error if the range overlaps another one, is registered with other flags,
  /// or is already pinned; roc::error if HIP fails. Nothing remains registered then.
  void register_range(base::byte_range range, unsigned flags);
  /// Adds a range that other code pinned, or increments its count. Calls HIP. Throws
  /// registration_error if the range is not pinned, or overlaps another one.
  void adopt(base::byte_range range);
  /// Decrements the count of a range. At zero, blocks until pending copies have finished, and then
  /// unregisters the range from HIP, or only removes it if it was adopted. Throws
  /// registration_error if the range is not registered exactly; roc::error if HIP fails, and the
  /// range can then be deregistered again. Errors of the copies go to the log hook.
  void deregister(base::byte_range range);
  /// Throws the registration_error that deregister would throw. Blocks while the range is busy.
  /// Does not call HIP.
  void check_registered(base::byte_range range);

  /// Returns the end of the segment of registered memory that contains range.begin; range.end if
  /// there is none or it has one segment only. One copy must not cross the end of a segment.
  std::uintptr_t end_of_segment(base::byte_range range) const;
  /// Returns true if any range is registered in several segments. Lock-free.
  bool has_segmented_ranges() const noexcept {
    return segmented_ranges_.load(std::memory_order_relaxed) != 0;
  }

 private:
  using table_lock = std::unique_lock<std::mutex>;

  struct registered {
    base::byte_range range;
    unsigned flags = 0;  // of hipHostRegister
    unsigned count = 1;
    /// A thread registers or deregisters the range and has released the mutex. No other thread may
    /// change or remove the entry.
    bool is_busy = true;
    std::vector<base::byte_range> segments = {};  // as registered with HIP; empty if adopted
    std::size_t pinned_segments = 0;              // those that HIP has not unregistered again
    std::shared_ptr<host_uses> uses = {};         // in the host_table
  };

  // The caller of the functions that end in _locked holds mutex_.

  /// Increments the count of a range that is registered and returns true. Returns false if nothing
  /// that overlaps it is registered. Releases `lock` while it blocks for a busy entry. Throws
  /// registration_error if the range cannot be registered.
  bool increment_count_locked(base::byte_range range, unsigned flags, table_lock& lock);
  /// Returns the entry of exactly this range, which is not busy. Releases `lock` while it blocks
  /// for a busy entry. Throws registration_error if there is none.
  registered& find_locked(base::byte_range range, table_lock& lock);
  /// Increments the count of a range, or adds it after calling `pin`, which returns the segments
  /// that it has registered with HIP. If `pin` throws, the range is not added.
  template <class F>
  void add(base::byte_range range, unsigned flags, bool mapped, F pin);

  mutable std::mutex mutex_;
  std::condition_variable entry_ready_;             // an entry is no longer busy
  base::byte_range_map<registered> registrations_;  // guarded by mutex_
  std::atomic<std::size_t> segmented_ranges_ = 0;   // number of registrations in several segments
};

}  // namespace roc::memory
