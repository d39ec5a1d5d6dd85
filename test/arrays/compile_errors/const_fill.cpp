// SPDX-License-Identifier: MIT
// expected: destination_is_const
#include <roc/roc.hpp>

#include <vector>

void test(std::vector<float> const& host) { roc::fill(host, 1.0f); }
