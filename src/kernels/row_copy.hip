// SPDX-License-Identifier: MIT
// Copies rows with wide accesses, although the rows are aligned differently on the two sides.
#include <cstdint>

#include <roc/native/elementwise.hpp>

#include "kernels/launch.hpp"
#include "kernels/row_job.hpp"
#include "kernels/unroll.hpp"
#include "platform/host/host_stub.hpp"

namespace roc::kernels {

#if defined(__CUDACC__) || defined(__HIP__) || ROCARRAY_KERNEL_HOST_STUB

inline constexpr unsigned chunks_per_thread = 2;

// A template, because hipcc would export another kernel as part of the library's interface.
template <class Job>
__global__ void copy_rows(Job job) {
  std::size_t const chunks_per_block = std::size_t{blockDim.x} * chunks_per_thread;
  for (std::size_t block = blockIdx.x; block * chunks_per_block < job.count; block += gridDim.x) {
    std::size_t const first = block * chunks_per_block + threadIdx.x;
    row_chunk chunks[chunks_per_thread];
    bool exists[chunks_per_thread];
    ROCARRAY_UNROLL
    for (unsigned k = 0; k < chunks_per_thread; ++k) {
      std::size_t const i = first + std::size_t{k} * blockDim.x;
      exists[k] = i < job.count && job.read(i, chunks[k]);
    }
    ROCARRAY_UNROLL
    for (unsigned k = 0; k < chunks_per_thread; ++k) {
      if (exists[k]) job.write(chunks[k]);
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
  constexpr std::size_t max_blocks = 1u << 20;  // the kernel's loop covers the rest
  constexpr std::size_t chunks_per_block = std::size_t{threads} * chunks_per_thread;
  std::size_t const blocks = (job.count + chunks_per_block - 1) / chunks_per_block;
  auto const grid = static_cast<unsigned>(blocks < max_blocks ? blocks : max_blocks);
  copy_rows<row_job><<<dim3(grid), dim3(threads), 0, stream>>>(job);
  return hipGetLastError();
#else
  return native_detail::launch_elementwise(job, job.count, stream);
#endif
}

#endif

}  // namespace roc::kernels
