// SPDX-License-Identifier: MIT
// Compiles: what the other files do wrong, done right.
#include <roc/roc.hpp>

#include <vector>

void test(roc::device_array<float>& array, std::vector<float>& host, roc::stream& stream) {
  roc::copy(host, array, stream);
  array.copy_to_host(host, stream);
  roc::copy(std::vector<float>(4), array);  // complete on return, so a temporary is fine
  auto other = roc::to_device(host, stream);
  auto pins = roc::register_host(host);
  roc::copy_batch batch;
  batch.add(host, array);
  roc::fill(host, 1.0f);
}
