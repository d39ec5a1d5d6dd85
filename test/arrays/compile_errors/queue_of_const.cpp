// SPDX-License-Identifier: MIT
// expected: the element type of a queue must be trivially copyable
#include <roc/device_queue.hpp>

void test() { roc::device_queue<int const> const queue(10); }
