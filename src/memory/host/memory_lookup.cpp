// SPDX-License-Identifier: MIT
#include "memory/host/memory_lookup.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>

#include <roc/detail/locate.hpp>
#include <roc/error.hpp>

#include "base/memory_maps.hpp"
#include "layout/region_bounds.hpp"
#include "memory/device/allocation_map.hpp"
#include "memory/host/device_aliases.hpp"
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
  auto const found = allocation_map::instance().classify(reinterpret_cast<void const*>(address));
  switch (found.state) {
    case allocation_map::memory_state::unknown: return {};
    case allocation_map::memory_state::free:
      throw lifetime_error(std::string(name) + ", " + to_string(range) +
                           ", is memory of an array that was destroyed; keep the array alive until "
                           "the copy has finished");
    case allocation_map::memory_state::in_use: break;
  }
  return {.kind = native_kind::device, .device = found.device, .device_address = address};
}

// Returns what HIP knows about an address.
platform::pointer_information query_address(std::uintptr_t address) {
  auto found = platform::query_pointer(reinterpret_cast<void const*>(address));
  // This is the address that kernels use for mapped host memory; the CPU cannot use it.
  if (found.kind == native_kind::host && found.host_address != address &&
      found.device_address == address) {
    found.kind = native_kind::device;
  }
  return found;
}

// Returns what the allocation map or else HIP knows about an address. Throws as find_allocation.
platform::pointer_information find_address(std::uintptr_t address, base::byte_range range,
                                           char const* name) {
  auto const known = find_allocation(address, range, name);
  return known.kind != native_kind::unregistered ? known : query_address(address);
}

// No process can access addresses below this one.
constexpr std::uintptr_t lowest_address = 4096;

// Returns false if the CPU cannot read the address. The kernel reads the signal mask at the address
// before it rejects the first argument, and reports an invalid address instead of a signal. Null
// counts as readable, because the kernel reads nothing then.
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
  bool const is_in_first_page = address < lowest_address;
  bool const may_become_accessible = has_fault_handler() && !found.is_freed;
  if (!is_in_first_page && (is_readable(address) || may_become_accessible)) return;
  throw lifetime_error(std::string(name) + ", " + to_string(range) +
                       ", is not allocated: neither HIP nor the CPU can access it; use memory "
                       "that has not been freed");
}

// Returns the beginning of the page of an address.
std::uintptr_t page_of(std::uintptr_t address) noexcept {
  static auto const page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  return address / page * page;
}

// Returns the result of the call: 0, or the number of the error.
int populate_for_writing(std::uintptr_t address) noexcept {
  constexpr int madv_populate_write = 23;  // since Linux 5.14, and glibc 2.35
  int const saved = errno;
  void* const page = reinterpret_cast<void*>(page_of(address));
  int const result = ::madvise(page, 1, madv_populate_write) == 0 ? 0 : errno;
  errno = saved;
  return result;
}

// Returns false if the list of the process's mappings says that the address must not be written.
bool is_in_writable_mapping(std::uintptr_t address) noexcept {
  base::mapping_reader maps;
  for (base::mapping found; maps.next(found);) {
    if (found.begin <= address && address < found.end) return (found.protection & PROT_WRITE) != 0;
  }
  return true;  // the system does not tell
}

// Returns false if the CPU must not write the address. The kernel prepares the page for writes,
// without writing to it, and returns EINVAL for pages without permission. EINVAL also means a
// special mapping, so that /proc/self/maps decides.
bool is_writable(std::uintptr_t address) noexcept {
  static bool const is_supported = [] {
    int on_stack = 0;
    return populate_for_writing(reinterpret_cast<std::uintptr_t>(&on_stack)) == 0;
  }();
  if (!is_supported || populate_for_writing(address) != EINVAL) return true;
  return is_in_writable_mapping(address);
}

// Throws roc::error if the first or the last byte of pageable memory must not be written.
void check_is_writable(base::byte_range range, char const* name) {
  if (has_fault_handler()) return;
  std::uintptr_t const last = range.end - 1;
  bool const is_one_page = page_of(range.begin) == page_of(last);
  if (is_writable(range.begin) && (is_one_page || is_writable(last))) return;
  throw error(std::make_error_code(std::errc::permission_denied),
              std::string(name) + ", " + to_string(range) +
                  ", is in memory that must not be written; use memory whose pages are writable");
}

location_kind kind_of(platform::pointer_information const& found) noexcept {
  switch (found.kind) {
    case native_kind::host: return location_kind::pinned;
    case native_kind::device: return location_kind::device;
    case native_kind::managed: return location_kind::managed;
    case native_kind::unregistered: break;
  }
  return location_kind::pageable;
}

located_memory location_of(platform::pointer_information const& found) {
  location_kind const kind = kind_of(found);
  if (kind != location_kind::device && kind != location_kind::managed) return {kind};
  return {kind, found.device >= 0 ? found.device : runtime::current_device()};
}

// Returns false if pinned memory consists of several allocations or registrations, possibly with
// pageable memory between them, for which HIP rejects a copy. Also false if HIP does not tell their
// bounds: the memory is then copied by the CPU, which always works.
bool is_in_one_block(base::byte_range range) {
  auto const block = platform::query_block(range.begin);
  return block && block->contains(range);
}

}  // namespace

