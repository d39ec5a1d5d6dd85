// SPDX-License-Identifier: MIT
#include <roc/detail/resource_adapter.hpp>

#include <cstdio>
#include <optional>
#include <string>
#include <system_error>

#include "base/error.hpp"
#include "memory/device/memory_kind.hpp"

namespace roc::detail {

void check_accessible(memory_resource const& resource, bool from_host, bool from_device) {
  std::optional<host_memory> const kind = resource.host_kind();
  char const* const name = kind ? memory::name_of(*kind) : "device";
  char const* missing = nullptr;
  if (from_host && !kind) missing = "the host";
  if (from_device && kind == host_memory::pageable) missing = "the device";
  if (missing == nullptr) return;
  throw error(std::make_error_code(std::errc::invalid_argument),
              std::string("the memory resource allocates ") + name + " memory, which " + missing +
                  " cannot access; use a resource of pinned or managed memory");
}

void log_failed_deallocation(void const* data, char const* message) noexcept {
  char text[300];
  std::snprintf(text, sizeof text, "the deallocation of memory at %p failed: %s", data, message);
  base::log_error(text);
}

}  // namespace roc::detail
