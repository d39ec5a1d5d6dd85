// SPDX-License-Identifier: MIT
// Asynchronous copies with a guard that synchronizes the stream at the end of its scope (numba.roc:
// `with stream.auto_synchronize():`).
#include <roc/roc.hpp>

#include <cstdio>
#include <vector>

int main() {
  if (roc::device::count() == 0) {
    std::puts("no device");
    return 77;
  }
  std::vector<float> data(100'000, 1.0f);
  std::vector<float> result(data.size());
  roc::stream const stream;
  {
    auto const guard = stream.auto_synchronize();
    auto const device = roc::to_device(data, stream);
    data.assign(data.size(), 0.0f);  // pageable sources may change once the call has returned
    device.copy_to_host(result, stream);
  }
  bool const correct = result == std::vector<float>(100'000, 1.0f);
  std::printf("stream guard: %s\n", correct ? "correct" : "wrong");
  return correct ? 0 : 1;
}
