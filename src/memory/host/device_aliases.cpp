// SPDX-License-Identifier: MIT
#include "memory/host/device_aliases.hpp"

#include <roc/error.hpp>

#include "memory/host/host_table.hpp"
#include "platform/call.hpp"

namespace roc::memory {

void* device_aliases::device_address(base::byte_range host) {
  auto const block = host_table::instance().find_mapped(host);
  if (!block) {
    throw registration_error(to_string(host) +
                             " is not mapped; allocate it with "
                             "mapped_array, or register it with the option mapped");
  }
  if (block->kind == host_memory::managed) return host.data();
  // Queries the beginning, because not every runtime accepts addresses inside an allocation.
  void* first = nullptr;
  ROCARRAY_HIP(hipHostGetDevicePointer, &first, block->range.data(), 0);
  auto const device = base::byte_range::of(first, block->range.bytes());
  std::lock_guard const lock(mutex_);
  aliases_.insert_or_assign(device.begin, alias{device, block->range});
  count_.store(aliases_.size(), std::memory_order_relaxed);
  return static_cast<std::byte*>(first) + (host.begin - block->range.begin);
}

void device_aliases::remove(base::byte_range host) noexcept {
  if (empty()) return;
  std::lock_guard const lock(mutex_);
  std::erase_if(aliases_, [&](auto const& item) { return item.second.host == host; });
  count_.store(aliases_.size(), std::memory_order_relaxed);
}

bool device_aliases::overlap(base::byte_range device) const {
  if (empty()) return false;
  std::lock_guard const lock(mutex_);
  return find_overlap(aliases_, device) != nullptr;
}

std::optional<base::byte_range> device_aliases::host_range_of(base::byte_range device) const {
  if (empty()) return std::nullopt;
  std::lock_guard const lock(mutex_);
  auto const* const found = find_overlap(aliases_, device);
  if (found == nullptr) return std::nullopt;
  std::uintptr_t const begin = found->host.begin + (device.begin - found->range.begin);
  return base::byte_range{begin, begin + device.bytes()};
}

}  // namespace roc::memory
