// SPDX-License-Identifier: MIT
// expected: view_would_outlive_the_temporary_array
#include <roc/device_queue.hpp>

void test() { auto const view = roc::device_queue<int>(10).view(); }
