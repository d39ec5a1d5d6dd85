// SPDX-License-Identifier: MIT
#pragma once

#include <roc/roc.hpp>

/// Brightens one pixel by half plus 10, up to 255. A functor for roc::for_each.
struct brighten_pixel {
  roc::device_view<unsigned char, 2> pixels;

  ROCARRAY_HOST_DEVICE void operator()(std::size_t row, std::size_t column) const {
    unsigned char& pixel = pixels(row, column);
    unsigned const brighter = pixel * 3U / 2U + 10U;
    pixel = static_cast<unsigned char>(brighter < 255U ? brighter : 255U);
  }
};
