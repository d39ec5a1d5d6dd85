// SPDX-License-Identifier: MIT
// expected: element_types_of_source_and_destination_differ
#include <roc/roc.hpp>

#include <vector>

void test(std::vector<int>& host, std::vector<roc::device_array<float>>& parts) {
  roc::broadcast(host, parts);
}
