// SPDX-License-Identifier: MIT
// Smoothing by weights in constant memory, which all threads of a warp read at once.
#pragma once

#include <roc/kernel.hpp>
#include <roc/roc.hpp>

inline constexpr unsigned smoothing_radius = 2;

/// The binomial weights of an element and its neighbors, without the scale: their sum is 16.
static __constant__ float const smoothing_weights[] = {1, 4, 6, 4, 1};

/// Writes to each element the weighted sum of those at most smoothing_radius away, times `scale`.
/// Beyond the ends are copies of the first and the last element. Values that differ between
/// launches are arguments: they are in constant memory too.
__global__ void smooth(roc::device_view<float const> in, float scale, roc::device_view<float> out) {
  std::size_t const i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= out.size()) return;
  float sum = 0;
  for (unsigned k = 0; k <= 2 * smoothing_radius; ++k) {
    std::size_t const shifted = i + k;  // of the neighbor, plus the radius
    std::size_t const neighbor = shifted < smoothing_radius ? 0 : shifted - smoothing_radius;
    sum += smoothing_weights[k] * in(neighbor < in.size() ? neighbor : in.size() - 1);
  }
  out(i) = scale * sum;
}
