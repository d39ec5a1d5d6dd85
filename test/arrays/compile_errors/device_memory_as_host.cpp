// SPDX-License-Identifier: MIT
// expected: device_memory_was_given_but_host_memory_is_needed
#include <roc/roc.hpp>

void test(roc::device_array<float>& from, roc::device_array<float>& to) { from.copy_to_host(to); }
