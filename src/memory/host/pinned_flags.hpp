// SPDX-License-Identifier: MIT
// The flags of hipHostMalloc.
#pragma once

#include <roc/memory/host_memory.hpp>

namespace roc::memory {

/// Returns the flags of hipHostMalloc. Throws roc::error if the flags contradict each other.
unsigned native_flags(host_flags flags);
/// Returns the flags that the flags of hipHostMalloc stand for.
host_flags flags_of(unsigned native) noexcept;

}  // namespace roc::memory
