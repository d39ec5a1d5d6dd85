// SPDX-License-Identifier: MIT
// expected: of an array, pass array.view()
#include <roc/device_queue.hpp>
#include <roc/launch.hpp>

__global__ void kernel(roc::device_queue_view<float>) {}

void test(roc::device_queue<float> const& queue) { roc::launch(kernel, {1}, {1}, 0, {}, queue); }
