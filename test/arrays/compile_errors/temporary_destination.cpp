// SPDX-License-Identifier: MIT
// expected: temporary_would_be_destroyed_before_the_asynchronous_call_has_finished
#include <roc/roc.hpp>

#include <vector>

void test(roc::device_array<float>& array, roc::stream& stream) {
  array.copy_to_host(std::vector<float>(4), stream);
}
