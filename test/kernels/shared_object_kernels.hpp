// SPDX-License-Identifier: MIT
// Kernels of a shared object.
#pragma once

#include <roc/kernel.hpp>
#include <roc/roc.hpp>

namespace roc::test {

/// Reverses the elements of a block of 64 threads.
[[gnu::visibility("default")]] __global__ void reverse_in_object(device_view<int> values);
/// Launches it, with more dynamic shared memory than NVIDIA allows without a call for the kernel.
[[gnu::visibility("default")]] void launch_in_object(stream_ref stream, device_view<int> values);

}  // namespace roc::test
