// SPDX-License-Identifier: MIT
// The handlers of SIGSEGV and SIGTRAP of the access checker.
#pragma once

#include "platform/host/access_checker_state.hpp"

namespace roc::host_hip::access {

/// Returns the checker of the process, which is never destroyed. Its members share no page with
/// other memory. The first call installs the handlers.
checker& instance();

}  // namespace roc::host_hip::access
