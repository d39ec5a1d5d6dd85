// SPDX-License-Identifier: MIT
#include "memory/host/memory_lookup.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>

#include <roc/detail/locate.hpp>
#include <roc/error.hpp>

#include "layout/region_bounds.hpp"
#include "memory/device/allocation_map.hpp"
#include "memory/device/pool_slab.hpp"
#include "memory/host/host_table.hpp"
#include "platform/pointer.hpp"
#include "runtime/current_device.hpp"

namespace roc::memory {
namespace {

using native_kind = native_detail::memory_kind;

// Returns what the allocation map knows about an address; `unregistered` if it is not in device
// memory that the library allocated or adopted, as in pools of host memory. Throws lifetime_error
// if a pool has the memory.
platform::pointer_information find_allocation(std::uintptr_t address, base::byte_range range,
                                              char const* name) {
  auto const* const data = reinterpret_cast<void const*>(address);
  auto& map = allocation_map::instance();
  allocation_record const* const record = map.find(data);
  bool const is_free =
      record == nullptr
          ? map.is_in_slab(data)
          : record->pool != nullptr && !static_cast<pool_block const*>(record)->is_allocated.load();
  if (is_free) {
    throw lifetime_error(std::string(name) + ", " + to_string(range) +
                         ", is memory of an array that was destroyed; use an array that lives");
  }
  if (record == nullptr) return {};
  if (record->pool != nullptr && static_cast<pool_block const*>(record)->is_host_memory) return {};
  return {.kind = native_kind::device,
          .device = record->allocation_stream.device(),
          .device_address = address};
}

platform::pointer_information find_address(std::uintptr_t address, base::byte_range range,
                                           char const* name) {
  auto known = find_allocation(address, range, name);
  if (known.kind != native_kind::unregistered) return known;
  auto found = platform::query_pointer(reinterpret_cast<void const*>(address));
  // The address of mapped host memory for kernels is not one for the CPU.
  if (found.kind == native_kind::host && found.host_address != address &&
      found.device_address == address) {
    found.kind = native_kind::device;
  }
  return found;
}

// Returns false if the CPU cannot read the address. The kernel reads the signal mask at the address
// before it rejects the first argument, and reports an invalid address instead of a signal.
bool is_readable(std::uintptr_t address) noexcept {
  int const saved = errno;
  constexpr std::size_t mask_bytes = 8;
  long const result =
      ::syscall(SYS_rt_sigprocmask, -1, address / mask_bytes * mask_bytes, nullptr, mask_bytes);
  bool const is_fault = result != 0 && errno == EFAULT;
  errno = saved;
  return !is_fault;
}

// Returns true if the program or a tool handles SIGSEGV. It may then make memory inaccessible on
// purpose, and accessible at an access, as the synchronization check does.
bool has_fault_handler() noexcept {
  struct sigaction action = {};
  return ::sigaction(SIGSEGV, nullptr, &action) == 0 && action.sa_handler != SIG_DFL;
}

// Throws lifetime_error if the process cannot access an address that HIP does not know.
void check_is_accessible(std::uintptr_t address, platform::pointer_information const& found,
                         base::byte_range range, char const* name) {
  if (is_readable(address) || (has_fault_handler() && !found.is_rejected)) return;
  throw lifetime_error(std::string(name) + ", " + to_string(range) +
                       ", is not allocated: neither HIP nor the CPU can access it; use memory "
                       "that has not been freed");
}

memory_kind kind_of(platform::pointer_information const& found) noexcept {
  switch (found.kind) {
    case native_kind::host: return memory_kind::pinned;
    case native_kind::device: return memory_kind::device;
    case native_kind::managed: return memory_kind::managed;
    case native_kind::unregistered: break;
  }
  return memory_kind::pageable;
}

located_memory location_of(platform::pointer_information const& found) {
  memory_kind const kind = kind_of(found);
  if (kind != memory_kind::device && kind != memory_kind::managed) return {kind};
  return {kind, found.device >= 0 ? found.device : runtime::current_device()};
}

}  // namespace

located_memory look_up(base::byte_range range, char const* name) {
  if (range.bytes() == 0) return {};
  auto first = find_allocation(range.begin, range, name);
  if (first.kind == native_kind::unregistered) {
    auto const known = host_table::instance().query_access(range, false);
    if (known.managed) return {memory_kind::managed};
    if (known.pinned) return {memory_kind::pinned};
    if (known.partly_pinned) return {memory_kind::partly_pinned};
    first = find_address(range.begin, range, name);
  }
  auto const last = find_address(range.end - 1, range, name);
  located_memory const begin = location_of(first);
  located_memory const end = location_of(last);
  if (begin.kind == end.kind && begin.device == end.device) {
    if (begin.kind == memory_kind::pageable) {
      check_is_accessible(range.begin, first, range, name);
      check_is_accessible(range.end - 1, last, range, name);
    }
    bool const is_one_block = last.device_address - first.device_address == range.bytes() - 1;
    if (begin.kind == memory_kind::pinned && !is_one_block) return {memory_kind::partly_pinned};
    return begin;
  }
  if (!begin.is_on_device() && !end.is_on_device()) return {memory_kind::partly_pinned};
  throw layout_error(std::string(name) + ", " + to_string(range) + ", begins in " +
                     describe(begin) + " and ends in " + describe(end) +
                     "; use the shape and the strides of one allocation");
}

void located_memory::apply_to(detail::strided_region& region) const noexcept {
  region.space = is_on_device() ? detail::memory_space::device : detail::memory_space::host;
  region.device = device;
  region.is_pinned = kind == memory_kind::pinned;
  region.is_partly_pinned = kind == memory_kind::partly_pinned;
}

std::string describe(located_memory const& memory) {
  switch (memory.kind) {
    case memory_kind::device: return "memory of device " + std::to_string(memory.device);
    case memory_kind::managed: return "managed memory";
    case memory_kind::pinned: return "pinned host memory";
    case memory_kind::partly_pinned: return "host memory that is pinned in part";
    case memory_kind::pageable: break;
  }
  return "pageable host memory";
}

}  // namespace roc::memory

namespace roc::detail {
namespace {

// Throws roc::error if the library allocated the memory at `address` elsewhere than `stated`.
void check_statement(std::uintptr_t address, base::byte_range range, memory_location stated,
                     char const* name) {
  auto const found = memory::find_allocation(address, range, name);
  if (found.kind != native_detail::memory_kind::device || found.device == stated.ordinal()) return;
  std::string const claim =
      stated.is_host() ? "host memory" : "memory of device " + std::to_string(stated.ordinal());
  throw error(std::make_error_code(std::errc::invalid_argument),
              std::string(name) + ", " + to_string(range) + ", is stated to be " + claim +
                  ", but it is memory of device " + std::to_string(found.device) +
                  "; state its location, or none");
}

}  // namespace

void locate(strided_region& region, memory_location const* stated, char const* name) {
  base::byte_range const range = layout::checked_bounds(region, name);
  if (stated == nullptr) return memory::look_up(range, name).apply_to(region);
  if (range.bytes() != 0) {
    check_statement(range.begin, range, *stated, name);
    check_statement(range.end - 1, range, *stated, name);
  }
  region.space = stated->is_host() ? memory_space::host : memory_space::device;
  region.device = stated->ordinal();
}

}  // namespace roc::detail
