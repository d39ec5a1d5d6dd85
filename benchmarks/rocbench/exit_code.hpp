// SPDX-License-Identifier: MIT
// What the process ends with.
#pragma once

#include <string>

namespace rocbench {

enum class exit_code : int {
  ok = 0,
  usage = 1,  ///< the command line, a file, or a call that failed
  mismatch = 2,
  regression = 3,      ///< slower than before, or below a threshold
  noisy = 4,           ///< only where --strict asks for it
  nothing_to_run = 5,  ///< no device, or no case of that name
  skipped = 77,        ///< all cases: this device can do none of them
  interrupted = 130,   ///< as a shell says it of a process that Ctrl-C ended
};

/// Says the problem on stderr; returns the code.
exit_code fail(exit_code code, std::string const& problem);

}  // namespace rocbench
