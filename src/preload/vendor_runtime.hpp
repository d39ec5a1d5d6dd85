// SPDX-License-Identifier: MIT
// The vendor's library that a call of the program would have reached without the preloaded object,
// and its functions: the HIP runtime on amd, the driver on nvidia.
#pragma once

#include <array>
#include <cstddef>

namespace roc::preload {

// The functions that librocarray-preload.so replaces.
#if ROCARRAY_PLATFORM_AMD
#define ROCARRAY_REPLACED_CALLS(X) \
  X(hipMemcpy)                     \
  X(hipMemcpy_spt)                 \
  X(hipMemcpyAsync)                \
  X(hipMemcpyAsync_spt)            \
  X(hipMemcpyWithStream)           \
  X(hipMemcpyHtoD)                 \
  X(hipMemcpyHtoDAsync)            \
  X(hipMemcpyDtoH)                 \
  X(hipMemcpyDtoHAsync)            \
  X(hipMemcpy2D)                   \
  X(hipMemcpy2D_spt)               \
  X(hipMemcpy2DAsync)              \
  X(hipMemcpy2DAsync_spt)          \
  X(hipMemcpy3D)                   \
  X(hipMemcpy3D_spt)               \
  X(hipMemcpy3DAsync)              \
  X(hipMemcpy3DAsync_spt)          \
  X(hipMemcpyParam2D)              \
  X(hipMemcpyParam2DAsync)         \
  X(hipDrvMemcpy2DUnaligned)       \
  X(hipDrvMemcpy3D)                \
  X(hipDrvMemcpy3DAsync)           \
  X(hipStreamBeginCapture)         \
  X(hipStreamBeginCapture_spt)     \
  X(hipStreamBeginCaptureToGraph)  \
  X(hipStreamEndCapture)           \
  X(hipStreamEndCapture_spt)       \
  X(hipStreamDestroy)              \
  X(hipDeviceReset)
#else
#define ROCARRAY_REPLACED_CALLS(X)    \
  X(cuMemcpy)                         \
  X(cuMemcpy_ptds)                    \
  X(cuMemcpyAsync)                    \
  X(cuMemcpyAsync_ptsz)               \
  X(cuMemcpyHtoD_v2)                  \
  X(cuMemcpyHtoD_v2_ptds)             \
  X(cuMemcpyHtoDAsync_v2)             \
  X(cuMemcpyHtoDAsync_v2_ptsz)        \
  X(cuMemcpyDtoH_v2)                  \
  X(cuMemcpyDtoH_v2_ptds)             \
  X(cuMemcpyDtoHAsync_v2)             \
  X(cuMemcpyDtoHAsync_v2_ptsz)        \
  X(cuMemcpy2D_v2)                    \
  X(cuMemcpy2D_v2_ptds)               \
  X(cuMemcpy2DUnaligned_v2)           \
  X(cuMemcpy2DUnaligned_v2_ptds)      \
  X(cuMemcpy2DAsync_v2)               \
  X(cuMemcpy2DAsync_v2_ptsz)          \
  X(cuMemcpy3D_v2)                    \
  X(cuMemcpy3D_v2_ptds)               \
  X(cuMemcpy3DAsync_v2)               \
  X(cuMemcpy3DAsync_v2_ptsz)          \
  X(cuStreamBeginCapture)             \
  X(cuStreamBeginCapture_ptsz)        \
  X(cuStreamBeginCapture_v2)          \
  X(cuStreamBeginCapture_v2_ptsz)     \
  X(cuStreamBeginCaptureToGraph)      \
  X(cuStreamBeginCaptureToGraph_ptsz) \
  X(cuStreamEndCapture)               \
  X(cuStreamEndCapture_ptsz)          \
  X(cuStreamDestroy)                  \
  X(cuStreamDestroy_v2)               \
  X(cuCtxDestroy)                     \
  X(cuCtxDestroy_v2)                  \
  X(cuDevicePrimaryCtxReset)          \
  X(cuDevicePrimaryCtxReset_v2)       \
  X(cuGetProcAddress)                 \
  X(cuGetProcAddress_v2)
#endif

#define ROCARRAY_CALL_ENUMERATOR(function) function,
enum class call : unsigned { ROCARRAY_REPLACED_CALLS(ROCARRAY_CALL_ENUMERATOR) count };
#undef ROCARRAY_CALL_ENUMERATOR
inline constexpr std::size_t call_count = static_cast<std::size_t>(call::count);

/// The names by which the vendor's library exports the functions.
#define ROCARRAY_CALL_NAME(function) #function,
inline constexpr std::array<char const*, call_count> call_names = {
    ROCARRAY_REPLACED_CALLS(ROCARRAY_CALL_NAME)};
#undef ROCARRAY_CALL_NAME

/// A loaded library of the vendor: libamdhip64, or libcuda, the driver's. It is kept loaded until
/// the process ends.
struct vendor_runtime {
  void* library = nullptr;  // dlopen's handle
  std::array<void*, call_count> functions{};
  int (*get_device)(int*) = nullptr;
  int (*is_capturing)(void* stream, int* status) = nullptr;
  /// True if the library keeps the error of a call until the program fetches it. False before
  /// ROCm 7, where the next call replaces it, and for the driver on nvidia, which keeps none.
  bool keeps_errors = false;
  int (*peek_at_last_error)() = nullptr;  // only if keeps_errors
  int (*get_last_error)() = nullptr;      // only if keeps_errors
  /// True if the library has the major version that this object was built for (amd). The structures
  /// and enumerations of other versions differ.
  bool is_expected_version = false;
  // The contexts of captured streams, on nvidia only.
  int (*get_context)(void** context) = nullptr;
  int (*get_stream_context)(void* stream, void** context) = nullptr;
  int (*get_primary_state)(int device, unsigned* flags, int* is_active) = nullptr;
  int (*retain_primary)(void** context, int device) = nullptr;
  int (*release_primary)(int device) = nullptr;

  void* function(call id) const noexcept { return functions[static_cast<std::size_t>(id)]; }
};

#if ROCARRAY_PLATFORM_AMD
/// The result of a call without a runtime: hipErrorNotInitialized.
inline constexpr int code_without_runtime = 3;
#else
/// The result of a call without a driver: CUDA_ERROR_STUB_LIBRARY.
inline constexpr int code_without_runtime = 34;
#endif
/// The result of a call of a function that the runtime lacks: hipErrorNotSupported,
/// CUDA_ERROR_NOT_SUPPORTED.
inline constexpr int code_without_function = 801;

/// Returns the runtime that a call from `caller`, an address in the program's code, reaches. On
/// amd, it is the one that the caller's object was linked with, else the next one in the program's
/// search order, else any that is loaded. On nvidia, it is the driver, which the first call loads.
/// Returns null if there is none. Takes the loader's lock: the caller holds no lock, see
/// publication_lock.
vendor_runtime const* find_runtime(void const* caller) noexcept;

/// Returns the function to which a call from `caller` is passed on, or null if there is none. On
/// amd, returns the function of a preloaded tool after this object in the search order, if there is
/// one and it is not the caller; otherwise the runtime's. On nvidia, returns the driver's function.
/// Takes the loader's lock, as find_runtime.
void* find_vendor_function(vendor_runtime const& runtime, call function,
                           void const* caller) noexcept;

}  // namespace roc::preload
