// SPDX-License-Identifier: MIT
// saxpy with for_each: the same source for AMD, NVIDIA and the CPU.
#include "saxpy_functor.hpp"

#include <cstdio>
#include <vector>

int main() {
  if (roc::device::count() == 0) {
    std::puts("no device");
    return 77;
  }
  std::vector<float> const ones(10'000, 1.0f);
  auto const x = roc::to_device(ones);
  auto const y = roc::to_device(ones);

  roc::stream const stream;
  roc::for_each(stream, y.shape(), saxpy{2.0f, x.view(), y.view()});

  std::vector<float> result(ones.size());
  y.copy_to_host(result);  // without a stream: ordered after all work
  bool const correct = result == std::vector<float>(10'000, 3.0f);
  std::printf("saxpy by for_each: %s\n", correct ? "correct" : "wrong");
  return correct ? 0 : 1;
}
