// SPDX-License-Identifier: MIT
// Copies of rectangles of bytes, given by origin, region and pitches, compared byte by byte.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "support/environment.hpp"
#include "support/options.hpp"

namespace {

using bytes = std::vector<unsigned char>;

// Staging memory is small, so that copies take many chunks.
roc::test::program_options const options_of_tests(roc::test::small_staging);

bytes numbered(std::size_t n) {
  bytes result(n);
  for (std::size_t i = 0; i < n; ++i) result[i] = static_cast<unsigned char>(i * 7 + 1);
  return result;
}

struct placement {
  roc::shape<3> origin;
  roc::pitches<3> pitch;

  std::size_t offset(std::size_t i, std::size_t k, std::size_t l) const {
    return (origin[0] + i) * pitch[0] + (origin[1] + k) * pitch[1] + origin[2] + l;
  }
};

TEST(ByteRectangles, TwoAxesWithOddPitchesAreCopied) {
  auto const source = numbered(500);
  bytes target(700, 0xEE);
  roc::device_array<unsigned char> device({701});
  device.fill(0xDD);
  // Rows of 13 bytes: at a pitch of 37 in the source, 41 on the device, 29 in the target.
  auto const on_device = roc::rectangle<2>(device, {2, 3}, {9, 13}, {41});
  roc::copy(roc::rectangle<2>(source, {1, 5}, {9, 13}, {37}), on_device);
  roc::stream const stream;
  auto const back = roc::rectangle<2>(target, {3, 1}, {9, 13}, {29});
  roc::copy(on_device, back, stream);
  stream.synchronize();
  bytes expected(700, 0xEE);
  for (std::size_t i = 0; i < 9; ++i) {
    for (std::size_t k = 0; k < 13; ++k)
      expected[(3 + i) * 29 + 1 + k] = source[(1 + i) * 37 + 5 + k];
  }
  EXPECT_EQ(expected, target);
  auto const all = device.copy_to_host();
  EXPECT_EQ(0xDD, all(2 * 41 + 2));
  EXPECT_EQ(source[37 + 5], all(2 * 41 + 3));
  EXPECT_EQ(0xDD, all(2 * 41 + 16));
}

TEST(ByteRectangles, RandomRectanglesOfThreeAxesAreCopied) {
  auto random = roc::test::random_generator("ByteRectangles.RandomRectanglesOfThreeAxesAreCopied");
  auto const below = [&](std::size_t n) { return random() % n; };
  for (int round = 0; round < 60; ++round) {
    roc::shape<3> const region{1 + below(4), 1 + below(5), 1 + below(70)};
    auto const random_placement = [&] {
      placement result{{below(3), below(3), below(40)}, {}};
      result.pitch[1] = region[2] + below(50);
      result.pitch[0] = result.pitch[1] * region[1] + below(60);
      return result;
    };
    placement const from = random_placement();
    placement const middle = random_placement();
    placement const to = random_placement();
    auto const size_of = [&](placement const& p) {
      return p.offset(region[0] - 1, region[1] - 1, region[2] - 1) + 1 + below(3);
    };
    auto const source = numbered(size_of(from));
    roc::device_array<unsigned char> const device({size_of(middle)});
    bytes target(size_of(to), 0xEE);
    bool const registered = round % 2 == 0;
    auto const pins = registered ? roc::register_host(source, target)
                                 : roc::register_host(std::span<unsigned char>());
    auto const on_device = roc::rectangle<3>(device, middle.origin, region, middle.pitch);
    roc::copy(roc::rectangle<3>(source, from.origin, region, from.pitch), on_device);
    roc::copy(on_device, roc::rectangle<3>(target, to.origin, region, to.pitch));
    bytes expected(target.size(), 0xEE);
    for (std::size_t i = 0; i < region[0]; ++i) {
      for (std::size_t k = 0; k < region[1]; ++k) {
        for (std::size_t l = 0; l < region[2]; ++l) {
          expected[to.offset(i, k, l)] = source[from.offset(i, k, l)];
        }
      }
    }
    ASSERT_EQ(expected, target) << "round " << round;
  }
}

TEST(ByteRectangles, RowsAreContiguousWithoutPitches) {
  auto const source = numbered(60);
  roc::device_array<unsigned char> const device({60});
  device.fill(0);
  roc::copy(roc::rectangle<3>(source, {0, 0, 0}, {3, 4, 5}),
            roc::rectangle<3>(device, {0, 0, 0}, {3, 4, 5}));
  bytes back(60);
  device.copy_to_host(back);
  EXPECT_EQ(source, back);
}

TEST(ByteRectangles, ElementsOfAnyTypeAreCopiedAsBytes) {
  std::vector<int> const source = {1, 2, 3, 4, 5, 6};
  roc::device_array<int, 2> const device({2, 3});
  device.zero();
  // The middle column, in bytes.
  roc::copy(roc::rectangle<2>(source, {0, 4}, {2, 4}, {12}),
            roc::rectangle<2>(device, {0, 8}, {2, 4}, {12}));
  EXPECT_EQ(2, device(0, 2).get());
  EXPECT_EQ(5, device(1, 2).get());
  EXPECT_EQ(0, device(1, 1).get());
  roc::rectangle<1>(device, {4}, {8}).fill(std::byte{1});
  EXPECT_EQ(0x01010101, device(0, 1).get());
}

TEST(ByteRectangles, InvalidRectangleThrows) {
  bytes memory(100);
  using shape2 = roc::shape<2>;
  auto const make = [&](shape2 origin, shape2 region, std::size_t pitch) {
    static_cast<void>(roc::rectangle<2>(memory, origin, region, {pitch}));
  };
  EXPECT_NO_THROW(make({0, 0}, {10, 10}, 10));
  EXPECT_NO_THROW(make({9, 5}, {1, 5}, 10));
  EXPECT_NO_THROW(make({50, 50}, {0, 7}, 10));  // an empty region may be anywhere
  EXPECT_THROW(make({0, 1}, {10, 10}, 10), roc::shape_error);
  EXPECT_THROW(make({1, 0}, {10, 10}, 10), roc::shape_error);
  EXPECT_THROW(make({0, 0}, {2, 10}, 91), roc::shape_error);
  EXPECT_THROW(make({SIZE_MAX, 0}, {1, 1}, 10), roc::shape_error);
  EXPECT_THROW(make({SIZE_MAX / 10 + 1, SIZE_MAX}, {1, 1}, 10), roc::shape_error);
  EXPECT_THROW(make({0, 0}, {SIZE_MAX, 2}, SIZE_MAX / 2), roc::shape_error);
  EXPECT_THROW(make({0, 0}, {10, 10}, 9), roc::layout_error);
  // An end beyond PTRDIFF_MAX is beyond the end of every memory.
  EXPECT_THROW(roc::detail::rectangle_mapping<1>(PTRDIFF_MAX, {1}, {PTRDIFF_MAX}, {}),
               roc::shape_error);
  // The distance of planes beyond PTRDIFF_MAX is never taken: there is one plane.
  auto const one_plane = roc::detail::rectangle_mapping<3>(PTRDIFF_MAX, {}, {1, 2, 1},
                                                           {0, std::size_t{PTRDIFF_MAX / 2 + 1}});
  EXPECT_EQ(PTRDIFF_MAX, one_plane.strides[0]);
  roc::host_view<unsigned char> const strided(memory.data(), roc::shape<1>{50}, roc::strides<1>{2});
  EXPECT_THROW(static_cast<void>(roc::rectangle<1>(strided, {0}, {4})), roc::layout_error);
  roc::device_array<int> const array({4});
  EXPECT_THROW(roc::copy(roc::rectangle<1>(array, {0}, {8}), roc::rectangle<1>(array, {7}, {8})),
               roc::overlap_error);
}

}  // namespace
