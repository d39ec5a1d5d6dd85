// SPDX-License-Identifier: MIT
// Matrix product with tiles in shared memory: the same source for AMD, NVIDIA and the CPU.
#include "matrix_product_kernel.hpp"

#include <cstdio>
#include <vector>

#include <roc/launch.hpp>

int main() {
  if (roc::device::count() == 0) {
    std::puts("no device");
    return 77;
  }
  std::size_t const rows = 67, inner = 45, columns = 83;
  roc::host_array<float, 2> a({rows, inner});
  roc::host_array<float, 2> b({inner, columns});
  for (std::size_t k = 0; k < inner; ++k) {
    for (std::size_t i = 0; i < rows; ++i) a(i, k) = static_cast<float>((i + 2 * k) % 7);
    for (std::size_t j = 0; j < columns; ++j) b(k, j) = static_cast<float>((3 * k + j) % 5);
  }
  roc::stream const stream;
  auto const device_a = roc::to_device(a, stream);
  auto const device_b = roc::to_device(b, stream);
  roc::device_array<float, 2> const device_c({rows, columns}, roc::order::c, stream);
  roc::launch(multiply, {columns / tile_side + 1, rows / tile_side + 1}, {tile_side, tile_side}, 0,
              stream, device_a.view(), device_b.view(), device_c.view());
  auto const c = device_c.copy_to_host(stream);
  stream.synchronize();

  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      float expected = 0;
      for (std::size_t k = 0; k < inner; ++k) expected += a(i, k) * b(k, j);
      if (c(i, j) == expected) continue;
      std::printf("matrix product: wrong at (%zu, %zu)\n", i, j);
      return 1;
    }
  }
  std::puts("matrix product: correct");
  return 0;
}
