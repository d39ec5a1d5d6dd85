// SPDX-License-Identifier: MIT
// Functions that the fake HIP runtime exports besides those of platform/host/api: the launch of
// kernels, hipStreamAddCallback for real runtimes without hipLaunchHostFunc, and the further copies
// that only programs without the library call.
#include <hip/hip_runtime_api.h>

#include <cstdio>
#include <memory>

#include "export.hpp"
#include "host_stubs.hpp"
#include "kernel_registry.hpp"
#include "pending_launch.hpp"
#include "platform/host/api_call.hpp"
#include "platform/host/arena.hpp"
#include "platform/host/capture.hpp"
#include "platform/host/grid.hpp"
#include "platform/host/host_ranges.hpp"
#include "platform/host/kernel_symbols.hpp"
#include "platform/host/launch.hpp"
#include "platform/host/scheduler.hpp"

namespace {

using namespace roc::fake_runtime;

struct stream_callback {
  hipStreamCallback_t function;
  hipStream_t stream;
  void* data;
};

// Returns the stream that a null handle means for a call of the per-thread default stream.
hipStream_t per_thread(hipStream_t stream) {
  return stream == nullptr ? hipStreamPerThread : stream;
}

// Returns the static shared memory of a block of the kernel; 0 if there is no stub.
std::size_t static_shared_bytes(host_stub const* stub) {
  bool const has_threads = stub != nullptr && stub->kernel.function != nullptr;
  return has_threads ? roc::host_hip::symbols_of(stub->kernel.function)->shared_bytes : 0;
}

// Callbacks cannot be captured, other than host functions.
hipError_t refuse_capture(hipStream_t stream) {
  return roc::host_hip::api_call("hipStreamAddCallback", [=] {
    auto const target = roc::host_hip::scheduler::instance().find_stream(stream);
    if (target != nullptr) roc::host_hip::stream_captures::instance().refuse(target.get());
    return hipSuccess;
  });
}

// The type of the host memory that hipMemcpyHtoD reads: `void*` before HIP 7, `void const*` later.
template <class Function>
struct source_of;
template <class Source>
struct source_of<hipError_t(hipDeviceptr_t, Source, std::size_t)> {
  using type = Source;
};
using host_source = source_of<decltype(hipMemcpyHtoD)>::type;

// Waits for a copy that was enqueued with `result`.
hipError_t complete(hipError_t result, hipStream_t stream) {
  return result == hipSuccess ? hipStreamSynchronize(stream) : result;
}

}  // namespace

ROCARRAY_FAKE_RUNTIME_EXPORT hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes,
                                                             void const* function) {
  return roc::host_hip::api_call("hipFuncGetAttributes", [=]() -> hipError_t {
    if (attributes == nullptr) return hipErrorInvalidValue;
    auto const name = kernel_name(function);
    if (!name) return hipErrorInvalidDeviceFunction;
    *attributes = {};
    attributes->maxThreadsPerBlock = static_cast<int>(roc::host_kernels::max_block_threads);
    attributes->sharedSizeBytes = static_shared_bytes(find_host_stub(*name));
    attributes->maxDynamicSharedSizeBytes =
        static_cast<int>(roc::host_hip::max_shared_bytes() - attributes->sharedSizeBytes);
    return hipSuccess;
  });
}

