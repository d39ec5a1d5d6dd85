// SPDX-License-Identifier: MIT
// Many small copies by one kernel. The items, and one side of every copy, may be in pinned host
// memory.
#include <cstdint>

#include <roc/native/elementwise.hpp>

#include "kernels/launch.hpp"
#include "platform/host/host_stub.hpp"

namespace roc::kernels {

#if defined(__CUDACC__) || defined(__HIP__) || ROCARRAY_KERNEL_HOST_STUB

// `Team` threads share an item. All kernels of the library are templates: hipcc exports every
// kernel, but those of templates as weak symbols, which are not part of the library's interface.
template <unsigned Team>
__global__ void copy_items(batch_item const* items, std::size_t count) {
  unsigned const teams_per_block = blockDim.x / Team;
  std::size_t const teams = std::size_t{gridDim.x} * teams_per_block;
  std::size_t const first = std::size_t{blockIdx.x} * teams_per_block + threadIdx.x / Team;
  for (std::size_t i = first; i < count; i += teams) {
    batch_item const item = items[i];  // a reference would be read again after each store
    copy_item(item, threadIdx.x % Team, Team);
  }
}

ROCARRAY_HOST_STUB(copy_items<item_threads>);

#endif

#if !ROCARRAY_KERNEL_HOST_STUB

hipError_t launch_items(batch_item const* items, std::size_t count, hipStream_t stream) {
#if defined(__CUDACC__) || defined(__HIP__)
  if (count == 0) return hipSuccess;
  constexpr unsigned threads = 256;
  constexpr std::size_t items_per_block = threads / item_threads;
  constexpr std::size_t max_blocks = 1u << 20;  // the kernel's loop covers the rest
  std::size_t const blocks = (count + items_per_block - 1) / items_per_block;
  auto const grid = static_cast<unsigned>(blocks < max_blocks ? blocks : max_blocks);
  return native_detail::launch_kernel(copy_items<item_threads>, dim3(grid), dim3(threads), stream,
                                      items, count);
#else
  return native_detail::launch_elementwise(copy_whole_item{items}, count, stream);
#endif
}

#endif

}  // namespace roc::kernels
