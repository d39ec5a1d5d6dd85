// SPDX-License-Identifier: MIT
// A stencil with a halo in shared memory.
#include "stencil_kernel.hpp"

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
  roc::launch(add_neighbors, {values.size() / stencil_threads + 1}, {stencil_threads}, 0, stream,
              in.view(), out.view());
  std::vector<float> result(values.size());
  out.copy_to_host(result, stream);
  stream.synchronize();

  std::size_t const radius = stencil_radius;
  for (std::size_t i = 0; i < values.size(); ++i) {
    float expected = 0;
    for (std::size_t k = i < radius ? 0 : i - radius; k <= i + radius && k < values.size(); ++k) {
      expected += values[k];
    }
    if (result[i] == expected) continue;
    std::printf("stencil: wrong at %zu\n", i);
    return 1;
  }
  std::puts("stencil: correct");
  return 0;
}
