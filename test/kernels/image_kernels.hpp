// SPDX-License-Identifier: MIT
// Kernels that read, write and sample images of several types.
#pragma once

#include <roc/image.hpp>
#include <roc/roc.hpp>

#include <cstdint>

namespace roc::test {

using rgba8 = pixel<std::uint8_t, 4>;
using signed_pair8 = pixel<std::int8_t, 2>;
using signed_pair16 = pixel<std::int16_t, 2>;
using rgba32 = pixel<std::uint32_t, 4>;
using float_rgba = pixel<float, 4>;
using half_rgba = pixel<half, 4>;

// clang-format off
/// Calls X(element type, axes, has layers, read mode) for every kind of view that is tested.
#define ROCARRAY_TEST_IMAGE_VIEWS(X)                            \
  X(float, 1, false, read_mode::element)                        \
  X(float, 2, false, read_mode::element)                        \
  X(float, 3, false, read_mode::element)                        \
  X(float, 2, true, read_mode::element)                         \
  X(::roc::test::float_rgba, 2, false, read_mode::element)      \
  X(::roc::half, 1, false, read_mode::element)                  \
  X(::roc::half, 2, true, read_mode::element)                   \
  X(::roc::test::half_rgba, 2, false, read_mode::element)       \
  X(::roc::test::rgba8, 2, false, read_mode::element)           \
  X(::roc::test::rgba8, 2, false, read_mode::normalized)        \
  X(::roc::test::signed_pair8, 2, false, read_mode::normalized) \
  X(::roc::test::signed_pair16, 2, false, read_mode::element)   \
  X(::roc::test::signed_pair16, 1, true, read_mode::normalized) \
  X(std::uint16_t, 1, false, read_mode::normalized)             \
  X(std::uint16_t, 3, false, read_mode::normalized)             \
  X(std::int32_t, 2, false, read_mode::element)                 \
  X(::roc::test::rgba32, 2, false, read_mode::element)
// clang-format on

/// Samples at coordinates(i, 0 …) of layer layers(i), and writes the channels to out(i, 0 …), with
/// for_each.
template <class View>
void sample_at(stream_ref stream, View const& image, device_view<float const, 2> coordinates,
               device_view<int const> layers, device_view<double, 2> out);

using rgba8_fractions = image_view<rgba8, 2, false, read_mode::normalized>;
using rgba_floats = image_view<float_rgba, 2>;
using rgba_halves = image_view<half_rgba, 2>;
using fractions16 = image_view<std::uint16_t, 1, false, read_mode::normalized>;
using fractions8 = image_view<std::uint8_t, 1, false, read_mode::normalized>;
using signed_fractions8 = image_view<std::int8_t, 1, false, read_mode::normalized>;

// clang-format off
/// Calls X(type of the source, type of the destination) for every conversion of formats that is
/// tested.
#define ROCARRAY_TEST_CONVERSIONS(X) \
  X(rgba8_fractions, rgba_floats)    \
  X(rgba_floats, rgba8_fractions)    \
  X(rgba_floats, rgba_halves)        \
  X(rgba_halves, rgba_floats)        \
  X(fractions16, fractions8)         \
  X(fractions8, fractions16)         \
  X(signed_fractions8, fractions8)
// clang-format on

/// Loads every element of `from` and stores it to `to`, with for_each.
template <class From, class To>
void transfer(stream_ref stream, From const& from, To const& to);

/// Launches a kernel with bounds checks whose thread (1, 2, 0) of block (1, 0, 0) loads, or stores,
/// the element (row, column) of an image of 4 rows and 6 columns; others use the element (0, 0).
void load_image_at(stream_ref stream, image_view<float, 2> const& image, int row, int column);
void store_image_at(stream_ref stream, image_view<float, 2> const& image, int row, int column);

}  // namespace roc::test
