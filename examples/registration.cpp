// SPDX-License-Identifier: MIT
// numba.roc's `with roc.register(a, b):`. The memory is pinned for the scope, also if an exception
// leaves it.
#include <roc/roc.hpp>

#include <cstdio>
#include <vector>

int main() {
  if (roc::device::count() == 0) {
    std::puts("no device");
    return 77;
  }
  std::vector<float> from(1 << 16, 2.5f);
  std::vector<float> to(from.size());
  bool refused = false;
  {
    auto const pinned = roc::register_host(from, to);
    auto const device = roc::to_device(from);  // by DMA, straight from the vector
    device.copy_to_host(to);
    try {
      auto const again = roc::register_host(std::span<float>(from).subspan(100));
    } catch (roc::registration_error const& error) {
      refused = true;
      std::printf("%s\n", error.what());
    }
  }
  // Without a scope: registered until it is deregistered.
  roc::register_host(from).release();
  roc::deregister(from);

  bool const right = refused && from == to;
  std::printf("registration: %s\n", right ? "right" : "wrong");
  return right ? 0 : 1;
}
