// SPDX-License-Identifier: MIT
// HIP's types and calls from the platform's implementation. This is the only place that selects the
// implementation and handles the differences between versions of HIP.
//
// Exactly one of ROCARRAY_PLATFORM_HOST, ROCARRAY_PLATFORM_AMD and ROCARRAY_PLATFORM_NVIDIA is 1.
// The build defines it (the exported CMake target carries it). If none is defined, the compiler
// decides.
#pragma once

#if !defined(ROCARRAY_PLATFORM_HOST) && !defined(ROCARRAY_PLATFORM_AMD) && \
    !defined(ROCARRAY_PLATFORM_NVIDIA)
#if defined(__HIP_PLATFORM_AMD__) || defined(__HIP__)
#define ROCARRAY_PLATFORM_AMD 1
#elif defined(__HIP_PLATFORM_NVIDIA__) || defined(__CUDACC__)
#define ROCARRAY_PLATFORM_NVIDIA 1
#else
#define ROCARRAY_PLATFORM_HOST 1
#endif
#endif

#if ROCARRAY_PLATFORM_HOST + ROCARRAY_PLATFORM_AMD + ROCARRAY_PLATFORM_NVIDIA != 1
#error \
    "rocarray: exactly one of ROCARRAY_PLATFORM_HOST, ROCARRAY_PLATFORM_AMD, ROCARRAY_PLATFORM_NVIDIA must be 1"
#endif

#include <type_traits>

#if ROCARRAY_PLATFORM_AMD
#include <roc/native/rocm.hpp>
#elif ROCARRAY_PLATFORM_NVIDIA
// Without HIP's headers, or if ROCARRAY_NATIVE_ALIAS is 1, the calls that rocarray uses are aliases
// of CUDA's.
#if !ROCARRAY_NATIVE_ALIAS && __has_include(<hip/nvidia_detail/nvidia_hip_runtime_api.h>)
#include <roc/native/cuda13.hpp>
#else
#include <roc/native/cuda_alias.hpp>
using namespace roc::cuda_alias;
#endif
#else
#include <roc/native/host_hip.hpp>
using namespace roc::host_hip;
#endif

// Old headers of HIP do not define this flag. (On AMD its bit also requests coarse-grained
// coherence.)
#if defined(HIP_VERSION) && !defined(hipHostRegisterReadOnly)
inline constexpr unsigned hipHostRegisterReadOnly = 0x08;
#endif

// HIP's headers for NVIDIA define the other two attach flags only.
#if defined(HIP_VERSION) && !defined(hipMemAttachGlobal)
inline constexpr unsigned hipMemAttachGlobal = 0x01;
#endif

#if defined(HIP_VERSION)
#include <roc/native/typed_calls.hpp>
#endif

