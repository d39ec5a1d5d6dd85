// SPDX-License-Identifier: MIT
// expected: destination_is_const
#include <roc/roc.hpp>

void test(roc::device_array<float>& array, roc::device_view<float const> view) {
  roc::copy(array, view);
}
