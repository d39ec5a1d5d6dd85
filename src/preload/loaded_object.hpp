// SPDX-License-Identifier: MIT
// The shared objects of the process, and the program itself, by the addresses that they span.
#pragma once

#include "base/byte_range.hpp"

namespace roc::preload {

struct loaded_object {
  base::byte_range range;
  /// The file's name without its directory, cut off if it is longer. Empty for the program itself.
  char file[64];
};

/// Finds the loaded object that contains an address. Returns false if there is none. Takes the lock
/// of dl_iterate_phdr, which the loader does not hold while it runs constructors.
bool find_object(void const* address, loaded_object& found) noexcept;

/// Returns the addresses that this object spans. Takes no lock.
base::byte_range own_range() noexcept;

inline bool contains(base::byte_range range, void const* address) noexcept {
  return range.contains(base::byte_range::of(address, 1));
}

}  // namespace roc::preload
