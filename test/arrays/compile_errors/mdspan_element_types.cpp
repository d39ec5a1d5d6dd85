// SPDX-License-Identifier: MIT
// expected: element_types_of_source_and_destination_differ
#include <roc/roc.hpp>

#include "span_of.hpp"

void test(span_of<float, 3>& from, span_of<double, 3>& to) { roc::copy(from, to); }
