// SPDX-License-Identifier: MIT
// The experiment of copies: memory of any two kinds, one of them on the device.
#pragma once

#include <cstddef>
#include <memory>

#include "buffer.hpp"
#include "cases.hpp"
#include "copy_layout.hpp"
#include "experiment.hpp"

namespace rocbench {

struct transfer {
  memory_kind from;
  memory_kind to;
  caller by;  ///< roc::copy, or the call of raw_copy.hpp
  bool each_waited_for = false;
};

/// Copies between memory of both kinds, at least one of which is device memory.
///
/// Where asked for, and where pageable memory takes part, every copy is waited for: the library's
/// and HIP's calls occupy the CPU, which the device's clock does not see. Else copies are enqueued
/// one behind the other.
std::unique_ptr<experiment> make_transfer(transfer const& what, copy_layout const& layout);

/// Two of these at once, each on its own stream, by two threads where copies are waited for.
std::unique_ptr<experiment> make_both_ways(std::unique_ptr<experiment> there,
                                           std::unique_ptr<experiment> back);

}  // namespace rocbench
