// SPDX-License-Identifier: MIT
// Kernels that copy 16 bytes per thread, for host memory that kernels can access.
#pragma once

#include <cstddef>

#include <roc/device_view.hpp>

#include "kernels/vector_word.hpp"
#include "platform/hip.hpp"

namespace rocbench {

/// Enqueues the copy with views, or with plain pointers. Returns the result of the launch.
hipError_t launch_copy_with_views(roc::device_view<roc::kernels::vector_word const> source,
                                  roc::device_view<roc::kernels::vector_word> destination,
                                  hipStream_t stream);
hipError_t launch_copy_with_pointers(roc::kernels::vector_word const* source,
                                     roc::kernels::vector_word* destination, std::size_t count,
                                     hipStream_t stream);

}  // namespace rocbench
