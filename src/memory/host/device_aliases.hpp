// SPDX-License-Identifier: MIT
// Device addresses of mapped host memory.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <optional>

#include "base/byte_range.hpp"
#include "base/no_destructor.hpp"

namespace roc::memory {

/// The device addresses of host memory that the library has given out, which may differ from its
/// host addresses: a copy or a fill by device address uses the host memory. Members are safe to
/// call from any thread. They take the mutex for a short time, and never during a call of HIP.
class device_aliases {
 public:
  /// Returns the one object of the process, which is never destroyed. Does not allocate.
  static device_aliases& instance() noexcept {
    static base::no_destructor<device_aliases> aliases;
    return *aliases;
  }

  /// Returns the address of host memory on the current device, and adds it unless the memory is
  /// managed: it has one address. Calls HIP. Throws roc::error, std::bad_alloc, and
  /// registration_error if the memory is not mapped, managed, registered with the option `mapped`,
  /// or adopted.
  void* device_address(base::byte_range host);
  /// Removes the addresses of an allocation or registration. Remembers the last of them, see
  /// host_range_of.
  void remove(base::byte_range host) noexcept;

  /// Returns true if there are no addresses, and none that were removed are remembered. This is the
  /// case in most programs. Lock-free.
  bool empty() const noexcept { return count_.load(std::memory_order_relaxed) == 0; }
  /// Returns true if a range of device addresses overlaps one that was added and not removed. Takes
  /// no lock if there are none.
  bool overlap(base::byte_range device) const;
  /// As overlap, and also true for addresses that were removed, see host_range_of.
  bool overlap_or_removed(base::byte_range device) const;
  /// Returns the host memory of a range of device addresses; nullopt if they were not added. Takes
  /// no lock if there are none. Throws lifetime_error if they were removed and HIP no longer knows
  /// them: a kernel or a copy could access memory that is no longer mapped. Calls HIP in
  /// this case only.
  std::optional<base::byte_range> host_range_of(base::byte_range device);

 private:
  struct alias {
    base::byte_range range;  // of device addresses
    base::byte_range host;
  };

  // Forgets the removed addresses that overlap a range. The caller holds the mutex.
  void forget_removed_locked(base::byte_range device) noexcept;
  // Returns a removed alias that overlaps a range, or null. The caller holds the mutex.
  alias const* find_removed_locked(base::byte_range device) const noexcept;
  void update_count_locked() noexcept;

  mutable std::mutex mutex_;
  base::byte_range_map<alias> aliases_;  // guarded by mutex_
  // A ring of the last removed ones; unused entries have an empty range. Guarded by mutex_.
  std::array<alias, 16> removed_{};
  std::size_t next_removed_ = 0;        // where the next one is stored
  std::atomic<std::size_t> count_ = 0;  // those in aliases_ and removed_
};

}  // namespace roc::memory
