// SPDX-License-Identifier: MIT
#include "platform/host/box_copy.hpp"

#include <cstring>

#include "platform/host/parallel_for.hpp"

namespace roc::host_hip {
namespace {

// The smallest number of bytes for which waking another thread pays.
constexpr std::size_t grain_bytes = std::size_t{1} << 20;

void copy_bytes(std::byte* destination, std::byte const* source, std::size_t bytes) {
  auto const copy_part = [=](std::size_t begin, std::size_t end) {
    std::memcpy(destination + begin, source + begin, end - begin);
  };
  if (bytes <= grain_bytes) return copy_part(0, bytes);
  parallel_for(bytes, copy_part, grain_bytes);
}

bool has_contiguous_rows(pitched_memory const& memory, extent const& size) {
  return size.height == 1 || memory.row_pitch == size.width;
}
bool has_contiguous_slices(pitched_memory const& memory, extent const& size) {
  return size.depth == 1 || memory.slice_pitch == size.width * size.height;
}
bool is_contiguous(pitched_memory const& memory, extent const& size) {
  return has_contiguous_rows(memory, size) && has_contiguous_slices(memory, size);
}

}  // namespace

void copy_box(pitched_memory const& destination, pitched_memory const& source, extent size) {
  if (is_contiguous(destination, size) && is_contiguous(source, size)) {
    return copy_bytes(destination.data, source.data, size.width * size.height * size.depth);
  }
  auto const copy_rows = [&](std::size_t begin, std::size_t end) {
    std::size_t z = begin / size.height;
    std::size_t y = begin % size.height;
    for (std::size_t i = begin; i < end; ++i) {
      std::memcpy(destination.data + z * destination.slice_pitch + y * destination.row_pitch,
                  source.data + z * source.slice_pitch + y * source.row_pitch, size.width);
      if (++y == size.height) {
        y = 0;
        ++z;
      }
    }
  };
  parallel_for(size.height * size.depth, copy_rows, grain_bytes / size.width + 1);
}

void fill_bytes(std::byte* data, int value, std::size_t bytes) {
  auto const fill_part = [=](std::size_t begin, std::size_t end) {
    std::memset(data + begin, value, end - begin);
  };
  if (bytes <= grain_bytes) return fill_part(0, bytes);
  parallel_for(bytes, fill_part, grain_bytes);
}

}  // namespace roc::host_hip
