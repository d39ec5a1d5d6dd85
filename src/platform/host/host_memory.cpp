// SPDX-License-Identifier: MIT
#include "platform/host/host_memory.hpp"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <new>

#include "platform/host/settings.hpp"

namespace roc::host_hip {
namespace {

constexpr std::align_val_t page{4096};

// Under ROCm a device may know registered memory by another address. This one cannot be touched:
// who mistakes it for the host's faults.
std::byte* device_address(std::byte* data, std::size_t bytes) {
  if (the_settings().registration == rules::cuda) return data;
  void* const shadow =
      mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return shadow == MAP_FAILED ? data : static_cast<std::byte*>(shadow);
}

void release_device_address(host_range const& range) {
  if (range.device != range.data) munmap(range.device, range.bytes);
}

}  // namespace

host_ranges& host_ranges::instance() {
  static auto* const made = new host_ranges;
  return *made;
}

hipError_t host_ranges::allocate(void** data, std::size_t bytes, unsigned flags) {
  constexpr unsigned known = 0x7u | 0x40000000u | 0x80000000u;  // and coherent, non-coherent
  if (data == nullptr || (flags & ~known) != 0) return hipErrorInvalidValue;
  *data = nullptr;
  if (bytes == 0) return hipSuccess;
  void* const made = ::operator new(bytes, page, std::nothrow);
  if (made == nullptr) return hipErrorOutOfMemory;
  auto* const first = static_cast<std::byte*>(made);
  std::lock_guard const lock(mutex_);
  ranges_.emplace(first, host_range{first, bytes, flags, false, first, 1});
  *data = made;
  return hipSuccess;
}

hipError_t host_ranges::free(void* data) {
  if (data == nullptr) return hipSuccess;
  std::lock_guard const lock(mutex_);
  auto const found = ranges_.find(static_cast<std::byte*>(data));
  if (found == ranges_.end() || found->second.registered) return hipErrorInvalidValue;
  ranges_.erase(found);
  ::operator delete(data, page);
  return hipSuccess;
}

// Holding the lock.
bool host_ranges::overlaps(std::byte* data, std::size_t bytes) const {
  auto const next = ranges_.lower_bound(data);
  if (next != ranges_.end() && next->first < data + bytes) return true;
  if (next == ranges_.begin()) return false;
  auto const before = std::prev(next);
  return before->first + before->second.bytes > data;
}

hipError_t host_ranges::add(void* data, std::size_t bytes, unsigned flags) {
  constexpr unsigned known = 0xFu;
  if (data == nullptr || bytes == 0 || (flags & ~known) != 0) return hipErrorInvalidValue;
  auto* const first = static_cast<std::byte*>(data);
  std::lock_guard const lock(mutex_);
  if (overlaps(first, bytes)) {
    switch (the_settings().registration) {
      case rules::cuda:
        return hipErrorHostMemoryAlreadyRegistered;
      case rules::rocm7:
        if (holding(data) != ranges_.end()) return hipErrorHostMemoryAlreadyRegistered;
        break;
      case rules::rocm5:
        if (auto const same = ranges_.find(first); same != ranges_.end()) {
          ++same->second.pins;
          return hipSuccess;
        }
        break;
    }
  }
  ranges_.insert_or_assign(
      first, host_range{first, bytes, flags, true, device_address(first, bytes), 1});
  return hipSuccess;
}

hipError_t host_ranges::remove(void* data) {
  std::lock_guard const lock(mutex_);
  auto const found = ranges_.find(static_cast<std::byte*>(data));
  if (found == ranges_.end() || !found->second.registered) {
    bool const interior = found == ranges_.end() && holding(data) != ranges_.end();
    if (interior && the_settings().registration != rules::cuda) {
      std::fputs("rocarray host: hipHostUnregister of an interior pointer ends the process\n",
                 stderr);
      std::abort();
    }
    return hipErrorHostMemoryNotRegistered;
  }
  if (--found->second.pins == 0) {
    release_device_address(found->second);
    ranges_.erase(found);
  }
  return hipSuccess;
}

// Holding the lock.
host_ranges::table::const_iterator host_ranges::holding(void const* address) const {
  auto* const byte = const_cast<std::byte*>(static_cast<std::byte const*>(address));
  auto next = ranges_.upper_bound(byte);
  if (next != ranges_.begin()) {
    auto const before = std::prev(next);
    if (byte < before->first + before->second.bytes) return before;
  }
  for (auto place = ranges_.begin(); place != ranges_.end(); ++place) {
    host_range const& range = place->second;
    if (range.device != range.data && byte >= range.device && byte < range.device + range.bytes) {
      return place;
    }
  }
  return ranges_.end();
}

std::optional<host_range> host_ranges::find(void const* address) const {
  std::lock_guard const lock(mutex_);
  auto const place = holding(address);
  if (place == ranges_.end()) return std::nullopt;
  return place->second;
}

bool host_ranges::straddles(void const* address, std::size_t bytes) const {
  auto* const first = const_cast<std::byte*>(static_cast<std::byte const*>(address));
  std::lock_guard const lock(mutex_);
  if (!overlaps(first, bytes)) return false;
  auto const place = holding(address);
  return place == ranges_.end() || first + bytes > place->second.data + place->second.bytes;
}

}  // namespace roc::host_hip
