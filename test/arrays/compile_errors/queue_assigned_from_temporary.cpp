// SPDX-License-Identifier: MIT
// expected: temporary
#include <roc/device_queue.hpp>

#include <vector>

void test(roc::device_queue<int> const& queue, roc::stream const& stream) {
  queue.assign(std::vector<int>(3), stream);
}