located_memory look_up(base::byte_range range, char const* name, detail::operand_role role) {
  if (range.bytes() == 0) return {};
  // First the host table: the allocation map has the slabs of pools of host memory too.
  auto const known = find_in_host_table(range);
  bool const is_partly_known = known && known->kind == location_kind::partly_pinned;
  if (known && !is_partly_known) return *known;
  auto const first = find_address(range.begin, range, name);
  auto const last = find_address(range.end - 1, range, name);
  located_memory const begin = location_of(first);
  located_memory const end = location_of(last);
  if (!is_partly_known && begin.kind == end.kind && begin.device == end.device) {
    if (begin.kind == location_kind::pageable) {
      check_is_accessible(range.begin, first, range, name);
      check_is_accessible(range.end - 1, last, range, name);
      if (role == detail::operand_role::destination) check_is_writable(range, name);
    }
    if (begin.kind == location_kind::pinned && !is_in_one_block(range)) {
      return {location_kind::partly_pinned};
    }
    return begin;
  }
  if (!begin.is_on_device() && !end.is_on_device()) {
    return {location_kind::partly_pinned, -1, is_partly_known};
  }
  throw layout_error(std::string(name) + ", " + to_string(range) + ", begins in " +
                     describe(begin) + " and ends in " + describe(end) +
                     "; use the shape and the strides of one allocation");
}

std::optional<located_memory> find_in_host_table(base::byte_range range) {
  auto const known = host_table::instance().query_access(range, false);
  if (known.managed) return located_memory{location_kind::managed, -1, true};
  if (known.pinned) return located_memory{location_kind::pinned, -1, true};
  if (known.partly_pinned) return located_memory{location_kind::partly_pinned, -1, true};
  return std::nullopt;
}

void located_memory::apply_to(detail::strided_region& region) const noexcept {
  region.space = is_on_device() ? detail::memory_space::device : detail::memory_space::host;
  region.device = device;
  // If the table knows the memory, the copy looks there again: another thread may deregister it.
  bool const is_other_memory =
      kind == location_kind::pinned || (kind == location_kind::managed && is_on_device());
  region.is_untracked = is_other_memory && !is_in_host_table;
  region.is_partly_pinned = kind == location_kind::partly_pinned;
}

std::string describe(located_memory const& memory) {
  switch (memory.kind) {
    case location_kind::device: return "memory of device " + std::to_string(memory.device);
    case location_kind::managed: return "managed memory";
    case location_kind::pinned: return "pinned host memory";
    case location_kind::partly_pinned: return "host memory that is pinned in part";
    case location_kind::pageable: break;
  }
  return "pageable host memory";
}

}  // namespace roc::memory

namespace roc::detail {
namespace {

// Throws the error of memory that is stated to be where it is not.
[[noreturn]] void throw_wrong_statement(base::byte_range range, memory_location stated,
                                        memory::located_memory const& found, char const* name) {
  std::string const claim =
      stated.is_host() ? "host memory" : "memory of device " + std::to_string(stated.ordinal());
  throw error(std::make_error_code(std::errc::invalid_argument),
              std::string(name) + ", " + to_string(range) + ", is stated to be " + claim +
                  ", but it is " + memory::describe(found) +
                  "; pass its true location to at(), or do not call at()");
}

// Returns true if the library allocated the memory at `address`. Throws roc::error if it did so
// elsewhere than `stated`.
bool check_allocation(std::uintptr_t address, base::byte_range range, memory_location stated,
                      char const* name) {
  auto const found = memory::find_allocation(address, range, name);
  if (found.kind != native_detail::memory_kind::device) return false;
  if (found.device == stated.ordinal()) return true;
  throw_wrong_statement(range, stated, memory::location_of(found), name);
}

}  // namespace

void locate(strided_region& region, memory_location const* stated, operand_role role) {
  char const* const name = name_of(role);
  base::byte_range const range = layout::checked_bounds(region, name);
  if (stated == nullptr) return memory::look_up(range, name, role).apply_to(region);
  auto const known = range.bytes() != 0 ? memory::find_in_host_table(range) : std::nullopt;
  // Copies find mapped memory by the device addresses that the library has given out.
  bool const is_device_alias =
      !stated->is_host() && memory::device_aliases::instance().host_range_of(range).has_value();
  if (known && !stated->is_host() && !is_device_alias) {
    if (known->kind != memory::location_kind::managed) {
      throw_wrong_statement(range, *stated, *known, name);
    }
    check_device(stated->ordinal());
    return known->apply_to(region);
  }
  bool is_known = known || is_device_alias || range.bytes() == 0;
  if (!is_known) {
    bool const is_first_known = check_allocation(range.begin, range, *stated, name);
    is_known = check_allocation(range.end - 1, range, *stated, name) && is_first_known;
  }
  region.space = stated->is_host() ? memory_space::host : memory_space::device;
  region.device = stated->ordinal();
  // Later calls may access managed or pinned memory of other code by the CPU.
  region.is_untracked =
      !stated->is_host() && !is_known &&
      memory::query_address(range.begin).kind != native_detail::memory_kind::device;
}

}  // namespace roc::detail
