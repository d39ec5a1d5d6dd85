// SPDX-License-Identifier: MIT
// The process-wide table of host memory: what the library allocated, what it registered, and which
// copies may still use it. It tells memory kinds without asking the runtime per copy.
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

#include "memory/host/pending_uses.hpp"
#include "base/byte_range.hpp"

namespace roc::memory {

class host_table {
 public:
  /// Leaked on purpose: arrays with static lifetime are freed after every other static object.
  static host_table& instance() {
    static auto* const table = new host_table;
    return *table;
  }

  /// Memory that the library allocated; `mapped` if kernels may reach it.
  void add_allocation(base::byte_range where, host_memory kind, bool mapped);
  /// Forgets it and returns the copies that may still use it.
  pending_uses remove_allocation(base::byte_range where);

  /// Registers a range, a large one in pieces, or counts it once more. Throws registration_error
  /// for a partial overlap and for memory that is pinned already, roc::error for what HIP reports;
  /// of several pieces none is left registered then.
  void register_range(base::byte_range where, unsigned flags);
  /// Enters a range that someone else pinned, or counts it once more. Throws registration_error
  /// where it is not pinned or overlaps an entry without being the same.
  void adopt(base::byte_range where);
  /// Takes one count off; at none left waits for pending copies and unregisters, or forgets what
  /// was adopted. Throws registration_error for a range that is not registered exactly.
  void deregister(base::byte_range where);
  /// Throws what deregister would for a range that is not registered exactly.
  void check_registered(base::byte_range where);

  /// What a copy asks of memory that it is about to use, by one look into the table.
  struct use_of_memory {
    bool pinned = false;   // all of it pinned, managed or registered: DMA may use it
    bool managed = false;  // of one managed array
  };
  /// Throws registration_error as check_writable, where it is `written`.
  use_of_memory about_to_use(base::byte_range where, bool written) const;
  /// The same of many ranges under one lock.
  std::vector<use_of_memory> about_to_use(std::span<base::byte_range const> where, bool written) const;
  /// What about_to_use would say of every part of a range, by one look; none where that is not one
  /// answer, or an error.
  std::optional<use_of_memory> about_to_use_parts(base::byte_range whole, bool written) const;
  /// The managed array that holds all of it.
  std::optional<base::byte_range> managed_array_of(base::byte_range where) const;
  /// Throws registration_error where the device may not write some of it; `what` begins the
  /// message.
  void check_writable(base::byte_range where, char const* what) const;
  /// The end of what one copy may use from `where` on: registered pieces are not to be straddled.
  std::uintptr_t end_of_piece(base::byte_range where) const;
  /// Whether anything is registered in more than one piece.
  bool has_pieces() const noexcept { return in_pieces_.load(std::memory_order_relaxed) != 0; }
  /// The address by which the current device knows the memory. Throws registration_error where it
  /// is neither mapped, nor managed, nor registered with the option `mapped`, nor adopted.
  void* device_address(base::byte_range where);
  /// The host memory behind a range of addresses that device_address gave.
  std::optional<base::byte_range> behind_device_address(base::byte_range device) const;
  /// Whether it gave any that are still good, or any within a range.
  bool gave_device_addresses() const noexcept {
    return aliases_.load(std::memory_order_relaxed) != 0;
  }
  bool gave_device_addresses(base::byte_range within) const;

  /// Notes that work on `stream` uses it, where the library knows the memory.
  void record_use(base::byte_range where, stream_ref stream);
  void record_uses(std::span<base::byte_range const> where, stream_ref stream);
  /// Notes that the CPU writes memory when `stream` has come so far.
  void record_write(base::byte_range where, stream_ref stream) { record_writes({where}, stream); }
  void record_writes(std::vector<base::byte_range> where, stream_ref stream);
  /// Waits for the writes noted that overlap it: the CPU is about to read it.
  void wait_for_writes(base::byte_range where) { wait_for_writes({&where, 1}); }
  void wait_for_writes(std::span<base::byte_range const> where);

 private:
  struct allocation {
    base::byte_range where;
    host_memory kind;
    bool mapped;
    pending_uses pending;
  };
  struct registered {
    base::byte_range where;
    unsigned flags = 0;
    unsigned count = 1;
    bool adopted = false;
    bool busy = true;               // being registered or unregistered, without the lock
    bool usable = false;            // all of it is registered
    bool several = false;           // in more than one piece
    std::vector<base::byte_range> pieces = {};  // what HIP has registered
    pending_uses pending = {};
  };
  struct device_alias {
    base::byte_range where;  // of the device's addresses
    base::byte_range host;
  };
  struct write {
    std::vector<base::byte_range> where;  // in order, apart from one another
    std::shared_ptr<event> done;
  };
  using table_lock = std::unique_lock<std::mutex>;
  struct recent_use;

  // The calling thread's place for what it knows of such memory.
  static recent_use& recent(base::byte_range where) noexcept;
  void remember(base::byte_range where, recent_use& place) const;
  bool knows_any(base::byte_range where) const;
  base::byte_range unknown_around(base::byte_range where) const;
  // Holding the lock, wherever an entry comes, goes, or loses what was noted: what threads remember
  // is of no use any more.
  void changes() noexcept { version_.fetch_add(1); }
  static bool is_read_only(registered const& known) noexcept;

  use_of_memory use_of(base::byte_range where, bool written) const;
  void check_writable(registered const* known, base::byte_range where, char const* what) const;
  bool count_again(base::byte_range where, unsigned flags, table_lock& held);
  registered& find_registered(base::byte_range where, table_lock& held);
  void forget_device_addresses(base::byte_range host);

  mutable std::mutex mutex_;
  std::condition_variable settled_;  // some entry is no longer busy
  std::atomic<std::uint64_t> version_ = 1;
  base::byte_range_map<allocation> allocations_;
  base::byte_range_map<registered> registrations_;
  base::byte_range_map<device_alias> device_aliases_;
  std::atomic<std::size_t> in_pieces_ = 0;  // registrations of several
  std::atomic<std::size_t> aliases_ = 0;    // of device_aliases_: most programs have none
  std::mutex writes_mutex_;
  std::vector<write> writes_;
};

}  // namespace roc::memory
