// SPDX-License-Identifier: MIT
// saxpy with an ordinary kernel, launched with <<<>>> on a stream of the library.
#include "saxpy_kernel.hpp"

#include <cstdio>
#include <vector>

int main() {
  if (roc::device::count() == 0) {
    std::puts("no device");
    return 77;
  }
  std::vector<float> const ones(10'000, 1.0f);
  std::vector<float> result(ones.size());
  auto const x = roc::to_device(ones);
  auto const y = roc::to_device(ones);
  {
    roc::stream const stream;
    auto const guard = stream.auto_synchronize();
    unsigned const block = 256;
    auto const grid = static_cast<unsigned>((y.size() + block - 1) / block);
    saxpy_kernel<<<grid, block, 0, roc::native(stream)>>>(2.0f, x.view(), y.view());
    y.copy_to_host(result, stream);
  }
  bool const correct = result == std::vector<float>(10'000, 3.0f);
  std::printf("saxpy by a kernel: %s\n", correct ? "correct" : "wrong");
  return correct ? 0 : 1;
}
