// SPDX-License-Identifier: MIT
// Owners of what the probe allocates, and the gate that holds a stream back without sleeping.
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

/// A closed gate keeps the stream it was put on from going past it; destruction opens it.
class gate {
 public:
  explicit gate(hipStream_t stream);
  ~gate();
  gate(gate const&) = delete;
  gate& operator=(gate const&) = delete;

  void open();
  /// Opens after a while from another thread, for calls that may block on the gate.
  void open_later(std::chrono::milliseconds delay);
  /// Whether the device went through because the gate was opened, not because time ran out.
  bool was_opened() const;

 private:
  pinned_memory memory_;
  hipStream_t stream_;
  std::thread opener_;
};

/// Bytes that differ from their neighbours and between seeds.
std::vector<unsigned char> pattern(std::size_t size, unsigned seed);

double milliseconds_since(std::chrono::steady_clock::time_point start);

void probe_device();
void probe_memory();
void probe_registration();
void probe_copies();
void probe_ordering();
void probe_events();

}  // namespace probe
