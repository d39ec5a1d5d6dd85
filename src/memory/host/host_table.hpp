// SPDX-License-Identifier: MIT
// The process-wide table of host memory: the allocations and registrations of the library, and the
// copies that may still use them. Copies look up the kind of host memory here instead of calling
// HIP.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include <roc/event.hpp>
#include <roc/memory/host_memory.hpp>
#include <roc/stream.hpp>

#include "base/byte_range.hpp"
#include "memory/host/pending_uses.hpp"

namespace roc::memory {

/// Members are safe to call from any thread. They take the mutex of the table for a short time, and
/// do not block otherwise or call HIP, unless stated otherwise. Ranges are never empty.
class host_table {
 public:
  /// Returns the one table of the process. Leaked on purpose: arrays with static lifetime are freed
  /// after every other static object.
  static host_table& instance() {
    static auto* const table = new host_table;
    return *table;
  }

  // Allocations

  /// Adds memory that the library allocated. `mapped` means that kernels can access it. Throws
  /// std::bad_alloc.
  void add_allocation(base::byte_range range, host_memory kind, bool mapped);
  /// Removes an allocation and returns the copies that may still use it; empty if the range is
  /// unknown.
  pending_uses remove_allocation(base::byte_range range);
  /// Returns the managed array that contains the range; nullopt if there is none.
  std::optional<base::byte_range> managed_array_of(base::byte_range range) const;

  // Registrations

  /// Registers a range with flags of hipHostRegister, a large one in segments, or increments its
  /// count if it is registered already. Blocks while another thread registers or deregisters the
  /// range. Calls HIP without holding the mutex. Throws registration_error if the range overlaps
  /// another one, is registered with other flags, or is already pinned; roc::error if HIP fails.
  /// Nothing remains registered then.
  void register_range(base::byte_range range, unsigned flags);
  /// Adds a range that other code pinned, or increments its count. Blocks while another thread
  /// registers or deregisters the range. Calls HIP with the mutex held. Throws registration_error
  /// if the range is not pinned, or overlaps another one.
  void adopt(base::byte_range range);
  /// Decrements the count of a range. At zero, blocks until pending copies have finished, and then
  /// unregisters the range from HIP, or only removes it if it was adopted. Holds the mutex neither
  /// while it waits nor during calls of HIP. Throws registration_error if the range is not
  /// registered exactly; roc::error if HIP fails, and the range can then be deregistered again.
  void deregister(base::byte_range range);
  /// Throws the registration_error that deregister would throw. Blocks while another thread
  /// registers or deregisters the range. Does not call HIP.
  void check_registered(base::byte_range range);
  /// Throws registration_error if the device must not write a part of the range, because it is
  /// registered as read-only. The message begins with `operation`.
  void check_writable(base::byte_range range, char const* operation) const;
  /// Returns the end of the segment of registered memory that contains range.begin; range.end if
  /// there is none or it has one segment only. One copy must not cross the end of a segment.
  std::uintptr_t end_of_segment(base::byte_range range) const;
  /// Returns true if any range is registered in several segments. Lock-free.
  bool has_segmented_ranges() const noexcept {
    return segmented_ranges_.load(std::memory_order_relaxed) != 0;
  }

  // Properties that copies need

  struct host_memory_properties {
    /// The whole range is pinned, managed or registered, so that DMA can access it.
    bool pinned = false;
    /// The range is in one managed array.
    bool managed = false;
  };
  /// Returns the properties of memory that a copy is about to use. Takes no lock if the calling
  /// thread has queried the same array before and the table has not changed since. If `written`,
  /// throws registration_error as check_writable does.
  host_memory_properties query_access(base::byte_range range, bool written) const;
  /// Returns the properties of each of the ranges that copies are about to use, in their order.
  /// Takes the mutex once. Throws as the form for one range does.
  std::vector<host_memory_properties> query_access(std::span<base::byte_range const> ranges,
                                                   bool written) const;
  /// Returns the properties that query_access would return for every part of the range, from one
  /// lookup. Returns nullopt if parts differ, or if query_access would throw.
  std::optional<host_memory_properties> query_uniform_access(base::byte_range whole,
                                                             bool written) const;

  // Device addresses of host memory

  /// Returns the address of the range on the current device. Calls HIP with the mutex held. Throws
  /// roc::error, and registration_error if the memory is not mapped, managed, registered with the
  /// option `mapped`, or adopted.
  void* device_address(base::byte_range range);
  /// Returns the host memory of a range of device addresses that device_address returned; nullopt
  /// if it returned none of them. Takes no lock if there are no such addresses.
  std::optional<base::byte_range> host_range_of_device_address(base::byte_range device) const;
  /// Returns true if device_address has returned an address that is still valid. Lock-free.
  bool has_device_aliases() const noexcept {
    return alias_count_.load(std::memory_order_relaxed) != 0;
  }
  /// Returns true if `device`, a range of device addresses, contains an address that device_address
  /// has returned and that is still valid. Takes no lock if there are no such addresses.
  bool has_device_aliases(base::byte_range device) const;

