// SPDX-License-Identifier: MIT
#pragma once

#include <roc/roc.hpp>

/// Computes y = a x + y for one element. Views are passed to the device by value.
struct saxpy {
  float a;
  roc::device_view<float const> x;
  roc::device_view<float> y;

  ROCARRAY_HOST_DEVICE void operator()(std::size_t i) const { y(i) = a * x(i) + y(i); }
};
