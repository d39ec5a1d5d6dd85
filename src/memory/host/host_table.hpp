// SPDX-License-Identifier: MIT
// What the library knows about host memory: the kinds of its ranges, and the work that may still
// use them. Copies look up host memory here instead of calling HIP.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <roc/memory/host_memory.hpp>
#include <roc/stream.hpp>

#include "base/byte_range.hpp"
#include "base/lookup_cache.hpp"
#include "base/no_destructor.hpp"
#include "memory/host/cpu_uses.hpp"
#include "memory/host/host_uses.hpp"
#include "runtime/current_device.hpp"
#include "runtime/stream_id.hpp"

namespace roc::memory {

/// The table of the allocations and registrations of host memory. Members are safe to call from any
/// thread. They take the mutex of the table for a short time, and never during a call of HIP; they
/// do not block otherwise or call HIP, unless stated otherwise. Ranges are never empty.
class host_table {
 public:
  /// Returns the one table of the process, which is never destroyed. Does not allocate.
  static host_table& instance() noexcept {
    static base::no_destructor<host_table> table;
    return *table;
  }

  // Entries

  /// Adds memory that the library allocated. `mapped` means that kernels can access it. Throws
  /// std::bad_alloc, and roc::error if another allocation has a part of it.
  void add_allocation(base::byte_range range, host_memory kind, bool mapped);
  /// Removes an allocation. Returns its uses, which may still be pending; null if it is unknown.
  std::shared_ptr<host_uses> remove_allocation(base::byte_range range) noexcept;
  /// Adds memory that is about to be registered or adopted, and returns its uses. DMA cannot use it
  /// until set_usable. Throws std::bad_alloc.
  std::shared_ptr<host_uses> add_registration(base::byte_range range, bool mapped, bool read_only);
  /// Sets whether DMA can use all of a registration.
  void set_usable(base::byte_range range, bool usable) noexcept;
  /// Removes a registration. Does nothing if it is unknown.
  void remove_registration(base::byte_range range) noexcept;

  struct block {
    base::byte_range range;
    host_memory kind;  // pinned for registered memory
  };
  /// Returns the first pinned, mapped or managed array that overlaps the range; nullopt if there is
  /// none.
  std::optional<block> find_pinned_array(base::byte_range range) const;
  /// Returns the array or registration that contains the range and that kernels can access; nullopt
  /// if there is none.
  std::optional<block> find_mapped(base::byte_range range) const;
  /// Returns the managed array that contains the range; nullopt if there is none.
  std::optional<base::byte_range> managed_array_of(base::byte_range range) const;

  // Properties that copies need

  /// Aligned so that it is returned and copied in one register: every copy makes a query.
  struct alignas(4) host_memory_properties {
    /// The whole range is pinned or managed by one array, or registered by one registration, so
    /// that DMA can access it.
    bool pinned = false;
    /// The range is in one managed array.
    bool managed = false;
    /// The range is not `pinned`, but a part of it is, or is being registered or deregistered. HIP
    /// does not accept the range: it must be staged, whatever its size.
    bool partly_pinned = false;
    /// The device must not write a part of the range, which is registered as read-only.
    bool read_only = false;
  };
  /// Returns the properties of memory that a copy is about to use. Takes no lock if the calling
  /// thread has queried memory of the same array, or between the same arrays, before and the table
  /// has not changed since. If `written`, throws registration_error as check_writable does.
  host_memory_properties query_access(base::byte_range range, bool written) const;
  /// Returns the properties of each of the ranges that copies are about to use, in their order.
  /// Takes the mutex once. Throws as the form for one range does.
  std::vector<host_memory_properties> query_access(std::span<base::byte_range const> ranges,
                                                   bool written) const;
  /// Returns the properties that query_access would return for every part of the range, from one
  /// lookup. Returns nullopt if parts differ, or if query_access would throw.
  std::optional<host_memory_properties> query_uniform_access(base::byte_range whole,
                                                             bool written) const;
  /// Throws registration_error if the device must not write a part of the range, because it is
  /// registered as read-only.
  void check_writable(base::byte_range range) const;

