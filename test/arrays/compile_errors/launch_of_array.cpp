// SPDX-License-Identifier: MIT
// expected: of an array, pass array.view()
#include <roc/launch.hpp>
#include <roc/roc.hpp>

__global__ void kernel(roc::device_view<float>) {}

void test(roc::device_array<float> const& array) { roc::launch(kernel, {1}, {1}, 0, {}, array); }
