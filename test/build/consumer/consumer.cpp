// SPDX-License-Identifier: MIT
#include <roc/roc.hpp>

#include <cstdio>
#include <vector>

int main() {
  if (roc::device::count() == 0) {
    std::puts("no device");
    return 0;  // without a device only the start can be tested
  }
  std::vector<int> const host = {1, 2, 3, 4, 5, 6};
  auto const array = roc::to_device(host).reshape(2, 3);
  auto const back = array.transpose().copy_to_host();
  return back(2, 1) == 6 && back(1, 0) == 2 ? 0 : 1;
}
