// SPDX-License-Identifier: MIT
// expected: destination_is_const
#include <roc/roc.hpp>

#include <vector>

void test(std::vector<float>& host, std::vector<roc::device_view<float const>>& views) {
  roc::broadcast(host, views);
}
