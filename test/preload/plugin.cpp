// SPDX-License-Identifier: MIT
// A library that a program without a GPU runtime loads: it brings the runtime with it.
#include <cstddef>
#include <vector>

#include "gpu.hpp"

// Copies to the device and back. Returns 0, 1 if a byte differs, 77 without a device.
extern "C" int round_trip(std::size_t bytes) {
  void* memory = nullptr;
  if (GPU(Malloc)(&memory, bytes) != GPU(Success)) return 77;
  std::vector<unsigned char> source(bytes, 42), destination(bytes);
  bool ok = GPU(Memcpy)(memory, source.data(), bytes, GPU(MemcpyHostToDevice)) == GPU(Success);
  ok =
      ok && GPU(Memcpy)(destination.data(), memory, bytes, GPU(MemcpyDeviceToHost)) == GPU(Success);
  ok = ok && GPU(Free)(memory) == GPU(Success);
  return ok && source == destination ? 0 : 1;
}
