// SPDX-License-Identifier: MIT
// expected: elements_of_more_than_16_bytes_cannot_be_filled
#include "tensor.hpp"

struct record {
  double values[4];
};

void test(tensor& to, roc::stream& stream) { roc::fill(to, record{}, stream); }
