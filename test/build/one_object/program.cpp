// SPDX-License-Identifier: MIT
// A user's program: compiled once by a C++ compiler with only the public headers on its include
// path, then linked with the library of each platform.
#include <roc/roc.hpp>

#include <cstdio>
#include <numeric>
#include <vector>

int main() {
  if (roc::device::count() == 0) {
    std::puts("no device");
    return 77;
  }
  std::vector<int> numbers(6000);
  std::iota(numbers.begin(), numbers.end(), 0);
  auto array = roc::to_device(numbers).reshape(60, 100);
  std::vector<int> column(60);
  {
    auto const pinned = roc::register_host(column);
    roc::stream const stream;
    auto const guard = stream.auto_synchronize();
    array(roc::all, 7).copy_to_host(column, stream);
  }
  for (int i = 0; i < 60; ++i) {
    if (column[static_cast<std::size_t>(i)] != 100 * i + 7) return 1;
  }
  std::printf("ran on %s\n", roc::device().name().c_str());
}
