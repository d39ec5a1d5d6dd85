// SPDX-License-Identifier: MIT
// expected: vector_of_bool_has_no_addressable_elements
#include <roc/roc.hpp>

#include <vector>

void test(std::vector<bool>& host) { auto array = roc::to_device(host); }
