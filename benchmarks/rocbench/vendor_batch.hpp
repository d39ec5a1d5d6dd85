// SPDX-License-Identifier: MIT
// The platform's own call for many copies.
#pragma once

#include <cstddef>
#include <vector>

#include "platform/hip.hpp"

namespace rocbench {

/// What such a call is given.
struct batch_list {
  std::vector<void*> to;
  std::vector<void const*> from;
  std::vector<std::size_t> bytes;
};

/// Its name; null where the platform has none that works.
char const* vendor_batch_call() noexcept;

/// Enqueues all copies. Throws std::runtime_error.
void vendor_batch(batch_list& list, hipStream_t stream);

}  // namespace rocbench
