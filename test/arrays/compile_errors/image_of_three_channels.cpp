// SPDX-License-Identifier: MIT
// expected: roc::pixel with 2 or 4 of them
#include <roc/image.hpp>

void test() { roc::image<roc::pixel<float, 3>, 2> const image({3, 4}); }
