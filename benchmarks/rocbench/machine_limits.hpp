// SPDX-License-Identifier: MIT
// The physical limits of a machine's rates.
#pragma once

#include <functional>

#include <roc/device.hpp>

#include "benchmark_case.hpp"
#include "rate_limit.hpp"
#include "run_environment.hpp"

namespace rocbench {

struct machine_limits {
  rate_limit link;           ///< between host and device, one direction
  rate_limit device_memory;  ///< traffic
  rate_limit host_copy;      ///< payload of a copy in host memory; host platform only
};

/// Calls `f` while copies keep the link busy: idle links slow down. Blocks until the copies are
/// done. Throws roc::error.
void with_busy_link(std::function<void()> const& f);

/// Determines the limits from sysfs and the device's attributes; on the host platform, measures
/// copies in host memory. Blocks until the measured copies have finished. Throws roc::error.
machine_limits find_machine_limits(roc::device const& device, run_environment const& environment);

/// Returns the limit of a case's rate.
rate_limit limit_of(benchmark_case const& benchmark, machine_limits const& limits);

}  // namespace rocbench
