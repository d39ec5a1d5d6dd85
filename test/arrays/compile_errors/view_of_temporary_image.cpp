// SPDX-License-Identifier: MIT
// expected: view_would_outlive_the_temporary_array
#include <roc/image.hpp>

void test() { roc::image<float, 2>({3, 4}).view(); }
