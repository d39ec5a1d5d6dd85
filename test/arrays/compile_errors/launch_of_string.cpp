// SPDX-License-Identifier: MIT
// expected: the arguments of a kernel are views and trivially copyable values
#include <roc/launch.hpp>

#include <string>

__global__ void kernel(char const*) {}

void test(std::string const& text) { roc::launch(kernel, {1}, {1}, 0, {}, text); }
