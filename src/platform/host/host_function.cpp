// SPDX-License-Identifier: MIT
#include "platform/host/host_function.hpp"

#include <chrono>
#include <mutex>
#include <thread>

#include "platform/host/api_call.hpp"
#include "platform/host/settings.hpp"

namespace roc::host_hip {
namespace {

// Returns the lock that is held while a host function runs under the rules of ROCm, not locked; a
// lock without a mutex under those of CUDA.
std::unique_lock<std::mutex> host_function_lock() {
  static std::mutex mutex;
  return emulates_rocm() ? std::unique_lock(mutex, std::defer_lock)
                         : std::unique_lock<std::mutex>();
}

}  // namespace

void run_host_function(hipHostFn_t function, void* data) {
  auto lock = host_function_lock();
  if (lock.mutex() != nullptr) lock.lock();
  host_function_scope const scope;
  function(data);
}

void wait_for_host_function() {
  // Bounded, so that a program whose host function waits for the caller is slow, and does not hang.
  auto lock = host_function_lock();
  if (lock.mutex() == nullptr) return;
  auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (!lock.try_lock() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

}  // namespace roc::host_hip
