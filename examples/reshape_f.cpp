// SPDX-License-Identifier: MIT
// Fortran order: arrays made in it, reshaped in it, and what a reshape in the other order says.
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
  array.copy_to_device(host);  // element (i, k) is host[50 * i + k], whatever the device's order

  bool refused = false;
  try {
    array.reshape(10, 100);  // in C order: the elements would have to move
  } catch (roc::layout_error const& error) {
    refused = true;
    std::printf("%s\n", error.what());
  }
  // In F order it is a view; of an array that is about to go, it takes the memory along.
  auto const wide = std::move(array).reshape(roc::shape<2>{10, 100}, roc::order::f);

  auto const back = wide.copy_to_host();
  bool const right = refused && back(1, 0) == 50.0 && back(0, 2) == 1.0;
  std::printf("reshape in F order: %s\n", right ? "right" : "wrong");
  return right ? 0 : 1;
}
