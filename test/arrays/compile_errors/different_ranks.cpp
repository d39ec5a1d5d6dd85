// SPDX-License-Identifier: MIT
// expected: ranks_of_source_and_destination_differ
#include <roc/roc.hpp>

void test(roc::device_array<float, 2>& from, roc::device_array<float, 3>& to) {
  roc::copy(from, to);
}
