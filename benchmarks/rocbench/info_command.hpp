// SPDX-License-Identifier: MIT
// The command `info`.
#pragma once

#include <roc/device.hpp>

#include "exit_code.hpp"

namespace rocbench {

/// Prints the device, its attributes, the physical limits and the host. Precondition: `device` is
/// current. Throws roc::error.
exit_code info(roc::device const& device);

}  // namespace rocbench
