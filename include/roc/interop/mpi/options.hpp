// SPDX-License-Identifier: MIT
// Options of a communicator, and whether MPI takes device memory. Included by roc/interop/mpi.hpp.
#pragma once

#include <chrono>
#include <cstddef>

#include <roc/interop/mpi/error.hpp>

#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#if ROCARRAY_PLATFORM_HOST + ROCARRAY_PLATFORM_AMD + ROCARRAY_PLATFORM_NVIDIA != 1
#error \
    "rocarray: roc/interop/mpi.hpp asks whether MPI takes the platform's memory: link \
rocarray::rocarray, which defines the platform, or define one of ROCARRAY_PLATFORM_HOST, \
ROCARRAY_PLATFORM_AMD, ROCARRAY_PLATFORM_NVIDIA as 1"
#endif

namespace roc {

/// Returns true if the MPI that the program runs with says that it takes pointers to device memory
/// of this platform: MPIX_Query_rocm_support or MPIX_GPU_query_support on AMD,
/// MPIX_Query_cuda_support on NVIDIA. False on the host platform, if the header of MPI declares no
/// such function, and outside of MPI_Init and MPI_Finalize.
[[nodiscard]] inline bool mpi_takes_device_pointers() {
  if (!detail::is_mpi_running()) return false;
#if ROCARRAY_PLATFORM_AMD
#if defined(MPIX_ROCM_AWARE_SUPPORT)
  return MPIX_Query_rocm_support() != 0;
#elif defined(MPIX_GPU_SUPPORT_HIP)
  int is_supported = 0;
  return MPIX_GPU_query_support(MPIX_GPU_SUPPORT_HIP, &is_supported) == MPI_SUCCESS &&
         is_supported != 0;
#else
  return false;
#endif
#elif ROCARRAY_PLATFORM_NVIDIA && defined(MPIX_CUDA_AWARE_SUPPORT)
  return MPIX_Query_cuda_support() != 0;
#elif ROCARRAY_PLATFORM_NVIDIA && defined(MPIX_GPU_SUPPORT_CUDA)
  int is_supported = 0;
  return MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &is_supported) == MPI_SUCCESS &&
         is_supported != 0;
#else
  return false;
#endif
}

/// How MPI sends and receives device memory.
enum class mpi_device_memory : unsigned char {
  ask,     ///< passed if mpi_takes_device_pointers()
  staged,  ///< copied through pinned host memory in chunks
  direct,  ///< passed; crashes if MPI cannot access it
};

/// Options of a communicator.
struct mpi_options {
  /// How MPI sends and receives device memory. May differ between ranks.
  mpi_device_memory device_memory = mpi_device_memory::ask;
  /// The largest MPI message in bytes: 256 to 1 GiB. Larger arrays are transferred in chunks, so
  /// that any number of elements can be sent. The least value of all ranks applies.
  std::size_t chunk = std::size_t{4} << 20;
  /// Arrays up to this size in bytes, and at most what MPI itself sends without the receiver, are
  /// sent without the receiver taking part, in one message with their envelope: 0 to 1 MiB. The
  /// least value of all ranks applies.
  std::size_t inline_limit = std::size_t{16} << 10;
  /// How long one wait for other ranks may take, of an operation or a request: then
  /// mpi_timeout_error is thrown, and neither MPI nor the library accesses the arrays any more.
  /// Waiting for work of this rank's stream does not count. 0: as long as it takes. May differ
  /// between ranks, but pass the same to all: a rank without a limit may never return if another
  /// one gave up.
  ///
  /// With a limit, MPI gets only memory of the library, because MPI cannot end a transfer that has
  /// begun: host memory is copied once more, and device memory is staged, whatever `device_memory`
  /// is.
  std::chrono::milliseconds time_limit{0};
};

}  // namespace roc
