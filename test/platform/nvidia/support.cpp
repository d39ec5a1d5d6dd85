// SPDX-License-Identifier: MIT
#include "support.hpp"

#include <atomic>

namespace probe {

gate::gate(hipStream_t stream) : memory_(2 * sizeof(int), hipHostMallocMapped), stream_(stream) {
  int* const host = static_cast<int*>(memory_.data);
  host[0] = host[1] = 0;
  void* device = nullptr;
  need(hipHostGetDevicePointer(&device, host, 0), "hipHostGetDevicePointer");
  wait_until(static_cast<int*>(device), static_cast<int*>(device) + 1, stream);
}

gate::~gate() {
  open();
  (void)hipDeviceSynchronize();
}

void gate::open() {
  if (opener_.joinable()) opener_.join();
  std::atomic_ref<int>(*static_cast<int*>(memory_.data)).store(1);
}

void gate::open_later(std::chrono::milliseconds delay) {
  opener_ = std::thread([this, delay] {
    std::this_thread::sleep_for(delay);
    std::atomic_ref<int>(*static_cast<int*>(memory_.data)).store(1);
  });
}

bool gate::was_opened() const {
  return std::atomic_ref<int>(static_cast<int*>(memory_.data)[1]).load() == 1;
}

std::vector<unsigned char> pattern(std::size_t size, unsigned seed) {
  std::vector<unsigned char> bytes(size);
  unsigned state = seed * 2654435761U + 1;
  for (unsigned char& byte : bytes) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<unsigned char>(state >> 24);
  }
  return bytes;
}

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

}  // namespace probe
