// SPDX-License-Identifier: MIT
// The vendor's runtime library that a call of the program would have reached without the preloaded
// object, and its functions.
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
  X(hipStreamBeginCapture)         \
  X(hipStreamBeginCapture_spt)     \
  X(hipStreamBeginCaptureToGraph)  \
  X(hipStreamEndCapture)           \
  X(hipStreamEndCapture_spt)       \
  X(hipDeviceReset)
#define ROCARRAY_VENDOR_PREFIX "hip"
#else
#define ROCARRAY_REPLACED_CALLS(X)      \
  X(cudaMemcpy)                         \
  X(cudaMemcpy_ptds)                    \
  X(cudaMemcpyAsync)                    \
  X(cudaMemcpyAsync_ptsz)               \
  X(cudaMemcpy2D)                       \
  X(cudaMemcpy2D_ptds)                  \
  X(cudaMemcpy2DAsync)                  \
  X(cudaMemcpy2DAsync_ptsz)             \
  X(cudaMemcpy3D)                       \
  X(cudaMemcpy3D_ptds)                  \
  X(cudaMemcpy3DAsync)                  \
  X(cudaMemcpy3DAsync_ptsz)             \
  X(cudaStreamBeginCapture)             \
  X(cudaStreamBeginCapture_ptsz)        \
  X(cudaStreamBeginCaptureToGraph)      \
  X(cudaStreamBeginCaptureToGraph_ptsz) \
  X(cudaStreamEndCapture)               \
  X(cudaStreamEndCapture_ptsz)          \
  X(cudaDeviceReset)
#define ROCARRAY_VENDOR_PREFIX "cuda"
#endif

#define ROCARRAY_CALL_ENUMERATOR(function) function,
enum class call : unsigned { ROCARRAY_REPLACED_CALLS(ROCARRAY_CALL_ENUMERATOR) count };
#undef ROCARRAY_CALL_ENUMERATOR
inline constexpr std::size_t call_count = static_cast<std::size_t>(call::count);

/// Returns the name of the function.
char const* name_of(call function) noexcept;

/// A loaded runtime library: libamdhip64 or libcudart. It is kept loaded until the process ends.
struct vendor_runtime {
  void* library = nullptr;  // dlopen's handle
  std::array<void*, call_count> functions{};
  int (*peek_at_last_error)() = nullptr;
  int (*get_last_error)() = nullptr;
  int (*get_device)(int*) = nullptr;
  int (*is_capturing)(void* stream, int* status) = nullptr;
  /// A successful call leaves the error of an earlier one in place. False before ROCm 7, where
  /// hipGetLastError returns the result of the last call.
  bool keeps_errors = true;

  void* function(call id) const noexcept { return functions[static_cast<std::size_t>(id)]; }
};

/// Returns the runtime that a call from `caller`, an address in the program's code, reaches: the
/// one that the caller's object was linked with, else the next one in the program's search order,
/// else any that is loaded. Returns null if none is loaded. Takes the loader's lock: the caller
/// holds no lock, see publication_lock.
vendor_runtime const* find_runtime(void const* caller) noexcept;

}  // namespace roc::preload
