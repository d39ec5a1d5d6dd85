// SPDX-License-Identifier: MIT
// expected: the last argument of sample is the layer, an integer
#include <roc/image.hpp>

float test(roc::layered_image_view<float, 2> const& image) { return image.sample(1.5f, 2.5f, 1.0f); }
