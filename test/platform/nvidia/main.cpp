// SPDX-License-Identifier: MIT
// Checks on a real NVIDIA device what the library assumes about CUDA, through HIP's headers or the
// alias, and prints a line per check. Exits with 0 (all checks pass), 1 (a check fails) or 77
// (skipped, no device).
#include "support.hpp"

#include <cstdio>

namespace {

// Launches every kernel once. CUDA loads a kernel, also that of a memset, at its first launch,
// which may wait for the device and would deadlock with a closed gate.
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
    std::printf("no device: hipGetDeviceCount returned error %d (%s) and %d devices\n", int(found),
                hipGetErrorName(found), count);
    return found == hipErrorInsufficientDriver || found == hipErrorNoDevice ? 77 : 1;
  }
  load_kernels();
  probe::probe_device();
  probe::probe_memory();
  probe::probe_registration();
  probe::probe_copies();
  probe::probe_ordering();
  probe::probe_events();
  std::printf("\n%d checks failed\n", probe::failures());
  return probe::failures() == 0 ? 0 : 1;
}
