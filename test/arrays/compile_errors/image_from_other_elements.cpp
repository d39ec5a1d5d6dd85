// SPDX-License-Identifier: MIT
// expected: element_types_of_source_and_destination_differ
#include <roc/image.hpp>

#include <vector>

void test(roc::image<float, 2> const& image, std::vector<double> const& from) {
  image.copy_to_device(from);
}
