// SPDX-License-Identifier: MIT
// Converts arrays to std::span and mdspan and back, without a copy.
#include <roc/interop/mdspan.hpp>
#include <roc/interop/span.hpp>
#include <roc/roc.hpp>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <span>

int main() {
  if (roc::device::count() == 0) {
    std::puts("no device");
    return 77;
  }
  auto host = roc::pinned_array<float>(roc::shape<2>{4, 6});
  std::span<float> const elements = roc::as_span(host);
  std::iota(elements.begin(), elements.end(), 0.0f);

  auto const device = roc::to_device(elements);                   // a span converts to a host view
  std::span<float> const device_elements = roc::as_span(device);  // of device memory
  auto const middle = roc::as_device_view(device_elements.subspan(6, 12), device.device_ordinal());
  middle.fill(-1);
  device.copy_to_host(elements);

#if defined(__cpp_lib_mdspan)
  auto const grid = roc::as_mdspan(host(roc::slice(1, 3), roc::all));
  roc::host_view const back(grid);
#else
  auto const back = host(roc::slice(1, 3), roc::all);
#endif
  bool const correct = back(0, 0) == -1 && back(1, 5) == -1 && host(0, 5) == 5 && host(3, 0) == 18;
  std::printf("spans: %s\n", correct ? "correct" : "wrong");
  return correct ? 0 : 1;
}
