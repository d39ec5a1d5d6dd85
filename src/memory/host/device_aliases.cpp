// SPDX-License-Identifier: MIT
#include "memory/host/device_aliases.hpp"

#include <algorithm>

#include <roc/error.hpp>

#include "memory/host/host_table.hpp"
#include "platform/call.hpp"
#include "platform/pointer.hpp"

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
  forget_removed_locked(device);
  update_count_locked();
  return static_cast<std::byte*>(first) + (host.begin - block->range.begin);
}

void device_aliases::remove(base::byte_range host) noexcept {
  if (empty()) return;
  std::lock_guard const lock(mutex_);
  std::erase_if(aliases_, [&](auto const& item) {
    if (item.second.host != host) return false;
    removed_[next_removed_] = item.second;
    next_removed_ = (next_removed_ + 1) % removed_.size();
    return true;
  });
  update_count_locked();
}

void device_aliases::forget_removed_locked(base::byte_range device) noexcept {
  for (alias& removed : removed_) {
    if (removed.range.overlaps(device)) removed = {};
  }
}

auto device_aliases::find_removed_locked(base::byte_range device) const noexcept -> alias const* {
  auto const found = std::find_if(removed_.begin(), removed_.end(),
                                  [&](alias const& a) { return a.range.overlaps(device); });
  return found == removed_.end() ? nullptr : &*found;
}

void device_aliases::update_count_locked() noexcept {
  auto const removed = std::count_if(removed_.begin(), removed_.end(),
                                     [](alias const& a) { return a.range.bytes() != 0; });
  count_.store(aliases_.size() + static_cast<std::size_t>(removed), std::memory_order_relaxed);
}

bool device_aliases::overlap(base::byte_range device) const {
  if (empty()) return false;
  std::lock_guard const lock(mutex_);
  return find_overlap(aliases_, device) != nullptr;
}

bool device_aliases::overlap_or_removed(base::byte_range device) const {
  if (empty()) return false;
  std::lock_guard const lock(mutex_);
  return find_overlap(aliases_, device) != nullptr || find_removed_locked(device) != nullptr;
}

std::optional<base::byte_range> device_aliases::host_range_of(base::byte_range device) {
  if (empty()) return std::nullopt;
  alias removed;
  {
    std::lock_guard const lock(mutex_);
    if (auto const* const found = find_overlap(aliases_, device)) {
      std::uintptr_t const begin = found->host.begin + (device.begin - found->range.begin);
      return base::byte_range{begin, begin + device.bytes()};
    }
    auto const* const last = find_removed_locked(device);
    if (last == nullptr) return std::nullopt;
    removed = *last;
  }
  // The runtime may have used the addresses for other memory, or the program may have registered
  // the memory again.
  if (platform::query_pointer(device.data()).kind == native_detail::memory_kind::unregistered) {
    throw lifetime_error(to_string(device) + " is the device address of host memory " +
                         to_string(removed.host) +
                         " that was deregistered or freed; keep the memory registered until the "
                         "work that uses its device address has finished");
  }
  std::lock_guard const lock(mutex_);
  forget_removed_locked(device);
  update_count_locked();
  return std::nullopt;
}

}  // namespace roc::memory
