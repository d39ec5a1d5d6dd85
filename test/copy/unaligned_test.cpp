// SPDX-License-Identifier: MIT
// Copies within the device whose rows begin at any alignment, transposed and not. Memory around the
// destination must not change.
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <roc/copy.hpp>
#include <roc/device_array.hpp>

namespace {

template <class T>
T numbered(std::size_t i) {
  return static_cast<T>(i * 2654435761u >> 7);
}
template <>
std::array<std::uint64_t, 2> numbered(std::size_t i) {
  return {i, ~i};
}

// Numbered elements on the device, and a copy of them on the host.
template <class T>
struct mirrored {
  mirrored(std::size_t count, std::size_t first) : host(count), device(roc::shape<1>{count}) {
    for (std::size_t i = 0; i != count; ++i) host[i] = numbered<T>(first + i);
    device.copy_to_device(host);
  }

  std::vector<T> host;
  roc::device_array<T> device;
};

template <class T, std::size_t N>
std::size_t offset_of(std::array<std::size_t, N> index, roc::strides<N> const& steps) {
  std::size_t offset = 0;
  for (std::size_t i = 0; i != N; ++i) offset += index[i] * static_cast<std::size_t>(steps[i]);
  return offset;
}

// Copies an array with the given strides on both sides, and compares the whole memory around it.
template <class T, std::size_t N>
void check_copy(roc::shape<N> const& extents, roc::strides<N> const& from_steps,
                roc::strides<N> const& to_steps, std::size_t from_offset, std::size_t to_offset) {
  roc::shape<N> last = extents;
  for (std::size_t& index : last) --index;
  mirrored<T> from(from_offset + offset_of<T, N>(last, from_steps) + 1, 0);
  mirrored<T> to(to_offset + offset_of<T, N>(last, to_steps) + 40, 1u << 20);
  int const ordinal = to.device.device_ordinal();
  roc::device_view<T, N> const source(from.device.data() + from_offset, extents, from_steps,
                                      ordinal);
  roc::device_view<T, N> const destination(to.device.data() + to_offset, extents, to_steps,
                                           ordinal);
  roc::copy(source, destination);
  std::array<std::size_t, N> index{};
  for (;;) {
    to.host[to_offset + offset_of<T, N>(index, to_steps)] =
        from.host[from_offset + offset_of<T, N>(index, from_steps)];
    std::size_t axis = N;
    while (axis != 0 && ++index[axis - 1] == extents[axis - 1]) index[--axis] = 0;
    if (axis == 0) break;
  }
  std::vector<T> arrived(to.host.size());
  to.device.copy_to_host(arrived);
  ASSERT_TRUE(arrived == to.host) << sizeof(T) << " bytes, offsets " << from_offset << " and "
                                  << to_offset;
}

template <class T>
class UnalignedCopy : public testing::Test {};
using elements = testing::Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t,
                                std::array<std::uint64_t, 2>>;
TYPED_TEST_SUITE(UnalignedCopy, elements);

}  // namespace

TYPED_TEST(UnalignedCopy, TransposesMatrices) {
  // Extents around those of tiles, and of the parts of tiles that are written together.
  constexpr std::size_t shapes[][2] = {{8, 8},    {31, 130}, {64, 65}, {57, 113}, {125, 129},
                                       {131, 67}, {260, 33}, {9, 271}, {600, 141}};
  for (auto const& [rows, columns] : shapes) {
    for (std::size_t const pad : {0, 1, 2, 3}) {
      for (std::size_t const offset : {0, 1, 3}) {
        auto const pitch = static_cast<std::ptrdiff_t>(columns + pad);
        auto const across = static_cast<std::ptrdiff_t>(rows + 3 - pad);
        check_copy<TypeParam, 2>({rows, columns}, {pitch, 1}, {1, across}, offset, 5 - offset);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

// Tiles do not overlap, and are written in their full length.
TYPED_TEST(UnalignedCopy, TransposesToLinesAtMultiplesOfASector) {
  for (std::size_t const rows : {256, 320, 515, 530}) {
    for (std::ptrdiff_t const pad : {0, 1}) {
      check_copy<TypeParam, 2>({rows, 70}, {70 + pad, 1}, {1, 544}, 0, 32);
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(UnalignedCopy, ReversesTheOrderOfThreeAxes) {
  constexpr std::size_t x = 71, y = 3, z = 83;
  check_copy<TypeParam, 3>({x, y, z}, {y * z, z, 1}, {1, x, x * y}, 0, 0);
  check_copy<TypeParam, 3>({x, y, z}, {y * z + 1, z, 1}, {1, x + 2, (x + 2) * y + 5}, 1, 7);
}

TYPED_TEST(UnalignedCopy, ReordersRows) {
  for (std::size_t const run : {8, 31, 32, 33, 47, 64, 101, 259}) {
    for (std::size_t offset = 0; offset != 5; ++offset) {
      auto const length = static_cast<std::ptrdiff_t>(run);
      check_copy<TypeParam, 3>({7, 5, run}, {5 * length, length, 1},
                               {length + 1, 7 * length + 8, 1}, offset, 4 - offset);
      if (this->HasFatalFailure()) return;
    }
  }
}
