// SPDX-License-Identifier: MIT
// expected: the elements of an image are 8, 16 or 32-bit integers, half or float
#include <roc/image.hpp>

void test() { roc::image<double, 2> const image({3, 4}); }
