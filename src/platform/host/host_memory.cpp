// SPDX-License-Identifier: MIT
#include "platform/host/host_memory.hpp"

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

// Under ROCm a device may know registered memory by another address. This one cannot be touched:
// who mistakes it for the host's faults.
std::byte* device_address(std::byte* data, std::size_t bytes) {
  if (the_settings().registration == rules::cuda) return data;
  void* const shadow =
      mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return shadow == MAP_FAILED ? data : static_cast<std::byte*>(shadow);
}

// Locked memory is there: more than the machine has cannot be had, whatever the system would
// promise.
bool exceeds_machine(std::size_t bytes) {
  static auto const machine = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                              static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes > machine;
}

// Whether all of it is memory of the process: there is nothing to pin behind its end.
bool is_mapped(void* data, std::size_t bytes) {
  static auto const size = static_cast<std::uintptr_t>(getpagesize());
  auto const begin = reinterpret_cast<std::uintptr_t>(data) / size * size;
  auto const end = reinterpret_cast<std::uintptr_t>(data) + bytes;
  // Asynchronous: it looks at the mappings and writes nothing.
  return msync(reinterpret_cast<void*>(begin), end - begin, MS_ASYNC) == 0;
}

// The key of an address in the table.
std::byte* mutable_byte(void const* address) {
  return const_cast<std::byte*>(static_cast<std::byte const*>(address));
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
  constexpr unsigned contrary = 0x40000000u | 0x80000000u;
  if ((flags & ~known) != 0 || (flags & contrary) == contrary) return hipErrorInvalidValue;
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
  if (exceeds_machine(bytes)) return hipErrorOutOfMemory;
  void* const made = ::operator new(bytes, page, std::nothrow);
  if (made == nullptr) return hipErrorOutOfMemory;
  auto* const first = static_cast<std::byte*>(made);
  std::lock_guard const lock(mutex_);
  // What was freed while it was registered may lie here: that registration is over.
  ranges_.insert_or_assign(first, host_range{first, bytes, flags, false, first, 1, managed});
  *data = made;
  return hipSuccess;
}

hipError_t host_ranges::free(void* data, bool managed) {
  if (data == nullptr) return hipSuccess;
  std::lock_guard const lock(mutex_);
  auto const found = ranges_.find(static_cast<std::byte*>(data));
  kind const wanted = managed ? kind::managed : kind::pinned;
  if (found == ranges_.end() || kind_of(found->second) != wanted) return hipErrorInvalidValue;
  ranges_.erase(found);
  ::operator delete(data, page);
  return hipSuccess;
}

host_ranges::kind host_ranges::kind_of(host_range const& range) {
  if (range.registered) return kind::registered;
  return range.managed ? kind::managed : kind::pinned;
}

// Holding the lock.
bool host_ranges::overlaps(void const* data, std::size_t bytes) const {
  void const* const last = last_byte(data, bytes);
  if (the_settings().registration == rules::cuda) {
    // Ranges do not overlap: the one that begins last before the end is the one to ask.
    auto const behind = ranges_.upper_bound(mutable_byte(last));
    if (behind == ranges_.begin()) return false;
    host_range const& range = std::prev(behind)->second;
    return within(data, range.data, range.bytes) || within(range.data, data, bytes);
  }
  return std::any_of(ranges_.begin(), ranges_.end(), [&](auto const& entry) {
    host_range const& range = entry.second;
    return within(data, range.data, range.bytes) || within(last, range.data, range.bytes) ||
           within(range.data, data, bytes);
  });
}

hipError_t host_ranges::add(void* data, std::size_t bytes, unsigned flags) {
  constexpr unsigned known = 0xFu;
  if (data == nullptr || bytes == 0 || (flags & ~known) != 0) return hipErrorInvalidValue;
  if (bytes - 1 > UINTPTR_MAX - reinterpret_cast<std::uintptr_t>(data)) return hipErrorInvalidValue;
  if (!is_mapped(data, bytes)) return hipErrorInvalidValue;
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
      first, host_range{first, bytes, flags, true, device_address(first, bytes), 1, false});
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

// Holding the lock. The innermost range, as the one that begins last.
host_ranges::table::const_iterator host_ranges::holding(void const* address) const {
  for (auto place = ranges_.upper_bound(mutable_byte(address)); place != ranges_.begin();) {
    --place;
    if (within(address, place->second.data, place->second.bytes)) return place;
    // There ranges do not overlap, and have one address.
    if (the_settings().registration == rules::cuda) return ranges_.end();
  }
  return std::find_if(ranges_.begin(), ranges_.end(), [&](auto const& entry) {
    host_range const& range = entry.second;
    return range.device != range.data && within(address, range.device, range.bytes);
  });
}

std::optional<host_range> host_ranges::find(void const* address) const {
  std::lock_guard const lock(mutex_);
  auto const place = holding(address);
  if (place == ranges_.end()) return std::nullopt;
  return place->second;
}

bool host_ranges::begins(void const* address, kind which) const {
  std::lock_guard const lock(mutex_);
  auto const place = ranges_.find(mutable_byte(address));
  return place != ranges_.end() && kind_of(place->second) == which;
}

bool host_ranges::straddles(void const* address, std::size_t bytes) const {
  std::lock_guard const lock(mutex_);
  if (!overlaps(address, bytes)) return false;
  auto const place = holding(address);
  return place == ranges_.end() ||
         !within(last_byte(address, bytes), place->second.data, place->second.bytes);
}

}  // namespace roc::host_hip
