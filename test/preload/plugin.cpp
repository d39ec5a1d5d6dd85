// SPDX-License-Identifier: MIT
// A library that a program without a GPU runtime loads: it brings the runtime with it. If
// TEST_CONSTRUCTOR_BYTES is set, its constructor copies that many bytes, while the loader
// holds its lock.
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
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

[[gnu::constructor]] static void copy_while_loading() {
  char const* const text = std::getenv("TEST_CONSTRUCTOR_BYTES");
  if (text == nullptr) return;
  // The main thread copies at the same time, and waits for the loader's lock in its look-ups.
  usleep(200'000);
  static_cast<void>(round_trip(std::strtoul(text, nullptr, 10)));
}
