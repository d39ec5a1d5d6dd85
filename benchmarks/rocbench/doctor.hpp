// SPDX-License-Identifier: MIT
// The command `doctor`: what slows copies down on this machine, and how to mend it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <roc/device.hpp>

#include "exit_code.hpp"

namespace rocbench {

enum class diagnosis_state : unsigned char {
  ok,
  wrong,
  unknown,  ///< the machine does not report the value
};

/// One line of the report.
struct diagnosis {
  diagnosis_state state;
  std::string subject;
  std::string found;     ///< the value, or why it is unknown
  std::string expected;  ///< what the value should be; empty if it is not wrong
  std::string remedy;    ///< how to mend it; empty if it is not wrong
};

/// Examines the files of /sys and /proc that concern host memory and the CPU.
/// @param root directory that contains sys and proc
std::vector<diagnosis> examine_host(std::filesystem::path const& root = "/");

/// Examines the files of /sys and /proc that concern a PCI device. Its link must be busy, because
/// idle links slow down.
/// @param bus_id PCI address such as "0000:c1:00.0"
/// @param throttling why the driver holds the clocks down, as throttle_reasons() returns it; may be empty
std::vector<diagnosis> examine_device(std::string const& bus_id, std::string const& throttling,
                                      std::filesystem::path const& root = "/");

/// Prints what examine_host() and, on a GPU, examine_device() find. Returns `regression` if
/// anything is wrong. Precondition: `device` is current. Throws roc::error.
exit_code doctor(roc::device const& device);

}  // namespace rocbench
