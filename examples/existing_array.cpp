// SPDX-License-Identifier: MIT
// Copies into existing arrays (numba: `copy_to_device(ary)`, `copy_to_host(ary)`): a whole array,
// and a region.
#include <roc/roc.hpp>

#include <cstdio>
#include <vector>

int main() {
  if (roc::device::count() == 0) {
    std::puts("no device");
    return 77;
  }
  std::vector<int> host(10 * 10, 7);
  auto const device = roc::device_array<int, 2>({10, 10});  // uninitialized
  device.copy_to_device(host);                              // a contiguous range matches any shape

  int corner[2][3] = {};
  device(roc::slice(0, 2), roc::slice(-3, roc::none)).copy_to_host(corner);
  std::vector<int> result(100);
  device.copy_to_host(result);

  bool const correct = result == host && corner[1][2] == 7;
  std::printf("into existing arrays: %s\n", correct ? "correct" : "wrong");
  return correct ? 0 : 1;
}
