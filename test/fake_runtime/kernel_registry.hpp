// SPDX-License-Identifier: MIT
// The kernels of a program, as hipcc's startup code registers them.
#pragma once

#include <optional>
#include <string>

namespace roc::fake_runtime {

/// Returns the mangled device name of the kernel that `host_function` identifies in host code, or
/// nothing if it does not identify a kernel.
std::optional<std::string> kernel_name(void const* host_function);

}  // namespace roc::fake_runtime
