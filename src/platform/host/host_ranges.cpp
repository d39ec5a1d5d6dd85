// SPDX-License-Identifier: MIT
#include "platform/host/host_ranges.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <new>

#include "platform/host/settings.hpp"

namespace roc::host_hip {
namespace {

constexpr std::align_val_t page{4096};

// Returns the device address of registered memory. Under the rules of ROCm it differs from the host
// address and is inaccessible, so that a program that confuses the two faults. Returns `data` if
// address space is exhausted.
std::byte* map_device_address(std::byte* data, std::size_t bytes) {
  if (host_settings().emulated == runtime_rules::cuda) return data;
  void* const shadow =
      mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return shadow == MAP_FAILED ? data : static_cast<std::byte*>(shadow);
}

void unmap_device_address(host_range const& range) {
  if (range.device != range.data) munmap(range.device, range.bytes);
}

// Returns true if `bytes` exceeds the physical memory: pinned memory cannot be overcommitted.
bool exceeds_physical_memory(std::size_t bytes) {
  static auto const physical = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                               static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes > physical;
}

// Returns true if all pages of the range are mapped: only mapped pages can be pinned.
bool is_mapped(void* data, std::size_t bytes) {
  static auto const page_size = static_cast<std::uintptr_t>(getpagesize());
  auto const begin = reinterpret_cast<std::uintptr_t>(data) / page_size * page_size;
  auto const end = reinterpret_cast<std::uintptr_t>(data) + bytes;
  // MS_ASYNC checks the mappings and writes nothing.
  return msync(reinterpret_cast<void*>(begin), end - begin, MS_ASYNC) == 0;
}

// Returns the key of an address in the table.
std::byte* mutable_byte(void const* address) {
  return const_cast<std::byte*>(static_cast<std::byte const*>(address));
}

}  // namespace

host_ranges& host_ranges::instance() {
  static auto* const instance = new host_ranges;  // never destroyed
  return *instance;
}

hipError_t host_ranges::allocate(void** data, std::size_t bytes, unsigned flags) {
  constexpr unsigned coherent = 0x40000000u;
  constexpr unsigned non_coherent = 0x80000000u;
  constexpr unsigned valid_flags = 0x7u | coherent | non_coherent;
  constexpr unsigned contradictory = coherent | non_coherent;
  if ((flags & ~valid_flags) != 0 || (flags & contradictory) == contradictory) {
    return hipErrorInvalidValue;
  }
  return add_allocated(data, bytes, flags, false);
}

hipError_t host_ranges::allocate_managed(void** data, std::size_t bytes, unsigned flags) {
  if (flags != hipMemAttachGlobal && flags != hipMemAttachHost) return hipErrorInvalidValue;
  return add_allocated(data, bytes, flags, true);
}

hipError_t host_ranges::add_allocated(void** data, std::size_t bytes, unsigned flags,
                                      bool managed) {
  if (data == nullptr) return hipErrorInvalidValue;
  *data = nullptr;
  if (bytes == 0) return hipSuccess;
  if (exceeds_physical_memory(bytes)) return hipErrorOutOfMemory;
  void* const memory = ::operator new(bytes, page, std::nothrow);
  if (memory == nullptr) return hipErrorOutOfMemory;
  auto* const first = static_cast<std::byte*>(memory);
  std::lock_guard const lock(mutex_);
  // Replaces the registration of memory that the program freed without deregistering it.
  ranges_.insert_or_assign(first, host_range{first, bytes, flags, false, first, 1, managed});
  *data = memory;
  return hipSuccess;
}

hipError_t host_ranges::free(void* data, bool managed) {
  if (data == nullptr) return hipSuccess;
  std::lock_guard const lock(mutex_);
  auto const found = ranges_.find(static_cast<std::byte*>(data));
  kind const expected = managed ? kind::managed : kind::pinned;
  if (found == ranges_.end() || kind_of(found->second) != expected) return hipErrorInvalidValue;
  ranges_.erase(found);
  ::operator delete(data, page);
  return hipSuccess;
}

host_ranges::kind host_ranges::kind_of(host_range const& range) {
  if (range.registered) return kind::registered;
  return range.managed ? kind::managed : kind::pinned;
}

bool host_ranges::overlaps_locked(void const* data, std::size_t bytes) const {
  void const* const last = last_byte(data, bytes);
  if (host_settings().emulated == runtime_rules::cuda) {
    // The ranges of the table do not overlap each other. So only the last one that begins before
    // the end of [data, data + bytes) can overlap it.
    auto const next = ranges_.upper_bound(mutable_byte(last));
    if (next == ranges_.begin()) return false;
    host_range const& range = std::prev(next)->second;
    return is_within(data, range.data, range.bytes) || is_within(range.data, data, bytes);
  }
  return std::any_of(ranges_.begin(), ranges_.end(), [&](auto const& entry) {
    host_range const& range = entry.second;
    return is_within(data, range.data, range.bytes) || is_within(last, range.data, range.bytes) ||
           is_within(range.data, data, bytes);
  });
}

hipError_t host_ranges::add(void* data, std::size_t bytes, unsigned flags) {
  constexpr unsigned valid_flags = 0xFu;
  if (data == nullptr || bytes == 0 || (flags & ~valid_flags) != 0) return hipErrorInvalidValue;
  if (bytes - 1 > UINTPTR_MAX - reinterpret_cast<std::uintptr_t>(data)) return hipErrorInvalidValue;
  if (!is_mapped(data, bytes)) return hipErrorInvalidValue;
  auto* const first = static_cast<std::byte*>(data);
  std::lock_guard const lock(mutex_);
  if (overlaps_locked(first, bytes)) {
    switch (host_settings().emulated) {
      case runtime_rules::cuda: return hipErrorHostMemoryAlreadyRegistered;
      case runtime_rules::rocm7:
        // New ROCm refuses a range whose first byte is registered, and no other overlap.
        if (find_locked(data) != ranges_.end()) return hipErrorHostMemoryAlreadyRegistered;
        break;
      case runtime_rules::rocm5:
        // Old ROCm refuses no overlap, and counts registrations of the same address.
        if (auto const same = ranges_.find(first); same != ranges_.end()) {
          ++same->second.pins;
          return hipSuccess;
        }
        break;
    }
  }
  ranges_.insert_or_assign(
      first, host_range{first, bytes, flags, true, map_device_address(first, bytes), 1, false});
  return hipSuccess;
}

hipError_t host_ranges::remove(void* data) {
  std::lock_guard const lock(mutex_);
  auto const found = ranges_.find(static_cast<std::byte*>(data));
  if (found == ranges_.end() || !found->second.registered) {
    bool const is_interior = found == ranges_.end() && find_locked(data) != ranges_.end();
    if (is_interior && host_settings().emulated != runtime_rules::cuda) {
      std::fputs(
          "rocarray host: hipHostUnregister was called with an interior pointer, which aborts the "
          "process under ROCm; pass the pointer that was registered\n",
          stderr);
      std::abort();
    }
    return hipErrorHostMemoryNotRegistered;
  }
  if (--found->second.pins == 0) {
    unmap_device_address(found->second);
    ranges_.erase(found);
  }
  return hipSuccess;
}

host_ranges::table::const_iterator host_ranges::find_locked(void const* address) const {
  // The innermost of overlapping ranges is the one that begins last.
  for (auto range = ranges_.upper_bound(mutable_byte(address)); range != ranges_.begin();) {
    --range;
    if (is_within(address, range->second.data, range->second.bytes)) return range;
    // Under CUDA's rules ranges do not overlap, and device addresses equal host addresses.
    if (host_settings().emulated == runtime_rules::cuda) return ranges_.end();
  }
  return std::find_if(ranges_.begin(), ranges_.end(), [&](auto const& entry) {
    host_range const& range = entry.second;
    return range.device != range.data && is_within(address, range.device, range.bytes);
  });
}

std::optional<host_range> host_ranges::find(void const* address) const {
  std::lock_guard const lock(mutex_);
  auto const found = find_locked(address);
  if (found == ranges_.end()) return std::nullopt;
  return found->second;
}

bool host_ranges::has_range_at(void const* address, kind expected) const {
  std::lock_guard const lock(mutex_);
  auto const found = ranges_.find(mutable_byte(address));
  return found != ranges_.end() && kind_of(found->second) == expected;
}

bool host_ranges::straddles(void const* address, std::size_t bytes) const {
  std::lock_guard const lock(mutex_);
  if (!overlaps_locked(address, bytes)) return false;
  auto const found = find_locked(address);
  return found == ranges_.end() ||
         !is_within(last_byte(address, bytes), found->second.data, found->second.bytes);
}

}  // namespace roc::host_hip
