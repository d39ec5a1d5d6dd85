// SPDX-License-Identifier: MIT
// expected: temporary_would_be_destroyed_before_the_asynchronous_call_has_finished
#include <roc/roc.hpp>

#include <vector>

std::vector<roc::device_array<float>> parts();

void test(std::vector<float>& host, std::vector<roc::stream>& streams) {
  roc::gather(parts(), host, 0, streams);
}
