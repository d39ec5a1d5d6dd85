// SPDX-License-Identifier: MIT
// Owners of the probe's resources, and a gate that blocks a stream without sleeping.
#pragma once

#include "kernels.hpp"
#include "report.hpp"

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <thread>
#include <vector>

namespace probe {

struct device_memory {
  explicit device_memory(std::size_t size) { need(hipMalloc(&data, size), "hipMalloc"); }
  ~device_memory() { (void)hipFree(data); }
  device_memory(device_memory const&) = delete;
  device_memory& operator=(device_memory const&) = delete;

  void* data = nullptr;
};

struct pinned_memory {
  explicit pinned_memory(std::size_t size, unsigned flags = hipHostMallocDefault) {
    need(hipHostMalloc(&data, size, flags), "hipHostMalloc");
  }
  ~pinned_memory() { (void)hipHostFree(data); }
  pinned_memory(pinned_memory const&) = delete;
  pinned_memory& operator=(pinned_memory const&) = delete;

  void* data = nullptr;
};

struct owned_stream {
  explicit owned_stream(unsigned flags = hipStreamDefault) {
    need(hipStreamCreateWithFlags(&handle, flags), "hipStreamCreateWithFlags");
  }
  ~owned_stream() { (void)hipStreamDestroy(handle); }
  owned_stream(owned_stream const&) = delete;
  owned_stream& operator=(owned_stream const&) = delete;

  hipStream_t handle = nullptr;
};

struct owned_event {
  explicit owned_event(unsigned flags = hipEventDefault) {
    need(hipEventCreateWithFlags(&handle, flags), "hipEventCreateWithFlags");
  }
  ~owned_event() { (void)hipEventDestroy(handle); }
  owned_event(owned_event const&) = delete;
  owned_event& operator=(owned_event const&) = delete;

  hipEvent_t handle = nullptr;
};

/// Blocks later work of a stream until it is opened. Its destructor opens it and waits for the
/// device.
class gate {
 public:
  /// Enqueues a kernel that waits until the gate is opened, for ten seconds at most.
  explicit gate(hipStream_t stream);
  ~gate();
  gate(gate const&) = delete;
  gate& operator=(gate const&) = delete;

  void open();
  /// Opens the gate from another thread after a delay, for calls that may block until it is open.
  void open_later(std::chrono::milliseconds delay);
  /// Returns true if the kernel has ended because the gate was opened, and not after its timeout.
  bool was_opened() const;

 private:
  pinned_memory memory_;
  hipStream_t stream_;
  std::thread opener_;
};

/// Returns pseudo-random bytes, which depend on the seed.
std::vector<unsigned char> pattern(std::size_t size, unsigned seed);

double milliseconds_since(std::chrono::steady_clock::time_point start);

void probe_device();
void probe_memory();
void probe_registration();
void probe_copies();
void probe_ordering();
void probe_events();

}  // namespace probe
