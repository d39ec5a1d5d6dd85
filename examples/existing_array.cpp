// SPDX-License-Identifier: MIT
// Into memory that exists: `copy_to_device(ary)` and `copy_to_host(ary)`, whole or a region.
#include <roc/roc.hpp>

#include <cstdio>
#include <vector>

int main() {
  if (roc::device::count() == 0) {
    std::puts("no device");
    return 77;
  }
  std::vector<int> host(10 * 10, 7);
  auto const device = roc::device_array<int, 2>({10, 10});  // uninitialised
  device.copy_to_device(host);                              // a flat range, in C order

  int corner[2][3] = {};
  device(roc::slice(0, 2), roc::slice(-3, roc::none)).copy_to_host(corner);
  std::vector<int> all(100);
  device.copy_to_host(all);

  bool const right = all == host && corner[1][2] == 7;
  std::printf("into existing arrays: %s\n", right ? "right" : "wrong");
  return right ? 0 : 1;
}
