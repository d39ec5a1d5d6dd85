// SPDX-License-Identifier: MIT
#include "platform/host/host_function.hpp"

#include <mutex>

#include "platform/host/api_call.hpp"
#include "platform/host/settings.hpp"

namespace roc::host_hip {
namespace {

// Returns the lock that is held while a host function runs under the rules of ROCm; a lock without
// a mutex under those of CUDA.
std::unique_lock<std::mutex> lock_host_functions() {
  static std::mutex mutex;
  return emulates_rocm() ? std::unique_lock(mutex) : std::unique_lock<std::mutex>();
}

}  // namespace

void run_host_function(hipHostFn_t function, void* data) {
  auto const lock = lock_host_functions();
  host_function_scope const scope;
  function(data);
}

void wait_for_host_function() { auto const lock = lock_host_functions(); }

}  // namespace roc::host_hip
