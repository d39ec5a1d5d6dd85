// SPDX-License-Identifier: MIT
// The probe's kernels, launched from plain C++.
#pragma once

#include "platform/hip.hpp"

#include <cstddef>

namespace probe {

/// data[i] += addend for all i < count, on `stream`.
void add(int* data, std::size_t count, int addend, hipStream_t stream);

/// Keeps `stream` busy until *open (mapped host memory) is not 0, ten seconds at the most; then
/// *passed is 1, or -1 if the time ran out.
void wait_until(int const* open, int* passed, hipStream_t stream);

}  // namespace probe
