// SPDX-License-Identifier: MIT
#include "platform/host/located_memory.hpp"

#include "platform/host/arena.hpp"
#include "platform/host/host_ranges.hpp"

namespace roc::host_hip {

located_memory locate(std::byte* data, std::size_t bytes) {
  if (data == nullptr) return {};
  if (int const device = owning_device(data); device >= 0) {
    auto const allocated = device_arena(device).find(data);
    if (!allocated || !is_within(last_byte(data, bytes), allocated->data, allocated->bytes)) {
      return {};
    }
    return {device_arena(device).host_alias(data), memory_kind::device};
  }
  if (saturating_sum(reinterpret_cast<std::uintptr_t>(data), bytes) == SIZE_MAX) return {};
  if (owning_device(last_byte(data, bytes)) >= 0) return {};
  auto const range = host_ranges::instance().find(data);
  if (range && !is_within(data, range->data, range->bytes)) {
    // `data` is the device address of registered memory.
    if (!is_within(last_byte(data, bytes), range->device, range->bytes)) return {};
    return {range->data + (data - range->device), memory_kind::pinned};
  }
  if (host_ranges::instance().straddles(data, bytes)) return {};
  if (!range) return {data, memory_kind::pageable};
  return {data, range->managed ? memory_kind::managed : memory_kind::pinned,
          !range->registered && data + bytes == range->data + range->bytes};
}

}  // namespace roc::host_hip
