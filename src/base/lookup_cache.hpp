// SPDX-License-Identifier: MIT
// A small cache of recent lookups, to be used as a thread_local object.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace roc::base {

/// A direct-mapped cache: each address has one slot, and a newer entry replaces an older one. The
/// user stores the key and whatever makes an entry obsolete in `Entry`, and checks both. Constant
/// initialization and trivial destruction, if `Entry` has them, make it usable in threads that end.
template <class Entry, std::size_t Size = 8>
class lookup_cache {
 public:
  /// Returns the slot for an address. `salt` distributes keys with equal addresses.
  Entry& slot_of(std::uintptr_t address, std::uint64_t salt = 0) noexcept {
    return entries_[(address >> 6 ^ address >> 12 ^ salt) % Size];
  }
  /// Removes all entries.
  void clear() noexcept { entries_ = {}; }

 private:
  std::array<Entry, Size> entries_{};
};

}  // namespace roc::base
