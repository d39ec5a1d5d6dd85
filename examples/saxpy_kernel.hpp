// SPDX-License-Identifier: MIT
#pragma once

#include <roc/native.hpp>
#include <roc/roc.hpp>

/// A kernel as anyone would write it, on views.
__global__ void saxpy_kernel(float a, roc::device_view<float const> x, roc::device_view<float> y) {
  std::size_t const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < y.size()) y(i) = a * x(i) + y(i);
}
