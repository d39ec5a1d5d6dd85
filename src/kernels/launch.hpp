// SPDX-License-Identifier: MIT
// Where the library's C++ files end and its kernels begin.
#pragma once

#include <cstddef>

#include "kernels/fill_job.hpp"
#include "kernels/strided_copy_job.hpp"
#include "platform/hip.hpp"

namespace roc::kernels {

/// Enqueues the job with units of 1, 2, 4, 8 or 16 bytes.
hipError_t launch_strided_copy(strided_job const& job, std::size_t unit, hipStream_t stream);

/// Enqueues the job; Unit is one of those of strided copies.
template <class Unit>
hipError_t launch_fill(fill_unit<Unit> const& job, hipStream_t stream);

}  // namespace roc::kernels
