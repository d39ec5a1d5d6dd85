// SPDX-License-Identifier: MIT
#include "memory/device/memory_kind.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <system_error>

#include <roc/error.hpp>

namespace roc::memory {

void check_device_memory(memory_resource const& resource) {
  std::optional<host_memory> const kind = resource.host_kind();
  if (!kind || *kind == host_memory::managed) return;
  throw error(std::make_error_code(std::errc::invalid_argument),
              std::string("the memory resource allocates ") + name_of(*kind) +
                  " host memory, which cannot hold a device array; use a resource of device or "
                  "managed memory, or a host_array");
}

char const* name_of(host_memory kind) noexcept {
  constexpr char const* names[] = {"pageable", "pinned", "mapped", "managed"};
  return names[static_cast<std::size_t>(kind)];
}

}  // namespace roc::memory
