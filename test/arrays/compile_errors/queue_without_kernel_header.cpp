// SPDX-License-Identifier: MIT
// expected: kernel_operations_from_roc_kernel_hpp
#include <roc/device_queue_view.hpp>

unsigned long test(roc::device_queue_view<int> queue) { return queue.block_reserve_push(3).size(); }
