// SPDX-License-Identifier: MIT
// expected: raw_pointer_has_no_size_so_make_a_host_view_or_a_device_view
#include <roc/roc.hpp>

void test(float* host) { auto array = roc::device_array_like(host); }
