// SPDX-License-Identifier: MIT
// expected: temporary_would_be_destroyed_before_the_asynchronous_call_has_finished
#include <roc/roc.hpp>

#include <vector>

void test(std::vector<roc::device_array<float>>& parts, std::vector<roc::stream>& streams) {
  roc::split_to_devices(std::vector<float>(4), parts, 0, streams);
}
