// SPDX-License-Identifier: MIT
// expected: must be trivially copyable
#include <roc/roc.hpp>

#include <vector>

void test(roc::stream& stream, std::vector<float> const& host) {
  roc::for_each(stream, {1, 1}, {2, 3}, [host](int, int) {});
}
