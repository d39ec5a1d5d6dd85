// SPDX-License-Identifier: MIT
// Kernels that sample mipmaps, and fill their levels.
#pragma once

#include <roc/mipmap.hpp>
#include <roc/roc.hpp>

#include <cstdint>

namespace roc::test {

using rgba8 = pixel<std::uint8_t, 4>;

// clang-format off
/// Calls X(element type, axes, read mode) for every kind of view that is tested.
#define ROCARRAY_TEST_MIPMAP_VIEWS(X)                      \
  X(float, 1, read_mode::element)                          \
  X(float, 2, read_mode::element)                          \
  X(float, 3, read_mode::element)                          \
  X(::roc::test::rgba8, 2, read_mode::normalized)          \
  X(::roc::test::rgba8, 2, read_mode::element)
/// Calls X(element type, axes) for every kind of mipmap whose levels are filled.
#define ROCARRAY_TEST_MIPMAPS(X)                           \
  X(float, 1)                                              \
  X(float, 2)                                              \
  X(float, 3)                                              \
  X(::roc::test::rgba8, 2)
// clang-format on

/// Samples at coordinates(i, 0 to N - 1) of level coordinates(i, N), and writes the channels to
/// out(i, 0 …), with for_each.
template <class View>
void sample_levels(stream_ref stream, View const& view, device_view<float const, 2> coordinates,
                   device_view<double, 2> out);

/// Calls fill_levels.
template <class T, std::size_t N>
void fill_levels(mipmap<T, N> const& levels, stream_ref stream);

/// Launches a kernel with bounds checks that loads an element of a level.
void load_level(stream_ref stream, mipmap_view<float, 2> const& view, int level);

}  // namespace roc::test
