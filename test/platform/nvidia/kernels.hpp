// SPDX-License-Identifier: MIT
// The kernels of the probe, with functions that launch them from plain C++.
#pragma once

#include "platform/hip.hpp"

#include <cstddef>

namespace probe {

/// Enqueues data[i] += addend for all i < count.
void add(int* data, std::size_t count, int addend, hipStream_t stream);

/// Enqueues a kernel that waits until *open (mapped host memory) is not 0, for ten seconds at most,
/// and then sets *passed to 1, or to -1 after the timeout.
void wait_until(int const* open, int* passed, hipStream_t stream);

}  // namespace probe
