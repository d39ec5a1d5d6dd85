// SPDX-License-Identifier: MIT
// What heat_mpi calculates for one cell.
#pragma once

#include <cmath>
#include <cstddef>

#include <roc/roc.hpp>

inline constexpr double heat_rate = 0.125;  // of each step; stable below 1/6

/// A wave that is zero one cell outside of a grid: sin(π waves (i + 1) / (cells + 1)) on each axis.
/// The heat equation only changes its amplitude.
struct heat_wave {
  double amplitude;
  std::size_t waves[3];  // half waves on each axis

  /// Returns the factor of one axis in the cell `index` of `cells`.
  ROCARRAY_HOST_DEVICE double factor(std::size_t axis, std::size_t index, std::size_t cells) const {
    double const turns = static_cast<double>(waves[axis] * (index + 1));
    return std::sin(3.14159265358979323846 * turns / static_cast<double>(cells + 1));
  }
};

/// The waves at the beginning. No two axes are alike, so exchanged axes give wrong results.
inline constexpr heat_wave heat_wave_1{1.0, {1, 2, 3}};
inline constexpr heat_wave heat_wave_2{0.5, {3, 1, 2}};

/// Sets a cell of a block to its temperature at the beginning.
struct set_initial_heat {
  roc::device_view<double, 3> to;  // with a halo of one cell
  std::size_t offset[3];           // of the block in the grid
  std::size_t grid[3];
  heat_wave wave_1;
  heat_wave wave_2;

  ROCARRAY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, std::size_t k) const {
    std::size_t const cell[3] = {offset[0] + i - 1, offset[1] + j - 1, offset[2] + k - 1};
    double a = wave_1.amplitude;
    double b = wave_2.amplitude;
    for (std::size_t axis = 0; axis != 3; ++axis) {
      a *= wave_1.factor(axis, cell[axis], grid[axis]);
      b *= wave_2.factor(axis, cell[axis], grid[axis]);
    }
    to(i, j, k) = a + b;
  }
};

/// Calculates the temperature of a cell after one step from it and its six neighbors.
struct heat_step {
  roc::device_view<double const, 3> from;
  roc::device_view<double, 3> to;

  ROCARRAY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, std::size_t k) const {
    double const neighbors = from(i - 1, j, k) + from(i + 1, j, k) + from(i, j - 1, k) +
                             from(i, j + 1, k) + from(i, j, k - 1) + from(i, j, k + 1);
    to(i, j, k) = from(i, j, k) + heat_rate * (neighbors - 6 * from(i, j, k));
  }
};
