// SPDX-License-Identifier: MIT
// expected: temporary_would_be_destroyed_before_the_asynchronous_call_has_finished
#include <roc/roc.hpp>

#include <vector>

void test(std::vector<float>& host, roc::stream& stream) {
  roc::device_array<float>(4).copy_to_host(host, stream);
}
