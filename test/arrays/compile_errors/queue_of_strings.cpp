// SPDX-License-Identifier: MIT
// expected: the element type of a queue must be trivially copyable
#include <roc/device_queue.hpp>

#include <string>

void test() { roc::device_queue<std::string> const queue(10); }
