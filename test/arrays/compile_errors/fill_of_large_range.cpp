// SPDX-License-Identifier: MIT
// expected: elements_of_more_than_16_bytes_cannot_be_filled
#include <roc/roc.hpp>

#include <vector>

struct record {
  double values[4];
};

void test(std::vector<record>& host) { roc::fill(host, record{}); }
