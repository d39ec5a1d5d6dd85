// SPDX-License-Identifier: MIT
// Kernels that write images to device memory and compare device memory with them.
#pragma once

#include <cstddef>

#include "device_comparison.hpp"
#include "image.hpp"
#include "platform/hip.hpp"

namespace rocbench {

/// Enqueues a kernel that writes a whole image. Returns the result of the launch. Precondition:
/// `destination` is aligned to 8 bytes.
hipError_t launch_image_write(std::byte* destination, image const& contents, hipStream_t stream);

/// Enqueues a kernel that compares memory with a whole image. Returns the result of the launch.
/// `comparison` is device memory and counts bytes. Precondition: `memory` is aligned to 8 bytes.
hipError_t launch_image_check(std::byte const* memory, image const& contents,
                              device_comparison* comparison, hipStream_t stream);

}  // namespace rocbench
