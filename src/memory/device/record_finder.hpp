// SPDX-License-Identifier: MIT
// Many addresses looked up one after the other, most of which lie where the one before does.
#pragma once

#include <cstdint>

#include "memory/device/allocation_map.hpp"
#include "memory/device/allocation_record.hpp"
#include "base/byte_range.hpp"

namespace roc::memory {

/// Looks up what find_record would, and again only for addresses outside what the last answer is
/// good for. For a scope in which all memory that is asked about stays: what others allocate or
/// free meanwhile is other memory, and no answer about this one changes.
class record_finder {
 public:
  /// Null where the library does not know the address.
  allocation_record* operator()(void const* address) noexcept {
    auto const at = reinterpret_cast<std::uintptr_t>(address);
    if (at - last_.where.begin >= last_.where.bytes()) {
      last_ = allocation_map::instance().find_around(address);
    }
    return last_.record;
  }

 private:
  allocation_map::answer last_;
};

}  // namespace roc::memory
