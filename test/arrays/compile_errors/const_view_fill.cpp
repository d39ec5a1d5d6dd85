// SPDX-License-Identifier: MIT
// expected: destination_is_const
#include <roc/roc.hpp>

void test(roc::device_view<float const> view) { view.fill(1.0f); }
