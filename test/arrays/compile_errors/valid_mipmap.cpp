// SPDX-License-Identifier: MIT
#include <roc/launch.hpp>
#include <roc/mipmap.hpp>
#include <roc/roc.hpp>

#include <cstdint>

using rgba = roc::pixel<std::uint8_t, 4>;

__global__ void kernel(roc::mipmap_view<rgba, 2, roc::read_mode::normalized> from,
                       roc::image_view<float, 2> to) {
  to.store(from.sample(0.5f, 0.5, 1).x, 0, threadIdx.x);
  to.store(from.level(1).load(0, 0).y, 0, 1);
}

void test(roc::stream const& stream) {
  roc::mipmap<rgba, 2> levels({3L, 4u}, stream);
  roc::mipmap<float, 2> const two({8, 8}, 2), all({8, 8}, {}),
      pooled({8, 8}, roc::device_resource(0));
  roc::mipmap<float, 3> const solid({8, 8, 8}, 2, roc::device_resource(0), stream);
  two.level(1).copy_to_device(solid.level(0).pixels()(0, roc::slice(0, 4), roc::slice(0, 4)));
  roc::launch(kernel, {1}, {1}, 0, stream,
              levels.normalized_view({.normalized_coordinates = true}, roc::filter_mode::linear),
              two.level(0).view());
  levels.fill_levels(stream);
  levels = roc::mipmap<rgba, 2>({5, 6});
}
