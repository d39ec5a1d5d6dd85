// SPDX-License-Identifier: MIT
// Ctrl-C: the measurement ends after the current sample, and the results so far are written.
#pragma once

namespace rocbench {

/// Installs handlers that record the first SIGINT or SIGTERM. A second one ends the process.
void handle_interrupts();
/// Returns true after the first signal.
bool interrupted() noexcept;

}  // namespace rocbench
