// SPDX-License-Identifier: MIT
// expected: view_would_outlive_the_temporary_array
#include <roc/mipmap.hpp>

void test() { roc::mipmap<float, 2>({3, 4}).view({.normalized_coordinates = true}); }
