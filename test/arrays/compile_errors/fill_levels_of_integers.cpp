// SPDX-License-Identifier: MIT
// expected: fill_levels computes means: it needs elements of half or float, or integers of 8 or 16 bits
#include <roc/mipmap.hpp>

void test(roc::mipmap<int, 2> const& levels) { levels.fill_levels({}); }
