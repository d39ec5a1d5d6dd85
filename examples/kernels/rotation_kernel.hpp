// SPDX-License-Identifier: MIT
// Rotation of a picture, sampled with linear filtering.
#pragma once

#include <cstdint>

#include <roc/image.hpp>
#include <roc/kernel.hpp>
#include <roc/roc.hpp>

/// A color with its opacity.
using color = roc::pixel<std::uint8_t, 4>;
/// A view of a picture whose channels are read as fractions from 0 to 1.
using picture_view = roc::image_view<color, 2, false, roc::read_mode::normalized>;

/// Writes `from`, turned about its center, to `to`, which may have another shape; their centers
/// coincide. Outside of `from` the result is what its sampler returns there. Blocks of any size.
__global__ void rotate(picture_view from, picture_view to, float cosine, float sine) {
  unsigned const column = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned const row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= to.extent(0) || column >= to.extent(1)) return;
  float const x = static_cast<float>(column) + 0.5f - 0.5f * static_cast<float>(to.extent(1));
  float const y = static_cast<float>(row) + 0.5f - 0.5f * static_cast<float>(to.extent(0));
  float const from_x = cosine * x + sine * y + 0.5f * static_cast<float>(from.extent(1));
  float const from_y = cosine * y - sine * x + 0.5f * static_cast<float>(from.extent(0));
  to.store(from.sample(from_x, from_y), row, column);
}
