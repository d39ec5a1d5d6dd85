// SPDX-License-Identifier: MIT
// nontemporal_copy writes the same bytes as memcpy, for every alignment and length. Which copies
// use it.
#include "copy/staging/nontemporal_copy.hpp"

#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

TEST(NontemporalCopy, EqualsMemcpyForAnyAlignmentAndLength) {
  constexpr std::size_t size = 512;
  std::vector<std::byte> source(size);
  for (std::size_t i = 0; i != size; ++i) source[i] = static_cast<std::byte>(i * 7 + 1);
  for (std::size_t from = 0; from != 17; ++from) {
    for (std::size_t to = 0; to != 67; ++to) {
      for (std::size_t bytes = 0; bytes != 300; ++bytes) {
        std::vector<std::byte> destination(size, std::byte{0xEE});
        std::vector<std::byte> expected = destination;
        std::memcpy(expected.data() + to, source.data() + from, bytes);
        roc::transfer::nontemporal_copy(destination.data() + to, source.data() + from, bytes);
        roc::transfer::nontemporal_fence();
        ASSERT_TRUE(destination == expected)
            << bytes << " bytes from offset " << from << " to offset " << to;
      }
    }
  }
}

TEST(NontemporalCopy, PacksLargeCopiesWithCachedStores) {
  using roc::transfer::is_packed_nontemporally;
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  EXPECT_TRUE(is_packed_nontemporally(1, 0));
  EXPECT_TRUE(is_packed_nontemporally(64 * mebibyte, 0));
  EXPECT_FALSE(is_packed_nontemporally(64 * mebibyte + 1, 0));
  EXPECT_TRUE(is_packed_nontemporally(64 * mebibyte, 32 * mebibyte - 1));
  EXPECT_FALSE(is_packed_nontemporally(64 * mebibyte, 32 * mebibyte));
  EXPECT_FALSE(is_packed_nontemporally(16 * mebibyte + 1, 32 * mebibyte));
  EXPECT_TRUE(is_packed_nontemporally(16 * mebibyte, 32 * mebibyte));
}

TEST(NontemporalCopy, UnpacksWhatTheCachesCannotHold) {
  using roc::transfer::is_unpacked_nontemporally;
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  EXPECT_FALSE(is_unpacked_nontemporally(32 * mebibyte - 1, 0));
  EXPECT_TRUE(is_unpacked_nontemporally(32 * mebibyte, 0));
  EXPECT_FALSE(is_unpacked_nontemporally(2 * mebibyte, 30 * mebibyte - 1));
  EXPECT_TRUE(is_unpacked_nontemporally(2 * mebibyte, 30 * mebibyte));
}

TEST(NontemporalCopy, UnpacksRunsOfWholeCacheLinesAndLongRuns) {
  alignas(64) static std::byte memory[128];
  // Asks for a layout of rows in planes.
  auto const is_nontemporal = [](std::size_t offset, std::ptrdiff_t plane, std::ptrdiff_t row,
                                 std::size_t run) {
    roc::layout::canonical_layout layout;
    layout.destination = memory + offset;
    layout.run = run;
    layout.rank = 2;
    layout.axes[0] = {3, 0, plane};
    layout.axes[1] = {3, 0, row};
    return roc::transfer::are_runs_unpacked_nontemporally(layout);
  };
  constexpr bool any = roc::transfer::has_nontemporal_stores;
  EXPECT_EQ(any, is_nontemporal(0, 1024, 128, 64));
  EXPECT_EQ(any, is_nontemporal(0, 1024, -192, 128));
  EXPECT_FALSE(is_nontemporal(16, 1024, 128, 64));
  EXPECT_FALSE(is_nontemporal(0, 1024, 160, 128));
  EXPECT_FALSE(is_nontemporal(0, 1040, 128, 64));
  EXPECT_FALSE(is_nontemporal(0, 1024, 128, 96));
  EXPECT_FALSE(is_nontemporal(0, 10240, 2560, 2047));
  EXPECT_EQ(any, is_nontemporal(16, 10240, 2560, 2048));
}
