// SPDX-License-Identifier: MIT
#include "preload/loaded_object.hpp"

#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string_view>

// The linker defines these at the first and after the last byte of this object.
extern "C" {
[[gnu::visibility("hidden")]] extern char const __ehdr_start[];
[[gnu::visibility("hidden")]] extern char const _end[];
}

namespace roc::preload {
namespace {

base::byte_range range_of(dl_phdr_info const& info) noexcept {
  base::byte_range result{UINTPTR_MAX, 0};
  for (int i = 0; i != info.dlpi_phnum; ++i) {
    auto const& segment = info.dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    std::uintptr_t const begin = info.dlpi_addr + segment.p_vaddr;
    result = base::bounding_range(result, {begin, begin + segment.p_memsz});
  }
  return result;
}

struct search {
  void const* address;
  loaded_object& found;
};

int stop_at_address(dl_phdr_info* info, std::size_t, void* data) noexcept {
  auto const& [address, found] = *static_cast<search const*>(data);
  base::byte_range const range = range_of(*info);
  if (!contains(range, address)) return 0;
  found.range = range;
  std::string_view const path = info->dlpi_name;
  std::snprintf(found.file, sizeof found.file, "%s", path.data() + (path.rfind('/') + 1));
  return 1;
}

}  // namespace

bool find_object(void const* address, loaded_object& found) noexcept {
  search data{address, found};
  return dl_iterate_phdr(stop_at_address, &data) != 0;
}

base::byte_range own_range() noexcept {
  return {reinterpret_cast<std::uintptr_t>(__ehdr_start), reinterpret_cast<std::uintptr_t>(_end)};
}

}  // namespace roc::preload
