// SPDX-License-Identifier: MIT
// A histogram of bytes, with dynamic shared memory and atomic operations.
#include "histogram_kernel.hpp"

#include <cstdio>
#include <vector>

#include <roc/launch.hpp>

int main() {
  if (roc::device::count() == 0) {
    std::puts("no device");
    return 77;
  }
  std::size_t const bins = 200;
  std::vector<unsigned char> values(100'003);
  std::vector<unsigned> expected(bins);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<unsigned char>(i * i / 7 % 256);
    if (values[i] < bins) ++expected[values[i]];
  }

  roc::stream const stream;
  auto const device_values = roc::to_device(values, stream);
  roc::device_array<unsigned> const counts({bins}, roc::order::c, stream);
  counts.zero(stream);
  roc::launch(count, {32}, {256}, bins * sizeof(unsigned), stream, device_values.view(),
              counts.view());
  std::vector<unsigned> result(bins);
  counts.copy_to_host(result, stream);
  stream.synchronize();

  bool const correct = result == expected;
  std::printf("histogram: %s\n", correct ? "correct" : "wrong");
  return correct ? 0 : 1;
}
