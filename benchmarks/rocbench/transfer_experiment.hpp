// SPDX-License-Identifier: MIT
// The experiment that copies between two buffers, at least one of them on the device.
#pragma once

#include <memory>

#include "benchmark_case.hpp"
#include "copy_layout.hpp"
#include "experiment.hpp"
#include "guarded_buffer.hpp"

namespace rocbench {

struct transfer_options {
  memory_kind source;
  memory_kind destination;
  api_kind api;                   ///< library: roc::copy; raw: raw_copy()
  bool synchronize_each = false;  ///< true: wait for each copy
};

/// Returns an experiment that copies from one kind of memory to another.
///
/// If a side is pageable memory, or if `synchronize_each` is set, the stream is synchronized after
/// each copy and the wall clock is used: such copies occupy the CPU, which device events do not
/// see. Otherwise copies are enqueued one after another. Precondition: at least one side is device
/// memory.
std::unique_ptr<experiment> make_transfer_experiment(transfer_options const& options,
                                                     copy_layout const& layout);

}  // namespace rocbench
