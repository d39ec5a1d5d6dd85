// SPDX-License-Identifier: MIT
// expected: the parameters of a kernel are values, no references
#include <roc/launch.hpp>

__global__ void kernel(int&) {}

void test(int value) { roc::launch(kernel, {1}, {1}, 0, {}, value); }
