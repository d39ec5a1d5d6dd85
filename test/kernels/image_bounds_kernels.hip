// SPDX-License-Identifier: MIT
// Kernels with bounds checks, in a program that is otherwise compiled without them.
#undef ROCARRAY_CHECK_BOUNDS  // an option of the build may set it
#define ROCARRAY_CHECK_BOUNDS 1

#include <roc/image.hpp>
#include <roc/kernel.hpp>

#include "kernels/image_kernels.hpp"
#include "platform/host/host_stub.hpp"

#if !ROCARRAY_KERNEL_HOST_STUB
#include <roc/launch.hpp>
#endif

namespace roc::test {

__global__ void image_load_kernel(image_view<float, 2> image, int row, int column) {
  bool const is_chosen = blockIdx.x == 1 && threadIdx.x == 1 && threadIdx.y == 2;
  float const value = image.load(is_chosen ? row : 0, is_chosen ? column : 0);
  if (value < 0) image.store(value, 0, 0);  // so that the load is not removed
}
ROCARRAY_HOST_STUB(image_load_kernel);

__global__ void image_store_kernel(image_view<float, 2> image, int row, int column) {
  bool const is_chosen = blockIdx.x == 1 && threadIdx.x == 1 && threadIdx.y == 2;
  if (is_chosen) image.store(1.0f, row, column);
}
ROCARRAY_HOST_STUB(image_store_kernel);

#if !ROCARRAY_KERNEL_HOST_STUB

void load_image_at(stream_ref stream, image_view<float, 2> const& image, int row, int column) {
  launch(image_load_kernel, {2}, {2, 3}, 0, stream, image, row, column);
}

void store_image_at(stream_ref stream, image_view<float, 2> const& image, int row, int column) {
  launch(image_store_kernel, {2}, {2, 3}, 0, stream, image, row, column);
}

#endif

}  // namespace roc::test
