// SPDX-License-Identifier: MIT
#include <cstdint>

#include <roc/native/elementwise.hpp>

#include "kernels/launch.hpp"
#include "kernels/unroll.hpp"
#include "platform/host/host_stub.hpp"

namespace roc::kernels {

#if defined(__CUDACC__) || defined(__HIP__) || ROCARRAY_KERNEL_HOST_STUB

inline constexpr unsigned units_per_thread = 4;

// Every thread has several units on their way at once: a load and its store by themselves do not
// keep the memory busy.
template <class Unit, class Index>
__global__ void copy_units(copy_unit<Unit, Index> f) {
  std::size_t const in_block = std::size_t{blockDim.x} * units_per_thread;
  for (std::size_t block = blockIdx.x; block * in_block < f.job.count; block += gridDim.x) {
    std::size_t const first = block * in_block + threadIdx.x;
    unit_place places[units_per_thread];
    Unit units[units_per_thread];
    ROCARRAY_UNROLL
    for (unsigned k = 0; k < units_per_thread; ++k) {
      std::size_t const i = first + std::size_t{k} * blockDim.x;
      if (i >= f.job.count) break;
      places[k] = f.locate(i);
      units[k] = f.read(places[k]);
    }
    ROCARRAY_UNROLL
    for (unsigned k = 0; k < units_per_thread; ++k) {
      if (first + std::size_t{k} * blockDim.x >= f.job.count) break;
      *reinterpret_cast<Unit*>(places[k].to) = units[k];
    }
  }
}

#define ROCARRAY_UNIT_HOST_STUB(unit, index) ROCARRAY_HOST_STUB(copy_units<unit, index>)
ROCARRAY_FOR_EACH_UNIT(ROCARRAY_UNIT_HOST_STUB);

#endif

#if !ROCARRAY_KERNEL_HOST_STUB

template <class Unit, class Index>
hipError_t launch_strided_copy(strided_job<Index> const& job, hipStream_t stream) {
#if defined(__CUDACC__) || defined(__HIP__)
  if (job.count == 0) return hipSuccess;
  constexpr unsigned threads = 256;
  constexpr std::size_t most_blocks = 1u << 20;  // the grid's stride covers the rest
  constexpr std::size_t in_block = std::size_t{threads} * units_per_thread;
  std::size_t const blocks = (job.count + in_block - 1) / in_block;
  auto const grid = static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks);
  copy_units<Unit, Index><<<dim3(grid), dim3(threads), 0, stream>>>({job});
  return hipGetLastError();
#else
  return native_detail::launch_elementwise(copy_unit<Unit, Index>{job}, job.count, stream);
#endif
}

#define ROCARRAY_INSTANTIATE(unit, index) \
  template hipError_t launch_strided_copy<unit, index>(strided_job<index> const&, hipStream_t)
ROCARRAY_FOR_EACH_UNIT(ROCARRAY_INSTANTIATE);

#endif

}  // namespace roc::kernels
