// SPDX-License-Identifier: MIT
// expected: deleted
#include <roc/mipmap.hpp>

void test(roc::mipmap<float, 2> const& levels) { auto copy = levels; }
