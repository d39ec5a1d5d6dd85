// SPDX-License-Identifier: MIT
// expected: only integers of 8 and 16 bits are read as fractions
#include <roc/image.hpp>

void test(roc::image<float, 2> const& image) { image.normalized_view(); }
