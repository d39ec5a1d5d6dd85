// SPDX-License-Identifier: MIT
// options::memcpy2d_min_row, here 1 KiB: shorter rows are packed by the CPU.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include "support/options.hpp"

namespace {

roc::test::program_options const options_of_tests([] {
  return roc::options{.memcpy2d_min_row = 1024};
});

TEST(Memcpy2dMinRow, ShorterRowsArePacked) {
  auto host = roc::pinned_array<std::byte, 2>({8, 4096});
  roc::device_array<std::byte, 2> const device({8, 4096});
  auto const left_bytes = [](auto& array, std::ptrdiff_t bytes) {
    return array(roc::all, roc::slice(0, bytes));
  };
  EXPECT_EQ(roc::copy_path::dma_2d,
            roc::planned_path(left_bytes(host, 1024), left_bytes(device, 1024)));
  EXPECT_EQ(roc::copy_path::packed,
            roc::planned_path(left_bytes(host, 1023), left_bytes(device, 1023)));
  EXPECT_EQ(roc::copy_path::packed,
            roc::planned_path(left_bytes(device, 1023), left_bytes(host, 1023)));
}

}  // namespace
