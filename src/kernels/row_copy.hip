// SPDX-License-Identifier: MIT
// Rows whose beginnings lie differently on the two sides: wide accesses all the same.
#include <cstdint>

#include <roc/native/elementwise.hpp>

#include "kernels/launch.hpp"
#include "kernels/row_job.hpp"
#include "kernels/unroll.hpp"
#include "platform/host/host_stub.hpp"

namespace roc::kernels {

#if defined(__CUDACC__) || defined(__HIP__) || ROCARRAY_KERNEL_HOST_STUB

inline constexpr unsigned parts_per_thread = 2;

// A template: a device compiler would export a plain kernel as part of the library's interface.
template <class Job>
__global__ void copy_rows(Job job) {
  std::size_t const in_block = std::size_t{blockDim.x} * parts_per_thread;
  for (std::size_t block = blockIdx.x; block * in_block < job.count; block += gridDim.x) {
    std::size_t const first = block * in_block + threadIdx.x;
    row_part parts[parts_per_thread];
    bool any[parts_per_thread];
    ROCARRAY_UNROLL
    for (unsigned k = 0; k < parts_per_thread; ++k) {
      std::size_t const i = first + std::size_t{k} * blockDim.x;
      any[k] = i < job.count && job.read(i, parts[k]);
    }
    ROCARRAY_UNROLL
    for (unsigned k = 0; k < parts_per_thread; ++k) {
      if (any[k]) job.write(parts[k]);
    }
  }
}

ROCARRAY_HOST_STUB(copy_rows<row_job>);

#endif

#if !ROCARRAY_KERNEL_HOST_STUB

hipError_t launch_row_copy(row_job const& job, hipStream_t stream) {
#if defined(__CUDACC__) || defined(__HIP__)
  if (job.count == 0) return hipSuccess;
  constexpr unsigned threads = 256;
  constexpr std::size_t most_blocks = 1u << 20;  // the grid's stride covers the rest
  constexpr std::size_t in_block = std::size_t{threads} * parts_per_thread;
  std::size_t const blocks = (job.count + in_block - 1) / in_block;
  auto const grid = static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks);
  copy_rows<row_job><<<dim3(grid), dim3(threads), 0, stream>>>(job);
  return hipGetLastError();
#else
  return native_detail::launch_elementwise(job, job.count, stream);
#endif
}

#endif

}  // namespace roc::kernels
