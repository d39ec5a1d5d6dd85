// SPDX-License-Identifier: MIT
// expected: destination_is_const
#include <roc/roc.hpp>

#include <vector>

void test(std::vector<float> const& host, std::vector<roc::device_array<float>>& parts) {
  roc::gather(parts, host);
}
