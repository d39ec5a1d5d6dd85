// SPDX-License-Identifier: MIT
// expected: temporary_would_be_destroyed_before_the_asynchronous_call_has_finished
#include <roc/roc.hpp>

#include <vector>

void test(roc::bound_view<float> array) { array.copy_to_device(std::vector<float>(4)); }
