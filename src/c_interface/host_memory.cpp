// SPDX-License-Identifier: MIT
// Host memory and registration.
#include <roc/c.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <roc/detail/host_storage.hpp>
#include <roc/error.hpp>
#include <roc/memory/host_memory.hpp>
#include <roc/memory/mapped_view.hpp>
#include <roc/registration.hpp>

#include "c_interface/call.hpp"
#include "c_interface/handle_table.hpp"
#include "c_interface/handles.hpp"

namespace roc::c_interface {
namespace {

struct host_memory_table : address_table<detail::host_storage> {
  host_memory_table() noexcept : address_table("host memory", "roc_allocate_host") {}
};

constexpr std::uint32_t known_host_flags = ROCARRAY_MEMORY_PORTABLE |
                                           ROCARRAY_MEMORY_WRITE_COMBINED |
                                           ROCARRAY_MEMORY_COHERENT | ROCARRAY_MEMORY_NON_COHERENT;
static_assert(ROCARRAY_MEMORY_PORTABLE == static_cast<unsigned>(host_flags::portable) &&
              ROCARRAY_MEMORY_WRITE_COMBINED == static_cast<unsigned>(host_flags::write_combined) &&
              ROCARRAY_MEMORY_COHERENT == static_cast<unsigned>(host_flags::coherent) &&
              ROCARRAY_MEMORY_NON_COHERENT == static_cast<unsigned>(host_flags::non_coherent));
static_assert(ROCARRAY_MEMORY_PINNED == static_cast<int>(host_memory::pinned) &&
              ROCARRAY_MEMORY_MAPPED == static_cast<int>(host_memory::mapped) &&
              ROCARRAY_MEMORY_MANAGED == static_cast<int>(host_memory::managed));

detail::host_storage allocate_host(std::int32_t kind, std::uint32_t flags, std::size_t bytes) {
  if (kind < ROCARRAY_MEMORY_PINNED || kind > ROCARRAY_MEMORY_MANAGED) {
    throw_invalid("the kind of host memory is invalid: " + std::to_string(kind) +
                  "; use an enumerator of roc_host_memory");
  }
  check_flags(flags, kind == ROCARRAY_MEMORY_MANAGED ? 0 : known_host_flags, "roc_host_flags");
  if (bytes > PTRDIFF_MAX) {
    throw out_of_memory(std::make_error_code(std::errc::not_enough_memory),
                        "cannot allocate " + std::to_string(bytes) +
                            " bytes: the size is larger than the address space");
  }
  return {bytes, static_cast<host_memory>(kind), static_cast<host_flags>(flags)};
}

// Throws roc::error unless [data, data + bytes) is a range of addresses.
void check_range(void const* data, std::size_t bytes) {
  if (bytes == 0) return;
  if (data == nullptr) throw lifetime_error("a range of host memory is null; pass its address");
  std::uintptr_t end = 0;
  if (bytes > PTRDIFF_MAX ||
      __builtin_add_overflow(reinterpret_cast<std::uintptr_t>(data), bytes, &end)) {
    throw shape_error("a range of host memory of " + std::to_string(bytes) +
                      " bytes leaves the address space; use its size in bytes");
  }
}

std::vector<detail::host_extent> extents_of(roc_host_range const* ranges, std::size_t count) {
  if (count != 0) require(ranges, "ranges");
  std::vector<detail::host_extent> extents;
  for (std::size_t i = 0; i < count; ++i) {
    check_range(ranges[i].data, ranges[i].bytes);
    extents.push_back({ranges[i].data, ranges[i].bytes});
  }
  return extents;
}

}  // namespace
}  // namespace roc::c_interface

using namespace roc::c_interface;

// Host memory

roc_status roc_allocate_host(int32_t kind, uint32_t flags, size_t bytes, void** data) {
  return run("roc_allocate_host", [&] {
    require(data, "data");
    auto storage = allocate_host(kind, flags, bytes);
    void* const address = storage.data();
    if (address != nullptr) table<host_memory_table>().add(address, std::move(storage));
    *data = address;
  });
}

roc_status roc_free_host(void* data) {
  return run("roc_free_host", [&] {
    if (data != nullptr) table<host_memory_table>().remove(data);
  });
}

roc_status roc_device_address(void* data, size_t bytes, void** address) {
  return run("roc_device_address", [&] {
    require(address, "address");
    check_range(data, bytes);
    *address = bytes == 0 ? nullptr : roc::detail::device_address_of(data, bytes, false).data;
  });
}

roc_status roc_register_host(roc_host_range const* ranges, size_t count, uint32_t flags) {
  return run("roc_register_host", [&] {
    check_flags(flags,
                ROCARRAY_REGISTER_MAPPED | ROCARRAY_REGISTER_PORTABLE |
                    ROCARRAY_REGISTER_READ_ONLY | ROCARRAY_REGISTER_HUGE_PAGES,
                "roc_register_flags");
    auto const extents = extents_of(ranges, count);
    roc::registration_options options;
    options.mapped = (flags & ROCARRAY_REGISTER_MAPPED) != 0;
    options.portable = (flags & ROCARRAY_REGISTER_PORTABLE) != 0;
    options.read_only = (flags & ROCARRAY_REGISTER_READ_ONLY) != 0;
    options.huge_pages = (flags & ROCARRAY_REGISTER_HUGE_PAGES) != 0;
    roc::detail::register_extents(extents.data(), extents.size(), options);
  });
}

roc_status roc_deregister(roc_host_range const* ranges, size_t count) {
  return run("roc_deregister", [&] {
    auto const extents = extents_of(ranges, count);
    roc::detail::deregister_extents(extents.data(), extents.size());
  });
}
