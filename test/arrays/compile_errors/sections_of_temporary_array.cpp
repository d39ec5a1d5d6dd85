// SPDX-License-Identifier: MIT
// expected: view_would_outlive_the_temporary_array
#include <roc/roc.hpp>

void test() { auto sections = roc::device_array<float>(4).split(2); }
