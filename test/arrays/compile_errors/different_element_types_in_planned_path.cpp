// SPDX-License-Identifier: MIT
// expected: element_types_of_source_and_destination_differ
#include <roc/roc.hpp>

#include <vector>

void test(roc::device_array<float>& array, std::vector<double>& host) {
  roc::planned_path(array, host);
}
