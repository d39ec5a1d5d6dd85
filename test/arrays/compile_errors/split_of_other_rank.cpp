// SPDX-License-Identifier: MIT
// expected: ranks_of_source_and_destination_differ
#include <roc/roc.hpp>

#include <vector>

void test(roc::device_array<float, 2>& array, std::vector<roc::device_array<float>>& parts) {
  roc::split_to_devices(array, parts);
}
