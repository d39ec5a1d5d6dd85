// SPDX-License-Identifier: MIT
// expected: argument_is_not_a_range_of_device_arrays_or_device_views
#include <roc/roc.hpp>

#include <vector>

void test(std::vector<float>& host, std::vector<std::vector<float>>& parts) {
  roc::gather(parts, host);
}
