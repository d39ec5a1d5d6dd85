// SPDX-License-Identifier: MIT
// expected: destination_is_const
#include <roc/roc.hpp>

#include <vector>

void test(roc::device_array<float>& array, std::vector<float> const& host) {
  array.copy_to_host(host);
}
