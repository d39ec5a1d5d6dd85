// SPDX-License-Identifier: MIT
// A sum of many values, with shuffles, shared memory and an atomic operation.
#include "reduction_kernel.hpp"

#include <cstdio>
#include <numeric>
#include <vector>

#include <roc/launch.hpp>

int main() {
  if (roc::device::count() == 0) {
    std::puts("no device");
    return 77;
  }
  std::vector<unsigned> values(100'003);
  std::iota(values.begin(), values.end(), 1u);

  roc::stream const stream;
  auto const device_values = roc::to_device(values, stream);
  roc::device_array<unsigned> const sum({1}, roc::order::c, stream);
  sum.zero(stream);
  roc::launch(add_all, {64}, {256}, 0, stream, device_values.view(), sum.view());
  auto const result = sum.copy_to_host(stream);
  stream.synchronize();

  bool const correct = result(0) == std::accumulate(values.begin(), values.end(), 0u);
  std::printf("reduction: %s\n", correct ? "correct" : "wrong");
  return correct ? 0 : 1;
}
