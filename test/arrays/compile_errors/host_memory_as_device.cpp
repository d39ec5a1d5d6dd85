// SPDX-License-Identifier: MIT
// expected: host_memory_was_given_but_device_memory_is_needed
#include <roc/roc.hpp>

#include <vector>

void test(std::vector<float>& from, std::vector<float>& to) { roc::to_device(from, to); }
