// SPDX-License-Identifier: MIT
// The kind of any memory, found at run time.
#pragma once

#include <optional>
#include <string>

#include <roc/detail/strided_region.hpp>

#include "base/byte_range.hpp"

namespace roc::memory {

enum class location_kind : unsigned char {
  pageable,
  partly_pinned,  // host memory of which only a part is pinned or registered
  pinned,         // pinned or registered host memory, by the library or by other code
  managed,
  device,
};

/// The kind of a range of memory.
struct located_memory {
  location_kind kind = location_kind::pageable;
  /// Of device memory and of managed memory that other code allocated; -1 for all other memory.
  int device = -1;
  /// The host table knows the memory, and so its users.
  bool is_in_host_table = false;

  /// Returns true for memory that copies treat as device memory: also managed memory that other
  /// code allocated, whose users the host table does not know.
  bool is_on_device() const noexcept { return device >= 0; }
  /// Sets the location of a region in this memory.
  void apply_to(detail::strided_region& region) const noexcept;
};

/// Returns the kind of the memory of `range`, which may be empty. Asks the allocation map and the
/// host table, and HIP about the first and the last byte if they do not know the range. `name`
/// begins the message of an error.
///
/// Throws lifetime_error if the memory is known to be free: a pool has it, or neither HIP nor the
/// CPU can access it. Throws layout_error if the two bytes are in different kinds of memory, and
/// roc::error for errors of HIP, and for a pageable destination if its first or last byte is in a
/// page without write permission and the kernel reports that.
located_memory look_up(base::byte_range range, char const* name, detail::operand_role role);

/// Returns the kind of memory of which the host table knows a pinned or managed part; nullopt for
/// other memory. Does not call HIP.
std::optional<located_memory> find_in_host_table(base::byte_range range);

/// Returns the description of a kind of memory for messages, such as "memory of device 1".
std::string describe(located_memory const& memory);

}  // namespace roc::memory
