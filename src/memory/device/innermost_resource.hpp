// SPDX-License-Identifier: MIT
#pragma once

#include <typeinfo>

#include <roc/memory/adaptors.hpp>
#include <roc/memory/memory_resource.hpp>

namespace roc::memory {

/// Returns the resource whose blocks `resource` hands out unchanged: the upstream of all adaptors
/// of this library, or `resource` itself. A class that a user derives from resource_adaptor ends
/// the search, because it may divide or cache the blocks of its upstream.
inline memory_resource const& innermost_resource(memory_resource const& resource) {
  memory_resource const* current = &resource;
  for (;;) {
    std::type_info const& type = typeid(*current);
    bool const forwards_blocks =
        type == typeid(statistics_resource_adaptor) || type == typeid(limiting_resource_adaptor) ||
        type == typeid(logging_resource_adaptor) || type == typeid(failing_resource_adaptor) ||
        type == typeid(zeroing_resource_adaptor);
    if (!forwards_blocks) return *current;
    current = &static_cast<resource_adaptor const*>(current)->upstream();
  }
}

}  // namespace roc::memory
