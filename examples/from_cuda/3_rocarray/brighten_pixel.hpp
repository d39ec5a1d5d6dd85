// SPDX-License-Identifier: MIT
#pragma once

#include <roc/roc.hpp>

/// What the kernel does to one pixel, as roc::for_each wants it.
struct brighten_pixel {
  roc::device_view<unsigned char, 2> pixels;

  ROCARRAY_HOST_DEVICE void operator()(std::size_t row, std::size_t column) const {
    unsigned char& pixel = pixels(row, column);
    unsigned const brighter = pixel * 3U / 2U + 10U;
    pixel = static_cast<unsigned char>(brighter < 255U ? brighter : 255U);
  }
};
