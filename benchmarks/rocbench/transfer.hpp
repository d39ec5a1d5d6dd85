// SPDX-License-Identifier: MIT
// The experiment of copies: contiguous memory of any two kinds, one of them on the device.
#pragma once

#include <cstddef>
#include <memory>

#include "buffer.hpp"
#include "experiment.hpp"

namespace rocbench {

/// Who copies.
enum class caller : unsigned char {
  library,  ///< roc::copy
  raw,      ///< hipMemcpyAsync, and hipStreamSynchronize where the library's call waits too
};

struct transfer {
  memory_kind from;
  memory_kind to;
  caller by;
};

/// Copies between `bytes` of both kinds, at least one of which is device memory.
///
/// Where pageable memory takes part every copy is waited for: the library's and HIP's calls occupy
/// the CPU, which the device's clock does not see. Else copies are enqueued one behind the other.
std::unique_ptr<experiment> make_transfer(transfer const& what, std::size_t bytes);

}  // namespace rocbench
