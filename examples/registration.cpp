// SPDX-License-Identifier: MIT
// Pins existing host memory for a scope (numba.roc: `with roc.register(a, b):`). It is unpinned at
// the end of the scope, also if an exception is thrown.
#include <roc/roc.hpp>

#include <cstdio>
#include <vector>

int main() {
  if (roc::device::count() == 0) {
    std::puts("no device");
    return 77;
  }
  std::vector<float> source(1 << 16, 2.5f);
  std::vector<float> destination(source.size());
  bool overlap_detected = false;
  {
    auto const pinned = roc::register_host(source, destination);
    auto const device = roc::to_device(source);  // by DMA from the vector
    device.copy_to_host(destination);
    try {
      auto const again = roc::register_host(std::span<float>(source).subspan(100));
    } catch (roc::registration_error const& error) {
      overlap_detected = true;
      std::printf("%s\n", error.what());
    }
  }
  // Without a scope: pinned until roc::deregister.
  roc::register_host(source).release();
  roc::deregister(source);

  bool const correct = overlap_detected && source == destination;
  std::printf("registration: %s\n", correct ? "correct" : "wrong");
  return correct ? 0 : 1;
}
