// SPDX-License-Identifier: MIT
// expected: element_types_of_source_and_destination_differ
#include <roc/device_queue.hpp>

#include <vector>

void test(roc::device_queue<int> const& queue, std::vector<float>& host) { queue.drain(host); }
