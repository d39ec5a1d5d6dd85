// SPDX-License-Identifier: MIT
// Copies an array to the device and back (numba: `to_device`, `copy_to_host`).
#include <roc/roc.hpp>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

int main() {
  if (roc::device::count() == 0) {
    std::puts("no device");
    return 77;
  }
  std::vector<float> host(1'000);
  std::iota(host.begin(), host.end(), 0.0f);

  auto const device = roc::to_device(host);  // roc::device_array<float, 1>
  auto const back = device.copy_to_host();   // a new host array

  bool const same = std::equal(host.begin(), host.end(), back.begin());
  std::printf("round trip of %zu floats: %s\n", back.size(), same ? "same" : "different");
  return same ? 0 : 1;
}