  // Pending uses

  /// Records that work enqueued on `stream` uses the range: it is a use of every allocation and
  /// registration that the range overlaps. Takes no lock if the calling thread has recorded the
  /// same use of the same memory before and the table has not changed since. Calls HIP if the
  /// stream is foreign. Throws roc::error, std::bad_alloc.
  void record_use(base::byte_range range, stream_ref stream, access kind);
  /// Does what record_use does for each of the ranges. Takes the mutex of the table once.
  void record_uses(std::span<base::byte_range const> ranges, stream_ref stream, access kind);
  /// Records that work enqueued on `stream` writes the ranges: host functions, for example because
  /// copies to pageable memory are staged, or the device, if other code has pinned the memory, so
  /// that no entry of the table tracks the use. Records an event. Throws roc::error,
  /// std::bad_alloc.
  void record_write(base::byte_range range, stream_ref stream) { record_writes({range}, stream); }
  void record_writes(std::vector<base::byte_range> ranges, stream_ref stream);
  /// Does the same for work that reads the ranges: host functions whose source is borrowed, or the
  /// device.
  void record_reads(std::vector<base::byte_range> ranges, stream_ref stream);
  /// Blocks until no pending work, by the device or by the CPU, writes a part of the ranges,
  /// because the CPU is about to read them. Waits for all pending writes of an array or
  /// registration that is pinned. Does not hold a lock while it blocks. Takes no lock for one
  /// pageable range if the conditions of query_access are met and no write is recorded. Throws
  /// roc::error, std::bad_alloc.
  void wait_for_writes(base::byte_range range) { wait_for_writes({&range, 1}); }
  void wait_for_writes(std::span<base::byte_range const> ranges) {
    pending_uses(ranges, true).wait();
  }
  /// Blocks until no pending work uses the arrays and registrations that the ranges overlap,
  /// because the CPU is about to write them. Does not hold a lock while it blocks. Throws
  /// roc::error, std::bad_alloc.
  void wait_for_uses(base::byte_range range) { wait_for_uses({&range, 1}); }
  void wait_for_uses(std::span<base::byte_range const> ranges) {
    pending_uses(ranges, false).wait();
  }
  /// Returns the uses of the pinned arrays and registrations that the range overlaps. They are
  /// destroyed when the memory is freed or deregistered. Throws std::bad_alloc.
  std::vector<std::shared_ptr<host_uses>> find_pinned_uses(base::byte_range range) const {
    return uses_of({&range, 1}, true);
  }
  /// Makes work enqueued on `stream` from now on wait for the work that wait_for_uses would wait
  /// for. Does not block; calls HIP. Throws roc::error, std::bad_alloc.
  void order_after_uses(std::span<base::byte_range const> ranges, stream_ref stream);

 private:
  struct entry {
    base::byte_range range;
    host_memory kind = host_memory::pinned;  // of an array; pinned for registrations
    bool is_mapped = false;                  // kernels can access it
    bool is_read_only = false;               // registered as read-only
    bool is_usable = true;                   // false: not, or not completely, registered with HIP
    std::shared_ptr<host_uses> uses = std::make_shared<host_uses>();

    bool is_pinned() const noexcept { return kind != host_memory::pageable; }
  };
  using entry_map = base::byte_range_map<entry>;
  struct query;

  // The caller of the functions that end in _locked holds mutex_.

