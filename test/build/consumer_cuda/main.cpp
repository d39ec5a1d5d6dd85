// SPDX-License-Identifier: MIT
#include <roc/roc.hpp>

#include <cstdio>
#include <vector>

#include "add_one.hpp"

int main() {
  if (roc::device::count() == 0) {
    std::puts("no device");
    return 0;
  }
  auto const array = roc::to_device(std::vector<int>{1, 2, 3});
  std::vector<int> result(3);
  if (add_one(array.data(), 3) != 0) return 1;
  array.copy_to_host(result);
  return result == std::vector<int>{2, 3, 4} ? 0 : 1;
}
