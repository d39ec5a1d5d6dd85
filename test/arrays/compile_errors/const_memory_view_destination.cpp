// SPDX-License-Identifier: MIT
// expected: destination_is_const
#include <roc/roc.hpp>

void test(roc::device_array<int>& from, roc::memory_view<int const> to) { roc::copy(from, to); }
