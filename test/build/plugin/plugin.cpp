// SPDX-License-Identifier: MIT
// A plugin that copies with the library's threads.
#include <roc/roc.hpp>

#include <cstddef>
#include <vector>

/// Copies to the device and back. Returns 0, 77 if there is no device, or 1 if the bytes differ.
extern "C" int copy_there_and_back() {
  if (roc::device::count() == 0) return 77;
  constexpr std::size_t count = std::size_t{4} << 20;  // enough for several threads
  std::vector<int> const source(count, 7);
  std::vector<int> destination(count);
  roc::stream stream;
  roc::device_array<int> array(count, stream);
  array.copy_to_device(source, stream);
  array.copy_to_host(destination, stream);
  stream.synchronize();
  return destination == source ? 0 : 1;
}
