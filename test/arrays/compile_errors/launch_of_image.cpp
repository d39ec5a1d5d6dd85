// SPDX-License-Identifier: MIT
// expected: the arguments of a kernel are views and trivially copyable values
#include <roc/image.hpp>
#include <roc/launch.hpp>

__global__ void kernel(roc::image_view<float, 2>) {}

void test(roc::stream const& stream, roc::image<float, 2> const& image) {
  roc::launch(kernel, {1}, {1}, 0, stream, image);
}
