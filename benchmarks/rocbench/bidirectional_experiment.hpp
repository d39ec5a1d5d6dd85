// SPDX-License-Identifier: MIT
// The experiment that runs a copy to the device and a copy to the host at the same time.
#pragma once

#include <memory>

#include "experiment.hpp"

namespace rocbench {

/// Returns an experiment that runs both experiments concurrently: on their own streams if they are
/// timed by device events, else in two threads.
std::unique_ptr<experiment> make_bidirectional_experiment(std::unique_ptr<experiment> to_device,
                                                          std::unique_ptr<experiment> to_host);

}  // namespace rocbench
