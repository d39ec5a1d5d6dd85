// SPDX-License-Identifier: MIT
// The experiment of many small copies at once.
#pragma once

#include <cstddef>
#include <memory>

#include "buffer.hpp"
#include "experiment.hpp"

namespace rocbench {

/// Who copies a batch.
enum class batch_caller : unsigned char {
  library,      ///< roc::copy_batch, built anew every time
  loop,         ///< HIP's call for each copy, and one wait
  vendor_call,  ///< the platform's own call for many copies, and one wait
};

/// Copies pieces of `piece` bytes, `bytes` of them in all, between memory of both kinds: they lie
/// at a distance from one another on both sides, on the second in another order. Every execution is
/// waited for. Throws not_possible for a call that there is not.
std::unique_ptr<experiment> make_batch(memory_kind from, memory_kind to, batch_caller by,
                                       std::size_t bytes, std::size_t piece);

}  // namespace rocbench
