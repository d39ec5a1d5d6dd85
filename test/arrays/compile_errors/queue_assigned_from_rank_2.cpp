// SPDX-License-Identifier: MIT
// expected: the elements of a queue are assigned from rank 1
#include <roc/device_queue.hpp>

void test(roc::device_queue<int> const& queue, roc::device_view<int, 2> view) {
  queue.assign(view);
}
