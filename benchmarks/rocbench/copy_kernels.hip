// SPDX-License-Identifier: MIT
#include "copy_kernels.hpp"

#include "elementwise_kernel.hpp"

namespace rocbench {

using roc::kernels::vector_word;

#if !ROCARRAY_KERNEL_HOST_STUB

hipError_t launch_copy_with_views(roc::device_view<vector_word const> source,
                                  roc::device_view<vector_word> destination, hipStream_t stream) {
  using copy = copy_elements<roc::device_view<vector_word const>, roc::device_view<vector_word>>;
  return launch_elementwise(copy{source, destination}, destination.size(), stream);
}

hipError_t launch_copy_with_pointers(vector_word const* source, vector_word* destination, std::size_t count,
                                     hipStream_t stream) {
  return launch_elementwise(
      copy_elements<pointer_accessor<vector_word const>, pointer_accessor<vector_word>>{{source},
                                                                              {destination}},
      count, stream);
}

#endif

ROCARRAY_HOST_STUB(
    elementwise_kernel<copy_elements<roc::device_view<vector_word const>, roc::device_view<vector_word>>>);
ROCARRAY_HOST_STUB(
    elementwise_kernel<copy_elements<pointer_accessor<vector_word const>, pointer_accessor<vector_word>>>);

}  // namespace rocbench
