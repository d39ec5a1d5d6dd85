// SPDX-License-Identifier: MIT
#pragma once

#include <roc/native.hpp>
#include <roc/roc.hpp>

/// Computes y = a x + y. An ordinary kernel with views as parameters.
__global__ void saxpy_kernel(float a, roc::device_view<float const> x, roc::device_view<float> y) {
  std::size_t const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < y.size()) y(i) = a * x(i) + y(i);
}
