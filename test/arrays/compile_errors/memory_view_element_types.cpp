// SPDX-License-Identifier: MIT
// expected: element_types_of_source_and_destination_differ
#include <roc/roc.hpp>

void test(roc::memory_view<int> from, roc::device_array<float>& to, roc::stream& stream) {
  roc::copy(from, to, stream);
}
