// SPDX-License-Identifier: MIT
// expected: temporary_would_be_destroyed_before_the_asynchronous_call_has_finished
#include <roc/roc.hpp>

#include <vector>

void test(roc::copy_batch& batch, roc::device_array<float>& array) {
  batch.add(std::vector<float>(4), array);
}