  // Pending uses

  /// Records that work enqueued on `stream` uses the range, if the table contains its memory. Takes
  /// no lock if the calling thread has recorded a use of the same array on the same stream before
  /// and the table has not changed since. Calls HIP if the stream is foreign. Throws roc::error.
  void record_use(base::byte_range range, stream_ref stream);
  /// Records that work enqueued on `stream` uses the ranges, if the table contains their memory.
  /// Takes the mutex once. Calls HIP if the stream is foreign. Throws roc::error.
  void record_uses(std::span<base::byte_range const> ranges, stream_ref stream);
  /// Records that a host function enqueued on `stream` writes the range, for example because a copy
  /// to pageable memory is staged. The write is pending until all work enqueued so far is done.
  /// Records an event. Throws roc::error.
  void record_write(base::byte_range range, stream_ref stream) { record_writes({range}, stream); }
  void record_writes(std::vector<base::byte_range> ranges, stream_ref stream);
  /// Blocks until all recorded writes that overlap the range have finished, because the CPU is
  /// about to read it. Does not hold a lock while it blocks. Throws roc::error.
  void wait_for_writes(base::byte_range range) { wait_for_writes({&range, 1}); }
  void wait_for_writes(std::span<base::byte_range const> ranges);

 private:
  using table_lock = std::unique_lock<std::mutex>;

  struct allocation {
    base::byte_range range;
    host_memory kind;
    bool mapped;
    pending_uses pending;
  };
  struct registered {
    base::byte_range range;
    unsigned flags = 0;  // of hipHostRegister
    unsigned count = 1;
    bool adopted = false;
    /// A thread registers or deregisters the range and has released the mutex. No other thread may
    /// remove the entry; DMA must not use the memory.
    bool busy = true;
    bool usable = false;                          // all of the range is registered
    bool segmented = false;                       // in more than one segment
    std::vector<base::byte_range> segments = {};  // registered with HIP; empty if adopted
    pending_uses pending = {};
  };
  struct device_alias {
    base::byte_range range;  // of device addresses
    base::byte_range host;
  };
  struct pending_write {
    std::vector<base::byte_range> ranges;  // sorted and disjoint
    std::shared_ptr<event> done;
  };
  struct cached_query;

  // The caller of the functions that end in _locked holds mutex_.

  /// Makes the cached queries of all threads invalid. To be called before each change of an entry
  /// that a query depends on.
  void invalidate_queries_locked() noexcept { version_.fetch_add(1); }
  /// Returns the calling thread's cache entry for the range.
  static cached_query& query_slot(base::byte_range range) noexcept;
  /// Stores the properties of the memory around the range in `query`, if all parts have the same;
  /// otherwise empties it.
  void fill_query_locked(base::byte_range range, cached_query& query) const;
  /// Looks up the properties of the range. If `written`, throws as check_writable does.
  host_memory_properties properties_locked(base::byte_range range, bool written) const;
  /// Returns true if an allocation or a registration overlaps the range.
  bool has_entry_locked(base::byte_range range) const;
  /// Returns the range between the entries before and after a range that has no entry.
  base::byte_range gap_around_locked(base::byte_range range) const;

  static bool is_read_only(registered const& entry) noexcept;
  /// Throws registration_error if `entry` is not null and is read-only.
  static void check_writable(registered const* entry, base::byte_range range,
                             char const* operation);
  /// Increments the count of a range that is registered and returns true. Returns false if nothing
  /// that overlaps it is registered. Releases `lock` while it blocks for a busy entry. Throws
  /// registration_error if the range cannot be registered.
  bool increment_count_locked(base::byte_range range, unsigned flags, table_lock& lock);
  /// Returns the entry of exactly this range, which is not busy. Releases `lock` while it blocks
  /// for a busy entry. Throws registration_error if there is none.
  registered& find_registered_locked(base::byte_range range, table_lock& lock);
  /// Removes the device addresses of an allocation or registration.
  void forget_aliases_locked(base::byte_range host);

  mutable std::mutex mutex_;             // guards the three maps
  std::condition_variable entry_ready_;  // an entry is no longer busy
  std::atomic<std::uint64_t> version_ = 1;
  base::byte_range_map<allocation> allocations_;
  base::byte_range_map<registered> registrations_;
  base::byte_range_map<device_alias> device_aliases_;
  std::atomic<std::size_t> segmented_ranges_ = 0;  // number of segmented registrations
  std::atomic<std::size_t> alias_count_ = 0;       // size of device_aliases_; 0 in most programs
  std::mutex writes_mutex_;
  std::vector<pending_write> writes_;  // guarded by writes_mutex_
};

}  // namespace roc::memory
