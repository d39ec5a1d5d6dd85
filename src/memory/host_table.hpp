// SPDX-License-Identifier: MIT
// The process-wide table of host memory: what the library allocated, what it registered, and which
// copies may still use it. It tells memory kinds without asking the runtime per copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <roc/event.hpp>
#include <roc/stream.hpp>

namespace roc::memory {

/// A half-open range of addresses.
struct range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  static range of(void const* data, std::size_t bytes) {
    auto const begin = reinterpret_cast<std::uintptr_t>(data);
    return {begin, begin + bytes};
  }
  std::size_t bytes() const noexcept { return end - begin; }
  bool contains(range other) const noexcept { return begin <= other.begin && other.end <= end; }
  bool overlaps(range other) const noexcept { return begin < other.end && other.begin < end; }
  friend bool operator==(range const&, range const&) = default;
};

/// The last use of a range by each stream.
class pending_uses {
 public:
  /// Marks everything enqueued on `stream` so far as using the range.
  void note(stream_ref stream);
  void wait() const;

 private:
  struct use {
    stream_ref stream;
    event done;
  };
  std::vector<use> uses_;
};

class host_table {
 public:
  static host_table& instance();

  /// Memory that the library allocated; `pinned` if the device can reach it by DMA.
  void add_allocation(range where, bool pinned);
  /// Forgets it and returns the copies that may still use it.
  pending_uses remove_allocation(range where);

  /// Registers a range or counts it once more. Throws registration_error for a partial overlap.
  void register_range(range where, unsigned flags);
  /// Takes one count off; at none left waits for pending copies and unregisters. Throws
  /// registration_error for a range that is not registered exactly.
  void deregister(range where);
  /// Throws what deregister would for a range that is not registered exactly.
  void check_registered(range where);

  /// Whether all of it is pinned or registered, so that DMA may use it.
  /// Memory registered for reading only may not be written so.
  bool is_pinned(range where, bool for_writing) const;
  /// Notes that work on `stream` uses it, where the library knows the memory.
  void note_use(range where, stream_ref stream);

  /// Notes that the CPU writes memory when `stream` has come so far.
  void note_write(range where, stream_ref stream);
  /// Waits for the writes noted that overlap it: the CPU is about to read it.
  void wait_for_writes(range where);

 private:
  struct allocation {
    range where;
    bool pinned;
    pending_uses pending;
  };
  struct registered {
    range where;
    unsigned flags;
    unsigned count;
    pending_uses pending;
  };
  template <class Entry>
  using entries = std::map<std::uintptr_t, Entry>;  // by first address; no two overlap

  struct write {
    range where;
    std::shared_ptr<event> done;
  };

  entries<registered>::iterator find_registered(range where);

  std::mutex writes_mutex_;
  std::vector<write> writes_;
  mutable std::mutex mutex_;
  entries<allocation> allocations_;
  entries<registered> registrations_;
};

}  // namespace roc::memory
