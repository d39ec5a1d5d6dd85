// SPDX-License-Identifier: MIT
// The same with rocarray, on any platform, without manual frees, error checks and pitches.
#include <roc/roc.hpp>

#include <cstdio>
#include <vector>

#include "brighten_pixel.hpp"

int main() {
  if (roc::device::count() == 0) {
    std::puts("no device");
    return 77;
  }
  std::size_t const width = 1000;
  std::size_t const height = 700;
  auto picture = roc::pinned_array<unsigned char>(roc::shape<2>{height, width});
  std::size_t i = 0;
  for (unsigned char& pixel : picture) pixel = static_cast<unsigned char>(i++ % 251);

  auto const half = static_cast<std::ptrdiff_t>(width / 2);
  roc::stream streams[2];
  for (std::ptrdiff_t part = 0; part < 2; ++part) {
    roc::stream const& stream = streams[part];
    auto const columns = picture(roc::all, roc::slice(part * half, (part + 1) * half));
    auto const tile = roc::device_array<unsigned char, 2>(columns.shape());
    roc::copy(columns, tile, stream);
    roc::for_each(stream, tile.shape(), brighten_pixel{tile.view()});
    roc::copy(tile, columns, stream);
  }
  for (roc::stream const& stream : streams) stream.synchronize();

  unsigned long sum = 0;
  unsigned long white = 0;
  for (unsigned char const pixel : picture) {
    sum += pixel;
    if (pixel == 255) ++white;
  }
  std::printf("%zu x %zu pixels, sum %lu, %lu of them white\n", height, width, sum, white);
  std::printf("first %d, last %d\n", picture.data()[0], picture.data()[width * height - 1]);
  return 0;
}
