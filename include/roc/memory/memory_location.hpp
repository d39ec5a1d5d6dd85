// SPDX-License-Identifier: MIT
// The place of memory: a device, or the host.
#pragma once

#include <roc/config.hpp>
#include <roc/device.hpp>

namespace roc {

/// The place of memory, or of pages of managed memory: a device, or the host.
class ROCARRAY_API memory_location {
 public:
  /// The memory of a device. Implicit.
  memory_location(device const& target) noexcept
      : ordinal_(target.ordinal()) {}  // NOLINT: implicit
  /// Returns the location for host memory.
  static memory_location host() noexcept { return {}; }

  /// Returns true if this is host memory.
  bool is_host() const noexcept { return ordinal_ < 0; }
  /// Returns the ordinal of the device, or -1 for the host.
  int ordinal() const noexcept { return ordinal_; }

 private:
  memory_location() = default;
  int ordinal_ = -1;
};

}  // namespace roc
