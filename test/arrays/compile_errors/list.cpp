// SPDX-License-Identifier: MIT
// expected: argument_is_not_an_array_a_view_or_a_contiguous_range
#include <roc/roc.hpp>

#include <list>

void test(std::list<float>& host) { auto array = roc::to_device(host); }
