// SPDX-License-Identifier: MIT
#include "platform/host/host_function.hpp"

#include <mutex>

#include "platform/host/api_call.hpp"
#include "platform/host/settings.hpp"

namespace roc::host_hip {
namespace {

// Held while a host function runs under the rules of ROCm. Not held under those of CUDA.
std::unique_lock<std::mutex> host_function_lock() {
  static std::mutex mutex;
  return emulates_rocm() ? std::unique_lock(mutex) : std::unique_lock<std::mutex>();
}

}  // namespace

void run_host_function(hipHostFn_t function, void* data) {
  auto const lock = host_function_lock();
  host_function_scope const scope;
  function(data);
}

void wait_for_host_function() { static_cast<void>(host_function_lock()); }

}  // namespace roc::host_hip
