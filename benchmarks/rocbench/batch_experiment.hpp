// SPDX-License-Identifier: MIT
// The experiment of many small copies submitted together.
#pragma once

#include <cstddef>
#include <memory>

#include "experiment.hpp"
#include "guarded_buffer.hpp"

namespace rocbench {

/// How a batch of copies is submitted.
enum class batch_api : unsigned char {
  library,      ///< a new roc::copy_batch for each execution
  loop,         ///< one hipMemcpyAsync per copy, then one synchronization
  vendor_call,  ///< the vendor's batched copy function, then one synchronization
};

/// Returns an experiment that copies `bytes` bytes in copies of `copy_bytes` bytes each. There are
/// gaps between the copies on both sides, and the destination holds them in a different order. Each
/// execution is synchronized. Throws case_not_supported if the platform has no batched copy
/// function and `api` is vendor_call.
std::unique_ptr<experiment> make_batch_experiment(memory_kind source, memory_kind destination,
                                                  batch_api api, std::size_t bytes,
                                                  std::size_t copy_bytes);

}  // namespace rocbench
