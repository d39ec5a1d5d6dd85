// SPDX-License-Identifier: MIT
// expected: the parameters of a kernel are copied to the device byte by byte
#include <roc/launch.hpp>

#include <string>

__global__ void kernel(std::string) {}

void test() { roc::launch(kernel, {1}, {1}, 0, {}, "text"); }