  /// Makes the queries that threads have cached invalid. To be called before each change of an
  /// entry.
  void invalidate_queries_locked() noexcept;
  /// Returns the calling thread's query for memory near the range. It may be out of date.
  static query& query_slot(base::byte_range range) noexcept;
  /// Returns the query for the range: the calling thread's, after updating it if necessary. It does
  /// not cover the range if parts of the range have different properties. Valid until the thread's
  /// next call.
  query& find_query(base::byte_range range) const;
  /// Records a use that may not be known to the calling thread's cache, and stores it there.
  void record_new_use(base::byte_range range, stream_ref stream, access kind);
  /// Returns the query for the largest range around `range` that has the same entries; an empty one
  /// if parts of `range` have different entries.
  query make_query_locked(base::byte_range range) const;
  /// Returns the properties of the range. If `written`, throws as check_writable does.
  host_memory_properties properties_locked(base::byte_range range, bool written) const;
  /// Does what properties_locked does, and stores the query in `cached` if that is out of date.
  /// Takes the mutex.
  host_memory_properties query_properties(query& cached, base::byte_range range,
                                          bool written) const;
  void check_writable_locked(base::byte_range range) const;
  /// Returns the uses of the entries that overlap one of the ranges, without duplicates; if
  /// `only_pinned`, not those of pageable arrays. Throws std::bad_alloc.
  std::vector<std::shared_ptr<host_uses>> uses_of(std::span<base::byte_range const> ranges,
                                                  bool only_pinned) const;
  /// Returns the pending uses of the ranges, or only the writes. They remain recorded, because
  /// other threads may have to wait for them too.
  runtime::stream_uses pending_uses(std::span<base::byte_range const> ranges, bool only_writes);

  mutable std::mutex mutex_;  // guards the two maps
  entry_map allocations_;
  entry_map registrations_;  // they may overlap pageable allocations
  /// Changes with the maps. The values of two tables differ.
  std::atomic<std::uint64_t> version_ = next_version.fetch_add(1);
  cpu_uses range_writes_;
  cpu_uses range_reads_;

  static constinit inline std::atomic<std::uint64_t> next_version = 1;
};

// Most copies use memory that the same thread has used before: its cached query is valid while the
// table has not changed, and costs no lock. This case is inline; the others are not, because they
// would cost 8 ns in this case too.

/// A query about memory of which all parts have the same properties.
struct host_table::query {
  struct tracked_use {
    runtime::stream_id stream;
    bool is_write = false;
  };

  std::uint64_t version = 0;  // of the table; 0: empty
  base::byte_range range;
  host_memory_properties properties;
  bool has_entries = false;
  // The last two streams in the uses of the memory, the later one first; may be empty.
  std::array<tracked_use, 2> tracked;

  bool covers(base::byte_range part, std::uint64_t current_version) const noexcept {
    return version == current_version && range.contains(part);
  }
  bool allows(bool written) const noexcept { return !(written && properties.read_only); }
  /// Does not call HIP, so that a default stream of the current device is found only if there is no
  /// other device.
  bool has_tracked(stream_ref stream, access kind) const {
    for (tracked_use const& use : tracked) {
      if (use.stream.is_empty() || use.stream.stream().handle() != stream.handle()) continue;
      bool const is_same = !use.stream.is_default() ||
                           use.stream.device() == stream.device_ordinal() ||
                           (stream.device_ordinal() < 0 && runtime::has_one_device());
      if (is_same) return (kind == access::read || use.is_write) && use.stream.is_live();
    }
    return false;
  }
  /// Stores that a use of the stream is recorded. Does nothing for a foreign stream, whose every
  /// use needs an event.
  void track(runtime::stream_id const& stream, access kind) {
    if (stream.is_foreign()) return;
    if (tracked[0].stream != stream) std::swap(tracked[0], tracked[1]);
    if (tracked[0].stream != stream) tracked[0] = {stream, false};
    if (kind == access::write) tracked[0].is_write = true;
  }
};

inline host_table::query& host_table::query_slot(base::byte_range range) noexcept {
  static constinit thread_local base::lookup_cache<query> queries;
  return queries.slot_of(range.begin);
}

inline host_table::host_memory_properties host_table::query_access(base::byte_range range,
                                                                   bool written) const {
  query& cached = query_slot(range);
  if (cached.covers(range, version_.load()) && cached.allows(written)) [[likely]]
    return cached.properties;
  return query_properties(cached, range, written);
}

inline void host_table::record_use(base::byte_range range, stream_ref stream, access kind) {
  query const& cached = query_slot(range);
  bool const is_known = cached.covers(range, version_.load()) &&
                        (!cached.has_entries || cached.has_tracked(stream, kind));
  if (!is_known) [[unlikely]]
    record_new_use(range, stream, kind);
}

}  // namespace roc::memory
