// SPDX-License-Identifier: MIT
#include <roc/launch.hpp>

#include "kernels/local_kernel.hpp"

namespace {

// shared_object_test.hip has a local kernel of the same name with shared variables.
__global__ void increment(roc::device_view<int> values) { values(threadIdx.x) += 1; }

}  // namespace

namespace roc::test {

void launch_local(stream_ref stream, device_view<int> values, std::size_t shared_bytes) {
  launch(increment, {1}, {64}, shared_bytes, stream, values);
}

}  // namespace roc::test
