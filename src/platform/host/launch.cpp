// SPDX-License-Identifier: MIT
#include "platform/host/launch.hpp"

#include <utility>

#include "platform/host/arena.hpp"
#include "platform/host/scheduler.hpp"
#include "platform/host/settings.hpp"

namespace roc::host_hip {
namespace {

// Makes the memory of all devices accessible to the program: kernels may use peer memory.
class device_access_scope {
 public:
  device_access_scope() {
    for (int i = 0; i < host_settings().device_count; ++i) device_arena(i).open();
  }
  ~device_access_scope() {
    for (int i = 0; i < host_settings().device_count; ++i) device_arena(i).close();
  }
  device_access_scope(device_access_scope const&) = delete;
  device_access_scope& operator=(device_access_scope const&) = delete;
};

}  // namespace

hipError_t enqueue_kernel(hipStream_t stream, std::function<void()> kernel) {
  auto const target = scheduler::instance().find_stream(stream);
  if (target == nullptr) return hipErrorInvalidHandle;
  scheduler::instance().submit(target, [kernel = std::move(kernel)] {
    device_access_scope const scope;
    kernel();
  });
  return hipSuccess;
}

}  // namespace roc::host_hip
