// SPDX-License-Identifier: MIT
// expected: elements_of_more_than_16_bytes_cannot_be_filled
#include <roc/roc.hpp>

struct record {
  double values[4];
};

void test(roc::device_array<record>& array) { array.fill(record{}); }
