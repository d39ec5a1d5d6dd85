// SPDX-License-Identifier: MIT
// expected: elements_are_not_trivially_copyable
#include <roc/roc.hpp>

#include <string>
#include <vector>

void test(std::vector<std::string>& host) { auto array = roc::to_device(host); }
