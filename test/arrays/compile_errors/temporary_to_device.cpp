// SPDX-License-Identifier: MIT
// expected: temporary_would_be_destroyed_before_the_asynchronous_call_has_finished
#include <roc/roc.hpp>

#include <vector>

void test(roc::stream& stream) { auto array = roc::to_device(std::vector<float>(4), stream); }
