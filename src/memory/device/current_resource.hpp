// SPDX-License-Identifier: MIT
// The resource from which arrays on a device allocate.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include <roc/memory/memory_resource.hpp>

namespace roc::memory {

inline constexpr std::size_t max_devices = 128;

/// The current resource of each device; null before device_resource has created the default.
/// Neither constructed nor destroyed at run time, because static objects may own arrays.
inline constinit std::array<std::atomic<memory_resource*>, max_devices> current_resources{};

/// Returns the current resource of the device; null if it has none yet or does not exist.
inline memory_resource* current_resource(int device) noexcept {
  auto const index = static_cast<std::size_t>(device);  // a negative ordinal is too large
  return index < max_devices ? current_resources[index].load(std::memory_order_acquire) : nullptr;
}

}  // namespace roc::memory
