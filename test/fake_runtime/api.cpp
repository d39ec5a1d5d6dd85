// SPDX-License-Identifier: MIT
// Functions that the fake HIP runtime exports besides those of platform/host/api: the launch of
// kernels, hipStreamAddCallback for real runtimes without hipLaunchHostFunc, and the parallel loop
// of host stubs.
#include <hip/hip_runtime_api.h>

#include <cstdio>
#include <memory>

#include "export.hpp"
#include "host_stubs.hpp"
#include "kernel_registry.hpp"
#include "pending_launch.hpp"
#include "platform/host/api_call.hpp"
#include "platform/host/launch.hpp"
#include "platform/host/parallel_for.hpp"

namespace {

using namespace roc::fake_runtime;

/// Maximum number of threads in a block on AMD devices.
constexpr std::size_t max_block_threads = 1024;

struct stream_callback {
  hipStreamCallback_t function;
  hipStream_t stream;
  void* data;
};

}  // namespace

ROCARRAY_FAKE_RUNTIME_EXPORT hipError_t hipLaunchKernel(void const* function, dim3 grid, dim3 block,
                                                        void** arguments, std::size_t,
                                                        hipStream_t stream) {
  return roc::host_hip::api_call("hipLaunchKernel", [&]() -> hipError_t {
    auto const name = kernel_name(function);
    if (!name) return hipErrorInvalidDeviceFunction;
    launch_extent const blocks{{grid.x, grid.y, grid.z}};
    launch_extent const threads{{block.x, block.y, block.z}};
    if (blocks.count() == 0 || threads.count() == 0 || threads.count() > max_block_threads) {
      return hipErrorInvalidConfiguration;
    }
    host_stub const* const stub = find_host_stub(*name);
    if (stub == nullptr) {
      std::fprintf(
          stderr,
          "rocarray fake HIP runtime: kernel %s has no host stub; list the library with its "
          "stub in ROCARRAY_HOST_STUBS\n",
          name->c_str());
      return hipErrorNotSupported;
    }
    auto const launch = std::make_shared<pending_launch>(*stub, blocks, threads, arguments);
    return roc::host_hip::enqueue_kernel(stream, [launch] { launch->run(); });
  });
}

ROCARRAY_FAKE_RUNTIME_EXPORT hipError_t hipStreamAddCallback(hipStream_t stream,
                                                             hipStreamCallback_t function,
                                                             void* data, unsigned flags) {
  if (function == nullptr || flags != 0) return hipErrorInvalidValue;
  auto pending = std::make_unique<stream_callback>(stream_callback{function, stream, data});
  hipError_t const result = hipLaunchHostFunc(
      stream,
      [](void* argument) {
        std::unique_ptr<stream_callback> const callback(static_cast<stream_callback*>(argument));
        callback->function(callback->stream, hipSuccess, callback->data);
      },
      pending.get());
  if (result == hipSuccess) static_cast<void>(pending.release());
  return result;
}

ROCARRAY_FAKE_RUNTIME_EXPORT void rocarray_host_stub_parallel_for(
    std::size_t items, std::size_t grain, void (*run)(void*, std::size_t, std::size_t),
    void* closure) {
  roc::host_hip::parallel_for(items, run, closure, grain);
}
