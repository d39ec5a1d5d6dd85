// SPDX-License-Identifier: MIT
// What hipcc's startup code tells the runtime about a program's kernels.
#pragma once

#include <optional>
#include <string>

namespace roc::hip_double {

/// The mangled device name of the kernel that `host_function` stands for in host code.
std::optional<std::string> kernel_name(void const* host_function);

}  // namespace roc::hip_double
