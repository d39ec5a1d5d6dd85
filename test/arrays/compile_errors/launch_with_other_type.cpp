// SPDX-License-Identifier: MIT
// expected: an argument of launch does not convert to the kernel's parameter
#include <roc/launch.hpp>
#include <roc/roc.hpp>

__global__ void kernel(roc::device_view<float>) {}

void test(roc::device_view<double> view) { roc::launch(kernel, {1}, {1}, 0, {}, view); }
