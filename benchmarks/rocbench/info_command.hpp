// SPDX-License-Identifier: MIT
// The command `info`.
#pragma once

#include <roc/device.hpp>

#include "exit_code.hpp"

namespace rocbench {

/// Prints the device, its attributes and limits. Throws roc::error.
exit_code info(roc::device const& device);

}  // namespace rocbench
