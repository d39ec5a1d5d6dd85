// SPDX-License-Identifier: MIT
// Which arrays the memory of a resource can hold.
#pragma once

#include <roc/memory/host_memory.hpp>
#include <roc/memory/memory_resource.hpp>

namespace roc::memory {

/// Throws roc::error (invalid_argument) if device arrays cannot be in the memory of the resource.
void check_device_memory(memory_resource const& resource);
/// Returns the name of a kind of host memory, for messages.
char const* name_of(host_memory kind) noexcept;

}  // namespace roc::memory
