// SPDX-License-Identifier: MIT
// expected: launch needs one argument for each parameter of the kernel
#include <roc/launch.hpp>

__global__ void kernel(float*, int) {}

void test(float* data) { roc::launch(kernel, {1}, {1}, 0, {}, data); }