ROCARRAY_FAKE_RUNTIME_EXPORT hipError_t hipLaunchKernel(void const* function, dim3 grid, dim3 block,
                                                        void** arguments, std::size_t shared_bytes,
                                                        hipStream_t stream) {
  return roc::host_hip::api_call("hipLaunchKernel", [&]() -> hipError_t {
    auto const name = kernel_name(function);
    if (!name) return hipErrorInvalidDeviceFunction;
    launch_extent const blocks{{grid.x, grid.y, grid.z}};
    launch_extent const threads{{block.x, block.y, block.z}};
    if (blocks.count() == 0 || threads.count() == 0 ||
        threads.count() > roc::host_kernels::max_block_threads) {
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
    if (shared_bytes > roc::host_hip::max_shared_bytes() ||
        static_shared_bytes(stub) > roc::host_hip::max_shared_bytes() - shared_bytes) {
      return hipErrorInvalidValue;
    }
    auto const launch =
        std::make_shared<pending_launch>(*stub, blocks, threads, shared_bytes, arguments);
    return roc::host_hip::enqueue_kernel(stream, [launch] { launch->run(); });
  });
}

ROCARRAY_FAKE_RUNTIME_EXPORT hipError_t hipStreamAddCallback(hipStream_t stream,
                                                             hipStreamCallback_t function,
                                                             void* data, unsigned flags) {
  if (function == nullptr || flags != 0) return hipErrorInvalidValue;
  if (hipError_t const refused = refuse_capture(stream); refused != hipSuccess) return refused;
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

ROCARRAY_FAKE_RUNTIME_EXPORT hipError_t hipMemcpyWithStream(void* to, void const* from,
                                                            std::size_t bytes, hipMemcpyKind kind,
                                                            hipStream_t stream) {
  return complete(hipMemcpyAsync(to, from, bytes, kind, stream), stream);
}

ROCARRAY_FAKE_RUNTIME_EXPORT hipError_t hipMemcpy_spt(void* to, void const* from, std::size_t bytes,
                                                      hipMemcpyKind kind) {
  return hipMemcpyWithStream(to, from, bytes, kind, hipStreamPerThread);
}

ROCARRAY_FAKE_RUNTIME_EXPORT hipError_t hipMemcpyAsync_spt(void* to, void const* from,
                                                           std::size_t bytes, hipMemcpyKind kind,
                                                           hipStream_t stream) {
  return hipMemcpyAsync(to, from, bytes, kind, per_thread(stream));
}

ROCARRAY_FAKE_RUNTIME_EXPORT hipError_t hipMemcpyHtoD(hipDeviceptr_t to, host_source from,
                                                      std::size_t bytes) {
  return hipMemcpyWithStream(to, from, bytes, hipMemcpyHostToDevice, nullptr);
}

ROCARRAY_FAKE_RUNTIME_EXPORT hipError_t hipMemcpyDtoH(void* to, hipDeviceptr_t from,
                                                      std::size_t bytes) {
  return hipMemcpyWithStream(to, from, bytes, hipMemcpyDeviceToHost, nullptr);
}

ROCARRAY_FAKE_RUNTIME_EXPORT hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, host_source from,
                                                           std::size_t bytes, hipStream_t stream) {
  return hipMemcpyAsync(to, from, bytes, hipMemcpyHostToDevice, stream);
}

ROCARRAY_FAKE_RUNTIME_EXPORT hipError_t hipMemcpyDtoHAsync(void* to, hipDeviceptr_t from,
                                                           std::size_t bytes, hipStream_t stream) {
  return hipMemcpyAsync(to, from, bytes, hipMemcpyDeviceToHost, stream);
}

ROCARRAY_FAKE_RUNTIME_EXPORT hipError_t hipMemcpy2D(void* to, std::size_t to_pitch,
                                                    void const* from, std::size_t from_pitch,
                                                    std::size_t width, std::size_t height,
                                                    hipMemcpyKind kind) {
  return complete(hipMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, nullptr),
                  nullptr);
}

ROCARRAY_FAKE_RUNTIME_EXPORT hipError_t hipMemcpy3D(hipMemcpy3DParms const* parameters) {
  return complete(hipMemcpy3DAsync(parameters, nullptr), nullptr);
}

ROCARRAY_FAKE_RUNTIME_EXPORT hipError_t hipMemcpy2D_spt(void* to, std::size_t to_pitch,
                                                        void const* from, std::size_t from_pitch,
                                                        std::size_t width, std::size_t height,
                                                        hipMemcpyKind kind) {
  return complete(
      hipMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, hipStreamPerThread),
      hipStreamPerThread);
}

ROCARRAY_FAKE_RUNTIME_EXPORT hipError_t hipMemcpy3D_spt(hipMemcpy3DParms const* parameters) {
  return complete(hipMemcpy3DAsync(parameters, hipStreamPerThread), hipStreamPerThread);
}

// Exported if the installed library has them. Its header may not declare them.
ROCARRAY_FAKE_RUNTIME_EXPORT hipError_t hipMemcpy2DAsync_spt(
    void* to, std::size_t to_pitch, void const* from, std::size_t from_pitch, std::size_t width,
    std::size_t height, hipMemcpyKind kind, hipStream_t stream) {
  return hipMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, per_thread(stream));
}

ROCARRAY_FAKE_RUNTIME_EXPORT hipError_t hipMemcpy3DAsync_spt(hipMemcpy3DParms const* parameters,
                                                             hipStream_t stream) {
  return hipMemcpy3DAsync(parameters, per_thread(stream));
}

ROCARRAY_FAKE_RUNTIME_EXPORT hipError_t hipStreamBeginCapture_spt(hipStream_t stream,
                                                                  hipStreamCaptureMode mode) {
  return hipStreamBeginCapture(per_thread(stream), mode);
}

ROCARRAY_FAKE_RUNTIME_EXPORT hipError_t hipStreamEndCapture_spt(hipStream_t stream,
                                                                hipGraph_t* graph) {
  return hipStreamEndCapture(per_thread(stream), graph);
}
