// SPDX-License-Identifier: MIT
// The platform's own function for a batch of copies.
#pragma once

#include <cstddef>
#include <vector>

#include "platform/hip.hpp"

namespace rocbench {

/// Destinations, sources and sizes of the copies, by index.
struct batch_arguments {
  std::vector<void*> destinations;
  std::vector<void const*> sources;
  std::vector<std::size_t> bytes;
};

/// Returns the name of the vendor's batched copy function; null if the platform has none that
/// works.
char const* vendor_batch_function() noexcept;

/// Enqueues all copies. Throws std::runtime_error if the call fails.
/// Precondition: vendor_batch_function() is not null.
void vendor_batch(batch_arguments& copies, hipStream_t stream);

}  // namespace rocbench
