// SPDX-License-Identifier: MIT
// Describes the platform, device and machine of a run, and finds the physical limits of its rates.
#pragma once

#include <cstddef>
#include <functional>

#include <roc/device.hpp>

#include "benchmark_run.hpp"

namespace rocbench {

/// Queries the device and the operating system. On NVIDIA it starts nvidia-smi. Throws roc::error.
run_environment describe_environment(roc::device const& device);

/// Queries the state again, as the one after the run. Throws roc::error.
void record_final_state(run_environment& environment);

/// Returns the default size of a copy in bytes: large enough to saturate the device's link, at most
/// a quarter of the free device memory, a multiple of the page size.
std::size_t default_size(roc::device const& device, run_environment const& environment);

/// Calls `f` while copies keep the link busy: idle links slow down. Blocks until the copies are
/// done. Throws roc::error.
void with_busy_link(std::function<void()> const& f);

/// Determines the limits from sysfs and the device's attributes; on the host platform, measures
/// copies in host memory. Blocks until the measured copies have finished. Throws roc::error.
machine_limits find_machine_limits(roc::device const& device, run_environment const& environment);

/// Returns the limit of a case's rate.
rate_limit limit_of(benchmark_case const& benchmark, machine_limits const& limits);

}  // namespace rocbench
