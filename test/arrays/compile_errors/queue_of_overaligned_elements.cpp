// SPDX-License-Identifier: MIT
// expected: the alignment of a queue's elements must be at most 256 bytes
#include <roc/device_queue.hpp>

struct alignas(512) page {
  char bytes[512];
};

void test() { roc::device_queue<page> const queue(10); }
