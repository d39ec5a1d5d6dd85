// SPDX-License-Identifier: MIT
#include "platform/host/host_ranges.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <new>

#include "base/memory_maps.hpp"
#include "base/no_destructor.hpp"
#include "base/round_up.hpp"
#include "platform/host/access_checker.hpp"
#include "platform/host/api_call.hpp"
#include "platform/host/current_device.hpp"
#include "platform/host/page_size.hpp"
#include "platform/host/settings.hpp"

namespace roc::host_hip {
namespace {

constexpr std::align_val_t page{4096};

// Returns the distance from the device address of a range to its snapshot: the bytes that both
// addresses had when they were last compared.
std::size_t snapshot_offset(std::size_t bytes) {
  return (bytes + page_size() - 1) / page_size() * page_size();
}

// Returns the device address of registered memory. Under the rules of ROCm it differs from the host
// address and is inaccessible, so that a program that confuses the two faults. Returns `data` if
// address space is exhausted.
std::byte* map_device_address(std::byte* data, std::size_t bytes) {
  if (!emulates_rocm()) return data;
  void* const shadow = mmap(nullptr, 2 * snapshot_offset(bytes), PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return shadow == MAP_FAILED ? data : static_cast<std::byte*>(shadow);
}

void unmap_device_address(host_range const& range) {
  if (range.device != range.data) munmap(range.device, 2 * snapshot_offset(range.bytes));
}

// Changes the access to the device address and the snapshot of a range.
void protect_device_address(host_range const& range, int protection) noexcept {
  mprotect(range.device, 2 * snapshot_offset(range.bytes), protection);
}

// Returns the 8 bytes at an address. The attribute is for exchange_changes: it does not extend to
// functions that are called and not inlined.
__attribute__((no_sanitize("thread"))) std::uint64_t word_at(std::byte const* data) noexcept {
  std::uint64_t value = 0;
  __builtin_memcpy(&value, data, sizeof value);
  return value;
}

// Copies each byte that differs from the snapshot on one side to the other side. The program may
// use other bytes of the range meanwhile, whose comparison is a data race without effect.
__attribute__((no_sanitize("thread"))) void exchange_changes(std::byte* host, std::byte* device,
                                                             std::byte* snapshot,
                                                             std::size_t bytes) noexcept {
  constexpr std::size_t word = sizeof(std::uint64_t);
  for (std::size_t i = 0; i < bytes; ++i) {
    while (bytes - i > word && word_at(host + i) == word_at(snapshot + i) &&
           word_at(device + i) == word_at(snapshot + i)) {
      i += word;
    }
    std::byte const on_host = host[i];
    std::byte const on_device = device[i];
    if (on_host != snapshot[i]) {
      device[i] = snapshot[i] = on_host;
    } else if (on_device != snapshot[i]) {
      host[i] = snapshot[i] = on_device;
    }
  }
}

// Returns true if `bytes` exceeds the physical memory: pinned memory cannot be overcommitted.
bool exceeds_physical_memory(std::size_t bytes) {
  static auto const physical = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                               static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes > physical;
}

// Returns true if all pages of the range are mapped and allow the access that a registration needs:
// to write, or only to read. Throws std::bad_alloc if the mappings cannot be read.
bool is_accessible(void const* data, std::size_t bytes, bool read_only) {
  accessible_scope const memory;
  base::mapping_reader maps;
  if (!maps.is_open()) throw std::bad_alloc();
  auto next = reinterpret_cast<std::uintptr_t>(data);
  auto const last = reinterpret_cast<std::uintptr_t>(last_byte(data, bytes));
  for (base::mapping found; maps.next(found);) {
    if (found.end <= next) continue;
    bool const is_allowed = (found.protection & (read_only ? PROT_READ : PROT_WRITE)) != 0;
    if (found.begin > next || !is_allowed) return false;
    if (found.end > last) return true;
    next = found.end;
  }
  return false;
}

// Returns the key of an address in the table.
std::byte* mutable_byte(void const* address) {
  return const_cast<std::byte*>(static_cast<std::byte const*>(address));
}

}  // namespace

host_ranges& host_ranges::instance() noexcept {
  static base::no_destructor<host_ranges> instance;  // operations use it, which cannot throw
  return *instance;
}

hipError_t host_ranges::allocate(void** data, std::size_t bytes, unsigned flags) {
  constexpr unsigned coherent = 0x40000000u;
  constexpr unsigned non_coherent = 0x80000000u;
  constexpr unsigned valid_flags = 0x7u | hipHostMallocNumaUser | coherent | non_coherent;
  constexpr unsigned contradictory = coherent | non_coherent;
  bool const accepts_unknown_flags = host_settings().emulated >= runtime_rules::rocm6;
  bool const has_unknown_flags = (flags & ~valid_flags) != 0;
  if ((has_unknown_flags && !accepts_unknown_flags) || (flags & contradictory) == contradictory) {
    return hipErrorInvalidValue;
  }
  return add_allocated(data, bytes, flags, false);
}

hipError_t host_ranges::allocate_managed(void** data, std::size_t bytes, unsigned flags) {
  bool const is_attachment = flags == hipMemAttachGlobal || flags == hipMemAttachHost;
  if (bytes == 0 || !is_attachment) return hipErrorInvalidValue;
  return add_allocated(data, bytes, flags, true);
}

hipError_t host_ranges::add_allocated(void** data, std::size_t bytes, unsigned flags,
                                      bool managed) {
  if (data == nullptr) return hipErrorInvalidValue;
  *data = nullptr;
  if (bytes == 0) return hipSuccess;
  if (exceeds_physical_memory(bytes)) return hipErrorOutOfMemory;
  // With the checker on, other memory must not share the pages. With it off, the size stays exact,
  // so that sanitizers find accesses beyond the end.
  std::size_t const size = tracks_work() ? base::round_up(bytes, page_size()) : bytes;
  void* const memory = ::operator new(size, page, std::nothrow);
  if (memory == nullptr) return hipErrorOutOfMemory;
  auto* const first = static_cast<std::byte*>(memory);
  std::lock_guard const lock(mutex_);
  // Replaces the registration of memory that the program freed without deregistering it.
  try {
    ranges_.insert_or_assign(
        first, host_range{first, bytes, flags, false, first, 1, managed, current_device()});
  } catch (std::bad_alloc const&) {
    ::operator delete(memory, page);
    return hipErrorOutOfMemory;
  }
  *data = memory;
  return hipSuccess;
}

hipError_t host_ranges::free(void* data) {
  std::lock_guard const lock(mutex_);
  auto const found = ranges_.find(static_cast<std::byte*>(data));
  if (found == ranges_.end() || found->second.registered) return hipErrorInvalidValue;
  ranges_.erase(found);
  ::operator delete(data, page);
  return hipSuccess;
}

bool host_ranges::overlaps_locked(void const* data, std::size_t bytes) const {
  void const* const last = last_byte(data, bytes);
  if (!emulates_rocm()) {
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
  constexpr unsigned read_only = 0x8u;  // hipHostRegisterReadOnly, which old HIP has no name for
  bool const is_read_only = (flags & read_only) != 0;
  if (!is_accessible(data, bytes, is_read_only)) return hipErrorInvalidValue;
  auto* const first = static_cast<std::byte*>(data);
  std::lock_guard const lock(mutex_);
  if (overlaps_locked(first, bytes)) {
    auto const enclosing = find_locked(data);
    bool const is_in_allocation = enclosing != ranges_.end() && !enclosing->second.registered;
    if (emulates_rocm() && is_in_allocation) return hipErrorInvalidValue;
    switch (host_settings().emulated) {
      case runtime_rules::cuda:
      case runtime_rules::cuda13: return hipErrorHostMemoryAlreadyRegistered;
      case runtime_rules::rocm7:
        // New ROCm refuses a range whose first byte is registered, and no other overlap.
        if (enclosing != ranges_.end()) return hipErrorHostMemoryAlreadyRegistered;
        break;
      case runtime_rules::rocm6:
        // ROCm 6 refuses no overlap and does not count: the second registration of an address
        // replaces the first one, whose device address stays mapped.
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
  host_range const added{first, bytes, flags,           true, map_device_address(first, bytes),
                         1,     false, current_device()};
  try {
    ranges_.insert_or_assign(first, added);
  } catch (...) {
    unmap_device_address(added);
    throw;
  }
  return hipSuccess;
}

hipError_t host_ranges::remove(void* data) {
  std::lock_guard const lock(mutex_);
  auto const found = ranges_.find(static_cast<std::byte*>(data));
  if (found == ranges_.end()) {
    if (!emulates_rocm() || find_locked(data) == ranges_.end()) {
      return hipErrorHostMemoryNotRegistered;
    }
    return undefined_call(
        "hipHostUnregister was called with an interior pointer, which may abort the process under "
        "ROCm; pass the pointer that was registered",
        hipErrorHostMemoryNotRegistered);
  }
  if (!found->second.registered) {
    if (!emulates_rocm()) return hipErrorHostMemoryNotRegistered;
    return undefined_call(
        "hipHostUnregister was called with memory of hipHostMalloc or hipMallocManaged, which is "
        "torn down under ROCm; free it instead",
        hipErrorHostMemoryNotRegistered);
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
    if (!emulates_rocm()) return ranges_.end();
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

bool host_ranges::is_registered_at(void const* address) const {
  std::lock_guard const lock(mutex_);
  auto const found = ranges_.find(mutable_byte(address));
  return found != ranges_.end() && found->second.registered;
}

std::byte* host_ranges::device_address(void const* host) {
  std::lock_guard const lock(mutex_);
  auto const found = find_locked(host);
  if (found == ranges_.end() || !is_within(host, found->second.data, found->second.bytes)) {
    return nullptr;
  }
  host_range& range = ranges_.find(found->first)->second;
  if (range.device != range.data && !range.is_exposed) {
    range.is_exposed = true;
    if (open_count_ != 0) {
      protect_device_address(range, PROT_READ | PROT_WRITE);
      exchange_changes_locked();
    }
  }
  return range.device + (static_cast<std::byte const*>(host) - range.data);
}

void host_ranges::exchange_changes_locked() noexcept {
  for (auto const& [address, range] : ranges_) {
    if (!range.is_exposed) continue;
    exchange_changes(range.data, range.device, range.device + snapshot_offset(range.bytes),
                     range.bytes);
  }
}

void host_ranges::open_device_addresses() noexcept {
  std::lock_guard const lock(mutex_);
  if (open_count_++ == 0) {
    for (auto const& [address, range] : ranges_) {
      if (range.is_exposed) protect_device_address(range, PROT_READ | PROT_WRITE);
    }
  }
  exchange_changes_locked();
}

void host_ranges::close_device_addresses() noexcept {
  std::lock_guard const lock(mutex_);
  exchange_changes_locked();
  if (--open_count_ != 0) return;
  for (auto const& [address, range] : ranges_) {
    if (range.is_exposed) protect_device_address(range, PROT_NONE);
  }
}

bool host_ranges::straddles(void const* address, std::size_t bytes) const {
  std::lock_guard const lock(mutex_);
  if (!overlaps_locked(address, bytes)) return false;
  auto const found = find_locked(address);
  // ROCm looks only for a range that contains the first byte.
  if (found == ranges_.end() && emulates_rocm()) return false;
  return found == ranges_.end() ||
         !is_within(last_byte(address, bytes), found->second.data, found->second.bytes);
}

}  // namespace roc::host_hip
