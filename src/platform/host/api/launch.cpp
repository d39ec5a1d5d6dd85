// SPDX-License-Identifier: MIT
// Host functions, and kernels that are functions of the program.
#include "platform/host/launch.hpp"

#include <cstdio>
#include <memory>
#include <utility>

#include "platform/host/access_checker.hpp"
#include "platform/host/api_call.hpp"
#include "platform/host/block_runner.hpp"
#include "platform/host/host_function.hpp"
#include "platform/host/kernel_symbols.hpp"
#include "platform/host/parallel_for.hpp"
#include "platform/host/scheduler.hpp"

ROCARRAY_HOST_API_BEGIN

ROCARRAY_HOST_API hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function,
                                               void* data) {
  return api_call("hipLaunchHostFunc", [=] {
    auto const target = scheduler::instance().find_stream(stream);
    if (target == nullptr) return hipErrorInvalidHandle;
    if (function == nullptr) return hipErrorInvalidValue;
    scheduler::instance().submit(target, [=, work = track_work("host function", stream)] {
      run_host_function(function, data);
    });
    return hipSuccess;
  });
}

#if !defined(ROCARRAY_FAKE_RUNTIME)

hipError_t launch_host_kernel(hipStream_t stream, std::size_t items,
                              void (*run)(void*, std::size_t, std::size_t), void* closure,
                              void (*destroy)(void*)) {
  std::unique_ptr<void, void (*)(void*)> closure_owner(closure, destroy);
  return api_call("launch_host_kernel", [&] {
    if (run == nullptr) return hipErrorInvalidValue;
    std::shared_ptr<void> const owner = std::move(closure_owner);
    return enqueue_kernel(stream, [=] { parallel_for(items, run, owner.get()); });
  });
}

#endif

ROCARRAY_HOST_API_END

#if !defined(ROCARRAY_FAKE_RUNTIME)

namespace roc::host_kernels {

using namespace host_hip;

hipError_t launch_host_grid(hipStream_t stream, host_kernel const& kernel, dim3 grid, dim3 block,
                            std::size_t shared_bytes, void* closure, void (*destroy)(void*)) {
  std::unique_ptr<void, void (*)(void*)> closure_owner(closure, destroy);
  return api_call("launch_host_grid", [&] {
    std::size_t const threads = std::size_t{block.x} * block.y * block.z;
    if (grid.x == 0 || grid.y == 0 || grid.z == 0 || threads == 0 || threads > max_block_threads) {
      return hipErrorInvalidConfiguration;
    }
    auto const* const variables = reinterpret_cast<void const*>(kernel.variables);
    if (defining_object(kernel.function) != defining_object(variables)) {
      std::fprintf(stderr,
                   "rocarray host: kernel %s is defined by another shared object than the one that "
                   "launches it, which has other variables threadIdx and so on; launch it in a "
                   "function of its own shared object, and hide kernels of the same name\n",
                   kernel_name(kernel.function).c_str());
      return hipErrorInvalidDeviceFunction;
    }
    std::size_t const static_bytes = symbols_of(kernel.function).shared_bytes;
    if (shared_bytes > max_shared_bytes || static_bytes > max_shared_bytes - shared_bytes) {
      return hipErrorInvalidValue;
    }
    std::shared_ptr<void> const owner = std::move(closure_owner);
    grid_launch const launch{
        kernel, owner.get(), {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared_bytes};
    return enqueue_kernel(stream, [launch, owner] { run_grid(launch); });
  });
}

hipError_t static_shared_bytes(void const* kernel, std::size_t* bytes) {
  return api_call("static_shared_bytes", [=] {
    *bytes = symbols_of(kernel).shared_bytes;
    return hipSuccess;
  });
}

}  // namespace roc::host_kernels

#endif
