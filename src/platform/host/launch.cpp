// SPDX-License-Identifier: MIT
#include "platform/host/launch.hpp"

#include <memory>
#include <utility>

#include "platform/host/arena.hpp"
#include "platform/host/engine.hpp"
#include "platform/host/settings.hpp"

namespace roc::host_hip {
namespace {

// Kernels may use the memory of every device, as after peer access.
class open_memory {
 public:
  open_memory() {
    for (int i = 0; i < the_settings().devices; ++i) memory_of(i).open();
  }
  ~open_memory() {
    for (int i = 0; i < the_settings().devices; ++i) memory_of(i).close();
  }
  open_memory(open_memory const&) = delete;
  open_memory& operator=(open_memory const&) = delete;
};

}  // namespace

hipError_t enqueue_kernel(hipStream_t stream, std::function<void()> kernel) {
  auto const found = engine::instance().find(stream);
  if (found == nullptr) return hipErrorInvalidHandle;
  engine::instance().submit(found, [kernel = std::move(kernel)] {
    open_memory const window;
    kernel();
  });
  return hipSuccess;
}

#if !defined(ROCARRAY_FAKE_RUNTIME)

hipError_t launch_host_kernel(hipStream_t stream, std::size_t items,
                              void (*run)(void*, std::size_t, std::size_t), void* closure,
                              void (*destroy)(void*)) {
  std::shared_ptr<void> const owner(closure, destroy);
  return call("launch_host_kernel", [&] {
    if (run == nullptr) return hipErrorInvalidValue;
    return enqueue_kernel(stream, [=] { run_parallel(items, run, owner.get()); });
  });
}

#endif

}  // namespace roc::host_hip

ROCARRAY_HOST_API_BEGIN

ROCARRAY_HOST_API hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void* data) {
  return call("hipLaunchHostFunc", [=] {
    auto const found = engine::instance().find(stream);
    if (found == nullptr) return hipErrorInvalidHandle;
    if (function == nullptr) return hipErrorInvalidValue;
    engine::instance().submit(found, [=] {
      host_function_scope const scope;
      function(data);
    });
    return hipSuccess;
  });
}

ROCARRAY_HOST_API_END
