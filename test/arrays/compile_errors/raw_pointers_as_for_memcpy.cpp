// SPDX-License-Identifier: MIT
// expected: raw_pointer_has_no_size_so_make_a_host_view_or_a_device_view
#include <roc/roc.hpp>

#include <cstddef>

void test(float* destination, float const* source, std::size_t bytes) {
  roc::copy(destination, source, bytes);
}
