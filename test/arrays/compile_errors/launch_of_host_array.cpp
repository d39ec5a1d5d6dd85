// SPDX-License-Identifier: MIT
// expected: an array or a string literal is passed as a pointer to host memory
#include <roc/launch.hpp>

__global__ void kernel(float*, int) {}

void test() {
  float values[64] = {};
  roc::launch(kernel, {1}, {64}, 0, {}, values, 64);
}
