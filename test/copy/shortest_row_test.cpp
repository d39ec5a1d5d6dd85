// SPDX-License-Identifier: MIT
// ROCARRAY_MEMCPY2D_MIN_ROW, here 1 KiB: which rows the copy engines are given.
#include <roc/roc.hpp>

#include <gtest/gtest.h>


namespace {

TEST(ShortestRow, DecidesBetweenTheCopyEnginesAndPacking) {
  auto host = roc::pinned_array<std::byte, 2>({8, 4096});
  roc::device_array<std::byte, 2> const device({8, 4096});
  auto const left = [](auto& array, std::ptrdiff_t bytes) {
    return array(roc::all, roc::slice(0, bytes));
  };
  EXPECT_EQ(roc::copy_path::dma_2d, roc::planned_path(left(host, 1024), left(device, 1024)));
  EXPECT_EQ(roc::copy_path::packed, roc::planned_path(left(host, 1023), left(device, 1023)));
  EXPECT_EQ(roc::copy_path::packed, roc::planned_path(left(device, 1023), left(host, 1023)));
}

}  // namespace
