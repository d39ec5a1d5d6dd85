// SPDX-License-Identifier: MIT
// How a copy is cut into chunks and shares: each byte once, and no chunk larger than its memory.
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "base/options.hpp"
#include "copy/staging/staged_copy.hpp"

namespace {

using roc::transfer::staged_copy;

// Rows of `run` bytes at twice the pitch on the host, one after the other on the device.
struct rows_at_pitch {
  rows_at_pitch(std::size_t run, std::size_t count) : host(2 * run * count), packed(run * count) {
    for (std::size_t i = 0; i != host.size(); ++i) host[i] = static_cast<std::byte>(i * 37 >> 3);
    auto const step = static_cast<std::ptrdiff_t>(run);
    form.source = host.data();
    form.destination = packed.data();
    form.run = run;
    form.rank = 1;
    form.axes[0] = {count, 2 * step, step};
  }

  roc::transfer::plan plan() const {
    roc::transfer::plan result(roc::transfer::direction::host_to_device);
    result.form = form;
    result.path = roc::copy_path::packed;
    return result;
  }

  std::vector<std::byte> host;
  std::vector<std::byte> packed;
  roc::layout::canonical_layout form;
};

// Packs all shares of all chunks one behind the other, as they lie on the device.
std::vector<std::byte> packed_by(staged_copy const& work, std::size_t run) {
  std::vector<std::byte> all;
  for (std::size_t chunk = 0; chunk != work.chunks(); ++chunk) {
    std::size_t const bytes = work.data_bytes(chunk);
    EXPECT_GT(bytes, 0u);
    EXPECT_LE(bytes, roc::base::options().staging_block);
    std::vector<std::byte> data(bytes + run);  // what is written behind its end shows
    for (std::size_t share = 0; share != work.shares(chunk); ++share) {
      work.pack(chunk, share, data.data());
    }
    for (std::size_t i = bytes; i != data.size(); ++i) EXPECT_EQ(std::byte{0}, data[i]);
    all.insert(all.end(), data.begin(), data.begin() + static_cast<std::ptrdiff_t>(bytes));
  }
  return all;
}

void check(std::size_t run, std::size_t count) {
  rows_at_pitch const rows(run, count);
  std::vector<std::byte> expected;
  for (std::size_t row = 0; row != count; ++row) {
    auto const begin = rows.host.begin() + static_cast<std::ptrdiff_t>(2 * row * run);
    expected.insert(expected.end(), begin, begin + static_cast<std::ptrdiff_t>(run));
  }
  EXPECT_TRUE(expected == packed_by(staged_copy::for_parallel_packing(rows.plan()), run))
      << count << " rows of " << run;
  EXPECT_TRUE(expected == packed_by(staged_copy::in_order(rows.plan()), run))
      << count << " rows of " << run;
}

}  // namespace

TEST(StagedCopy, EachByteIsInOneShareOfOneChunk) {
  for (std::size_t const run : {1, 3, 4, 12, 16, 64, 100, 512, 513, 4096, 5000}) {
    // Around the sizes from which on chunks taper, and of one chunk.
    for (std::size_t const bytes : {std::size_t{1}, std::size_t{100}, std::size_t{70'000},
                                    std::size_t{524'288}, std::size_t{786'432},
                                    std::size_t{1'310'720}, std::size_t{2'500'000}}) {
      check(run, bytes / run + 1);
    }
  }
}

// The device, and then the CPU, waits for the first of them, and the other for the last.
TEST(StagedCopy, ChunksOfALargeCopyTaper) {
  rows_at_pitch const rows(4096, 4096);
  auto const work = staged_copy::for_parallel_packing(rows.plan());
  ASSERT_GE(work.chunks(), 5u);
  std::size_t const last = work.chunks() - 1;
  EXPECT_LT(work.data_bytes(0), work.data_bytes(1));
  EXPECT_LT(work.data_bytes(1), work.data_bytes(2));
  EXPECT_GT(work.data_bytes(last - 1), work.data_bytes(last));
}
