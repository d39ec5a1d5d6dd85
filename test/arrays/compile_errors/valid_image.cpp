// SPDX-License-Identifier: MIT
#include <roc/image.hpp>
#include <roc/launch.hpp>
#include <roc/roc.hpp>

#include <cstdint>
#include <vector>

using rgba = roc::pixel<std::uint8_t, 4>;

__global__ void kernel(roc::image_view<rgba, 2, false, roc::read_mode::normalized> from,
                       roc::layered_image_view<float, 2> to) {
  to.store(from.sample(1.5f, 2).x, 0, 1u, threadIdx.x);
  to.store(to.sample(0.5, 2, 1), 0, 0, 0);
}

void test(roc::stream const& stream, std::vector<rgba> const& values) {
  roc::image<rgba, 2> image({3L, 4u}, stream);
  image.copy_to_device(values, stream);
  image.copy_to_device(std::vector<rgba>(12));
  roc::layered_image<float, 2> const layered({2, 3, 4}, roc::device_resource(0));
  roc::launch(kernel, {1}, {1}, 0, stream,
              image.normalized_view({.filter = roc::filter_mode::linear}), layered.view());
  roc::host_array<float, 3> const out = layered.copy_to_host(stream);
  roc::copy(layered.pixels()(0, roc::ellipsis), roc::image<float, 2>({3, 4}).copy_to_host());
  image = roc::image<rgba, 2>({5, 6});
}
