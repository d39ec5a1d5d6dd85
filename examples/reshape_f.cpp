// SPDX-License-Identifier: MIT
// Arrays in Fortran order, reshape in Fortran order, and the error of a reshape in C order.
#include <roc/roc.hpp>

#include <cstdio>
#include <vector>

int main() {
  if (roc::device::count() == 0) {
    std::puts("no device");
    return 77;
  }
  auto array = roc::device_array<double, 2>({20, 50}, roc::order::f);
  std::vector<double> host(1'000);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<double>(i);
  // In either order, element (i, k) is then host[50 * i + k].
  array.copy_to_device(host);

  bool error_thrown = false;
  try {
    array.reshape(10, 100);  // in C order this needs a copy
  } catch (roc::layout_error const& error) {
    error_thrown = true;
    std::printf("%s\n", error.what());
  }
  // In F order it needs no copy. A reshape of an rvalue moves the memory to the new array.
  auto const wide = std::move(array).reshape(roc::shape<2>{10, 100}, roc::order::f);

  auto const back = wide.copy_to_host();
  bool const correct = error_thrown && back(1, 0) == 50.0 && back(0, 2) == 1.0;
  std::printf("reshape in F order: %s\n", correct ? "correct" : "wrong");
  return correct ? 0 : 1;
}
