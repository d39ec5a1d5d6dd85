// SPDX-License-Identifier: MIT
#include "platform/host/box_copy.hpp"

#include <cstring>

#include "platform/host/parallel_for.hpp"

namespace roc::host_hip {
namespace {

// Calls f(begin, end) for parts of [0, items), on the shared threads if waking them pays.
template <class F>
void for_parts(std::size_t items, std::size_t item_bytes, F const& f) {
  constexpr std::size_t min_shared_bytes = std::size_t{1} << 20;
  constexpr std::size_t grain_bytes = std::size_t{128} << 10;
  if (items * item_bytes <= min_shared_bytes) return f(0, items);
  parallel_for(items, f, (grain_bytes + item_bytes - 1) / item_bytes);
}

void copy_bytes(std::byte* destination, std::byte const* source, std::size_t bytes) {
  auto const copy_part = [=](std::size_t begin, std::size_t end) {
    std::memcpy(destination + begin, source + begin, end - begin);
  };
  for_parts(bytes, 1, copy_part);
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
  for_parts(size.height * size.depth, size.width, copy_rows);
}

void fill_bytes(std::byte* data, int value, std::size_t bytes) {
  auto const fill_part = [=](std::size_t begin, std::size_t end) {
    std::memset(data + begin, value, end - begin);
  };
  for_parts(bytes, 1, fill_part);
}

}  // namespace roc::host_hip
