// SPDX-License-Identifier: MIT
#include "platform/host/move.hpp"

#include <cstring>

#include "platform/host/workers.hpp"

namespace roc::host_hip {
namespace {

// What one thread takes at least: less is not worth waking another for.
constexpr std::size_t share = std::size_t{1} << 20;

void move_bytes(std::byte* to, std::byte const* from, std::size_t bytes) {
  auto const part = [=](std::size_t begin, std::size_t end) {
    std::memcpy(to + begin, from + begin, end - begin);
  };
  if (bytes <= share) return part(0, bytes);
  run_parallel(bytes, part, share);
}

bool rows_touch(box const& b, extent const& size) {
  return size.rows == 1 || b.pitch == size.width;
}
bool planes_touch(box const& b, extent const& size) {
  return size.planes == 1 || b.plane == size.width * size.rows;
}

}  // namespace

void move_box(box const& to, box const& from, extent size) {
  if (rows_touch(to, size) && rows_touch(from, size) && planes_touch(to, size) &&
      planes_touch(from, size)) {
    return move_bytes(to.data, from.data, size.width * size.rows * size.planes);
  }
  auto const rows = [&](std::size_t begin, std::size_t end) {
    std::size_t z = begin / size.rows;
    std::size_t y = begin % size.rows;
    for (std::size_t i = begin; i < end; ++i) {
      std::memcpy(to.data + z * to.plane + y * to.pitch,
                  from.data + z * from.plane + y * from.pitch, size.width);
      if (++y == size.rows) {
        y = 0;
        ++z;
      }
    }
  };
  run_parallel(size.rows * size.planes, rows, share / size.width + 1);
}

void fill(std::byte* data, int value, std::size_t bytes) {
  auto const part = [=](std::size_t begin, std::size_t end) {
    std::memset(data + begin, value, end - begin);
  };
  if (bytes <= share) return part(0, bytes);
  run_parallel(bytes, part, share);
}

}  // namespace roc::host_hip
