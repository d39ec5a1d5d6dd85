// SPDX-License-Identifier: MIT
#include "kernels/shared_object_kernels.hpp"

#include <roc/launch.hpp>

namespace roc::test {

__global__ void reverse_in_object(device_view<int> values) {
  __shared__ int tile[64];
  tile[threadIdx.x] = values(threadIdx.x);
  __syncthreads();
  values(threadIdx.x) = shuffle(tile[63 - threadIdx.x], lane_index());
}

void launch_in_object(stream_ref stream, device_view<int> values) {
  launch(reverse_in_object, {1}, {64}, 50'000, stream, values);
}

}  // namespace roc::test
