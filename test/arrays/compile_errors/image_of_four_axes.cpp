// SPDX-License-Identifier: MIT
// expected: an image has 1, 2 or 3 axes, and with layers 1 or 2
#include <roc/image.hpp>

void test() { roc::layered_image<float, 3> const image({2, 3, 4, 5}); }
