// SPDX-License-Identifier: MIT
// expected: an array or a string literal is passed as a pointer to host memory
#include <roc/launch.hpp>

__global__ void kernel(char const*) {}

void test() { roc::launch(kernel, {1}, {1}, 0, {}, "text"); }
