// SPDX-License-Identifier: MIT
// expected: vector_of_bool_has_no_addressable_elements
#include <roc/roc.hpp>

#include <vector>

void test(roc::device_array<bool>& array, std::vector<bool>& host) { array.copy_to_host(host); }
