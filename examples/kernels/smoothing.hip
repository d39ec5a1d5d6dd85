// SPDX-License-Identifier: MIT
// Smoothing by weights in constant memory.
#include "smoothing_kernel.hpp"

#include <algorithm>
#include <cstdio>
#include <vector>

#include <roc/launch.hpp>

int main() {
  if (roc::device::count() == 0) {
    std::puts("no device");
    return 77;
  }
  std::vector<float> values(10'007);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * i % 11);

  roc::stream const stream;
  auto const in = roc::to_device(values, stream);
  auto const out = roc::device_array_like(in, stream);
  constexpr std::size_t threads = 128;
  roc::launch(smooth, {values.size() / threads + 1}, {threads}, 0, stream, in.view(), 1.0f / 16,
              out.view());
  std::vector<float> result(values.size());
  out.copy_to_host(result, stream);
  stream.synchronize();

  // All sums are exact.
  constexpr float weights[] = {1, 4, 6, 4, 1};
  auto const last = static_cast<std::ptrdiff_t>(values.size()) - 1;
  for (std::ptrdiff_t i = 0; i <= last; ++i) {
    float sum = 0;
    for (std::ptrdiff_t k = -2; k <= 2; ++k) {
      auto const neighbor = std::clamp<std::ptrdiff_t>(i + k, 0, last);
      sum += weights[k + 2] * values[static_cast<std::size_t>(neighbor)];
    }
    if (result[static_cast<std::size_t>(i)] == sum / 16) continue;
    std::printf("smoothing: wrong at %td\n", i);
    return 1;
  }
  std::puts("smoothing: correct");
  return 0;
}
