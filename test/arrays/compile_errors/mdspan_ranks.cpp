// SPDX-License-Identifier: MIT
// expected: ranks_of_source_and_destination_differ
#include <roc/roc.hpp>

#include "span_of.hpp"

void test(span_of<float, 12>& from, span_of<float, 3, 4>& to) { roc::copy(from, to); }
