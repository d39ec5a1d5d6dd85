// SPDX-License-Identifier: MIT
// expected: static_extents_of_source_and_destination_differ
#include <roc/roc.hpp>

#include "span_of.hpp"

void test(span_of<float, 3, 4>& from, span_of<float, 3, 5>& to) { roc::copy(from, to); }
