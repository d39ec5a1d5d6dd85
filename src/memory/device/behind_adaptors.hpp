// SPDX-License-Identifier: MIT
// Whose memory a resource hands out, where only adaptors of the library stand in front.
#pragma once

#include <typeinfo>

#include <roc/memory/memory_resource.hpp>
#include <roc/memory/adaptors.hpp>

namespace roc::memory {

inline memory_resource const& behind_adaptors(memory_resource const& front) {
  memory_resource const* behind = &front;
  for (;;) {
    // What users derive from resource_adaptor may cut and keep what it is given.
    std::type_info const& type = typeid(*behind);
    bool const passes_on = type == typeid(statistics_resource_adaptor) || type == typeid(limiting_resource_adaptor) ||
                           type == typeid(logging_resource_adaptor) || type == typeid(failing_resource_adaptor) ||
                           type == typeid(zeroing_resource_adaptor);
    if (!passes_on) return *behind;
    behind = &static_cast<resource_adaptor const*>(behind)->upstream();
  }
}

}  // namespace roc::memory
