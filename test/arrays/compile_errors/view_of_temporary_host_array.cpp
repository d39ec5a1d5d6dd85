// SPDX-License-Identifier: MIT
// expected: view_would_outlive_the_temporary_array
#include <roc/roc.hpp>

void test() { auto view = roc::pinned_array<float>(4).view(); }
