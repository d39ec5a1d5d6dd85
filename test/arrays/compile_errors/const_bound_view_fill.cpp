// SPDX-License-Identifier: MIT
// expected: destination_is_const
#include <roc/roc.hpp>

void test(roc::device_view<float const> view, roc::stream& stream) { view.bind(stream).fill(1.0f); }
