// SPDX-License-Identifier: MIT
// Ctrl-C: asked for once, measuring ends after the sample at hand and what there is gets written.
#pragma once

namespace rocbench {

/// From now on SIGINT and SIGTERM are noted; the second one ends the process as ever.
void note_interrupts();
/// Whether one came.
bool interrupted() noexcept;

}  // namespace rocbench