namespace roc::native_detail {

/// hipMemPoolAttrReleaseThreshold, which HIP's headers for NVIDIA do not define. CUDA has the same
/// number.
inline constexpr auto release_threshold = static_cast<hipMemPoolAttr>(4);

/// hipMemLocationTypeDevice and hipMemAccessFlagsProtReadWrite, which HIP's headers for NVIDIA do
/// not define either. CUDA has the same numbers.
inline constexpr auto device_location = static_cast<decltype(hipMemLocation::type)>(1);
inline constexpr auto full_access = static_cast<hipMemAccessFlags>(3);

enum class memory_kind { unregistered, host, device, managed };

/// Returns the kind of memory that hipPointerGetAttributes describes. HIP 6 renamed the member,
/// renumbered the enumeration, and added a value for memory that the runtime does not know.
template <class Attributes>
constexpr memory_kind kind_of(Attributes const& attributes) {
  constexpr auto type_of = [](Attributes const& a) {
    if constexpr (requires { a.type; }) {
      return a.type;
    } else {
      return a.memoryType;
    }
  };
  auto const type = type_of(attributes);
  if (attributes.isManaged != 0) return memory_kind::managed;
  if (type == hipMemoryTypeHost) return memory_kind::host;
  if (type == hipMemoryTypeDevice) return memory_kind::device;
  // Before HIP 6 the value 0 was hipMemoryTypeHost, which is handled above.
  return type == hipMemoryType{} ? memory_kind::unregistered : memory_kind::managed;
}

/// Sets `bytes` to the largest shared memory that a block can have. On NVIDIA a kernel must opt in
/// to a part of it; HIP's headers do not translate the attribute.
inline hipError_t shared_memory_limit(int* bytes, int device) {
#if ROCARRAY_PLATFORM_NVIDIA
  cudaError_t const error =
      cudaDeviceGetAttribute(bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  return error == cudaSuccess ? hipSuccess : hipErrorInvalidDevice;
#else
  return hipDeviceGetAttribute(bytes, hipDeviceAttributeMaxSharedMemoryPerBlock, device);
#endif
}

#if defined(__CUDACC__) || defined(__HIP__)
// The following functions are hidden: on NVIDIA, each shared object may have its own CUDA runtime,
// which knows the kernels of that object only.
#pragma GCC visibility push(hidden)

/// Sets the static shared memory of a block and the largest block of a kernel of the calling shared
/// object, on the current device.
inline hipError_t query_kernel(void const* kernel, std::size_t* static_bytes,
                               std::ptrdiff_t* threads) {
#if ROCARRAY_PLATFORM_NVIDIA
  cudaFuncAttributes attributes{};
  cudaError_t const error = cudaFuncGetAttributes(&attributes, kernel);
  if (error != cudaSuccess) static_cast<void>(cudaGetLastError());  // does not fail a later call
#else
  hipFuncAttributes attributes{};
  hipError_t const error = hipFuncGetAttributes(&attributes, kernel);
  if (error != hipSuccess) static_cast<void>(hipGetLastError());
#endif
  *static_bytes = attributes.sharedSizeBytes;
  *threads = attributes.maxThreadsPerBlock;
  return static_cast<hipError_t>(error);  // the errors of launches have the same numbers
}

#if ROCARRAY_PLATFORM_NVIDIA
/// Allows blocks of a kernel of the calling shared object `bytes` of dynamic shared memory, on the
/// current device.
inline hipError_t allow_dynamic_bytes(void const* kernel, std::size_t bytes) {
  cudaError_t const error = cudaFuncSetAttribute(
      kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  if (error != cudaSuccess) static_cast<void>(cudaGetLastError());
  return static_cast<hipError_t>(error);
}
#endif

/// Enqueues a kernel of the calling shared object. Returns the error of this launch, not an earlier
/// one.
inline hipError_t launch_kernel(void const* kernel, dim3 grid, dim3 block, void** arguments,
                                std::size_t shared_bytes, hipStream_t stream) {
#if ROCARRAY_PLATFORM_NVIDIA
  cudaError_t const error = cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
  if (error == cudaSuccess) return hipSuccess;
  static_cast<void>(cudaGetLastError());
  return static_cast<hipError_t>(error);
#else
  hipError_t const error = hipLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
  if (error != hipSuccess) static_cast<void>(hipGetLastError());
  return error;
#endif
}

/// Does what launch_kernel does, for a kernel without dynamic shared memory. After
/// `kernel<<<grid, block>>>(…)`, hipGetLastError may return the error of an earlier call of the
/// program.
template <class... Parameters>
hipError_t launch_kernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, hipStream_t stream,
                         std::type_identity_t<Parameters> const&... arguments) {
  void* pointers[] = {const_cast<void*>(static_cast<void const*>(&arguments))...};
  return launch_kernel(reinterpret_cast<void const*>(kernel), grid, block, pointers, 0, stream);
}

#pragma GCC visibility pop
#endif

/// Returns hipDeviceAttributeHostRegisterSupported if the header defines it, else an attribute for
/// which every implementation returns hipErrorInvalidValue.
template <class Attribute = hipDeviceAttribute_t>
constexpr Attribute host_register_supported() {
  if constexpr (requires { Attribute::hipDeviceAttributeHostRegisterSupported; }) {
    return Attribute::hipDeviceAttributeHostRegisterSupported;
  } else {
    return Attribute::hipDeviceAttributeCudaCompatibleEnd;
  }
}

}  // namespace roc::native_detail
