// SPDX-License-Identifier: MIT
// Rotation of a picture, with texture units where the device has them.
#include "rotation_kernel.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <roc/launch.hpp>

namespace {

constexpr int rows = 90;
constexpr int columns = 150;

// Returns a picture of rings whose colors change slowly.
std::vector<color> rings() {
  std::vector<color> result;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      double const radius = std::hypot(i - 30, j - 70);
      auto const wave = [&](double period) {
        return static_cast<std::uint8_t>(127.5 + 127 * std::sin(radius / period));
      };
      result.push_back({wave(5), wave(9), wave(13), 255});
    }
  }
  return result;
}

// Returns a channel of the element (row, column); 0 outside.
double channel_at(std::vector<color> const& picture, int row, int column, std::size_t channel) {
  if (row < 0 || row >= rows || column < 0 || column >= columns) return 0;
  return picture[static_cast<std::size_t>(row * columns + column)][channel];
}

// Returns the channel that linear interpolation gives at x, y.
double interpolated(std::vector<color> const& picture, double x, double y, std::size_t channel) {
  int const column = static_cast<int>(std::floor(x - 0.5));
  int const row = static_cast<int>(std::floor(y - 0.5));
  double const a = x - 0.5 - column;
  double const b = y - 0.5 - row;
  return (1 - b) * ((1 - a) * channel_at(picture, row, column, channel) +
                    a * channel_at(picture, row, column + 1, channel)) +
         b * ((1 - a) * channel_at(picture, row + 1, column, channel) +
              a * channel_at(picture, row + 1, column + 1, channel));
}

}  // namespace

int main() {
  if (roc::device::count() == 0) {
    std::puts("no device");
    return 77;
  }
  std::vector<color> const picture = rings();
  double const angle = 0.3;

  roc::stream const stream;
  roc::image<color, 2> const from({rows, columns}, stream);
  roc::image<color, 2> const to({rows, columns}, stream);
  from.copy_to_device(picture, stream);
  auto const source = from.normalized_view(
      {.address = roc::address_mode::border, .filter = roc::filter_mode::linear});
  roc::launch(rotate, {columns / 16 + 1, rows / 16 + 1}, {16, 16}, 0, stream, source,
              to.normalized_view(), static_cast<float>(std::cos(angle)),
              static_cast<float>(std::sin(angle)));
  std::vector<color> result(picture.size());
  to.copy_to_host(result, stream);
  stream.synchronize();

  // Weights have 8 bits of fraction, and the result is rounded to an integer.
  double const tolerance = 2.5;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      double const x = j + 0.5 - columns / 2.0;
      double const y = i + 0.5 - rows / 2.0;
      double const from_x = std::cos(angle) * x + std::sin(angle) * y + columns / 2.0;
      double const from_y = std::cos(angle) * y - std::sin(angle) * x + rows / 2.0;
      for (std::size_t c = 0; c < 4; ++c) {
        double const expected = interpolated(picture, from_x, from_y, c);
        double const actual = result[static_cast<std::size_t>(i * columns + j)][c];
        if (std::abs(actual - expected) <= tolerance) continue;
        std::printf("rotation: wrong at %d, %d: %g, expected %g\n", i, j, actual, expected);
        return 1;
      }
    }
  }
  std::printf("rotation: correct, %s\n",
              source.uses_hardware() ? "with texture units" : "in software");
  return 0;
}
