// SPDX-License-Identifier: MIT
// expected: destination_is_const
#include <roc/roc.hpp>

void test(roc::host_view<float const> view) { view.zero(); }
