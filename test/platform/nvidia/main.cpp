// SPDX-License-Identifier: MIT
// Tries on a real NVIDIA device what the library relies on, through HIP's headers or the alias, and
// says so line by line. Ends with 0 (all holds), 1 (something does not), 77 (no device: skipped).
#include "support.hpp"

#include <cstdio>

namespace {

// Kernels, those of memsets too, are loaded when first launched, which may wait for the device: not
// behind a closed gate.
void load_kernels() {
  probe::device_memory data(sizeof(int));
  probe::need(hipMemsetAsync(data.data, 0, sizeof(int), nullptr), "hipMemsetAsync");
  probe::add(static_cast<int*>(data.data), 1, 0, nullptr);
  { probe::gate const loaded(nullptr); }
  probe::need(hipDeviceSynchronize(), "first kernels");
}

}  // namespace

int main() {
  int count = 0;
  hipError_t const found = hipGetDeviceCount(&count);
  if (found != hipSuccess || count == 0) {
    std::printf("no device: hipGetDeviceCount gives %d devices, error %d (%s)\n", count, int(found),
                hipGetErrorName(found));
    return found == hipErrorInsufficientDriver || found == hipErrorNoDevice ? 77 : 1;
  }
  load_kernels();
  probe::probe_device();
  probe::probe_memory();
  probe::probe_registration();
  probe::probe_copies();
  probe::probe_ordering();
  probe::probe_events();
  std::printf("\n%d failed\n", probe::failures());
  return probe::failures() == 0 ? 0 : 1;
}
