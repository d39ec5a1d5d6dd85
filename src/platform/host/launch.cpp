// SPDX-License-Identifier: MIT
#include "platform/host/launch.hpp"

#include <new>
#include <utility>

#include "platform/host/arena.hpp"
#include "platform/host/capture.hpp"
#include "platform/host/host_ranges.hpp"
#include "platform/host/peer_access.hpp"
#include "platform/host/scheduler.hpp"
#include "platform/host/settings.hpp"

namespace roc::host_hip {
namespace {

// Makes the memory of the devices in a set, and the device addresses of registered memory,
// accessible to the program.
class device_access_scope {
 public:
  explicit device_access_scope(device_set devices) : devices_(devices) {
    for_each_arena([](arena& memory) { memory.open(); });
    host_ranges::instance().open_device_addresses();
  }
  ~device_access_scope() {
    host_ranges::instance().close_device_addresses();
    for_each_arena([](arena& memory) { memory.close(); });
  }
  device_access_scope(device_access_scope const&) = delete;
  device_access_scope& operator=(device_access_scope const&) = delete;

 private:
  template <class F>
  void for_each_arena(F f) const {
    for (int i = 0; i < host_settings().device_count; ++i) {
      if ((devices_ >> i & 1u) != 0) f(device_arena(i));
    }
  }

  memory_access_scope const access_;
  device_set const devices_;
};

}  // namespace

hipError_t enqueue_kernel(hipStream_t stream, std::function<void()> kernel) {
  auto const target = scheduler::instance().find_stream(stream);
  if (target == nullptr) return hipErrorInvalidHandle;
  static_cast<void>(device_arena(0));  // its first use needs memory, and kernels cannot throw
  scheduler::instance().submit(
      target,
      [kernel = std::move(kernel), device = target->device,
       work = stream_captures::instance().track(target.get(), "kernel", stream)] {
        device_access_scope const scope(accessible_devices(device));
        kernel();
      },
      nullptr, "kernel");
  return hipSuccess;
}

void track_host_functions(hipStream_t stream, accessed_memory const& memory) noexcept {
  if (!tracks_work()) return;
  try {
    auto const target = scheduler::instance().find_stream(stream);
    if (target == nullptr) return;
    auto work = stream_captures::instance().track(target.get(), "copy", stream, {memory});
    scheduler::instance().submit(
        target, [work = std::move(work)] {}, nullptr, "accesses");
  } catch (std::bad_alloc const&) {
  } catch (capture_error const&) {
  }
}

}  // namespace roc::host_hip
