// SPDX-License-Identifier: MIT
// The calls of the real library that concern kernels, and the one that stands in for
// hipLaunchHostFunc where its runtime has none.
#include <hip/hip_runtime_api.h>

#include <cstdio>
#include <memory>

#include "export.hpp"
#include "launch.hpp"
#include "platform/host/launch.hpp"
#include "registration.hpp"
#include "host_stubs.hpp"

namespace {

using namespace roc::hip_double;

/// The threads of a block that an AMD device takes.
constexpr std::size_t largest_block = 1024;

struct stream_callback {
  hipStreamCallback_t function;
  hipStream_t stream;
  void* data;
};

}  // namespace

ROCARRAY_FAKE_RUNTIME_EXPORT hipError_t hipLaunchKernel(void const* function, dim3 grid, dim3 block,
                                             void** arguments, std::size_t, hipStream_t stream) {
  return roc::host_hip::call("hipLaunchKernel", [&]() -> hipError_t {
    auto const name = kernel_name(function);
    if (!name) return hipErrorInvalidDeviceFunction;
    extent const blocks{{grid.x, grid.y, grid.z}};
    extent const threads{{block.x, block.y, block.z}};
    if (blocks.count() == 0 || threads.count() == 0 || threads.count() > largest_block) {
      return hipErrorInvalidConfiguration;
    }
    host_stub const* const twin = find_host_stub(*name);
    if (twin == nullptr) {
      std::fprintf(stderr, "rocarray double: no twin of kernel %s in ROCARRAY_HOST_STUBS\n",
                   name->c_str());
      return hipErrorNotSupported;
    }
    auto const pending = std::make_shared<launch>(*twin, blocks, threads, arguments);
    return roc::host_hip::enqueue_kernel(stream, [pending] { pending->run(); });
  });
}

ROCARRAY_FAKE_RUNTIME_EXPORT hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t function,
                                                  void* data, unsigned flags) {
  if (function == nullptr || flags != 0) return hipErrorInvalidValue;
  auto pending = std::make_unique<stream_callback>(stream_callback{function, stream, data});
  hipError_t const result = hipLaunchHostFunc(
      stream,
      [](void* argument) {
        std::unique_ptr<stream_callback> const call(static_cast<stream_callback*>(argument));
        call->function(call->stream, hipSuccess, call->data);
      },
      pending.get());
  if (result == hipSuccess) static_cast<void>(pending.release());
  return result;
}

ROCARRAY_FAKE_RUNTIME_EXPORT void rocarray_host_stub_parallel(std::size_t items, std::size_t grain,
                                         void (*run)(void*, std::size_t, std::size_t),
                                         void* closure) {
  roc::host_hip::run_parallel(items, run, closure, grain);
}
