// SPDX-License-Identifier: MIT
// The division of a copy into chunks and tasks: every byte is in exactly one task, and no chunk
// exceeds its staging memory.
#include <cstddef>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/options.hpp"
#include "copy/staging/nontemporal_copy.hpp"
#include "copy/staging/staged_copy.hpp"

namespace {

using roc::transfer::staged_copy;

// Rows of `run` bytes, at twice that pitch on the host and contiguous on the device.
struct rows_at_pitch {
  rows_at_pitch(std::size_t run, std::size_t count) : host(2 * run * count), packed(run * count) {
    for (std::size_t i = 0; i != host.size(); ++i) host[i] = static_cast<std::byte>(i * 37 >> 3);
    auto const step = static_cast<std::ptrdiff_t>(run);
    canonical.source = host.data();
    canonical.destination = packed.data();
    canonical.run = run;
    canonical.rank = 1;
    canonical.axes[0] = {count, 2 * step, step};
  }

  roc::transfer::plan plan() const {
    roc::transfer::plan result(roc::transfer::copy_kind::host_to_device);
    result.canonical = canonical;
    result.path = roc::copy_path::packed;
    return result;
  }

  std::vector<std::byte> host;
  std::vector<std::byte> packed;
  roc::layout::canonical_layout canonical;
};

// Runs all tasks of all chunks and returns the packed bytes in order.
std::vector<std::byte> pack_all(staged_copy const& work, std::size_t run) {
  std::vector<std::byte> all;
  for (std::size_t chunk = 0; chunk != work.chunk_count(); ++chunk) {
    std::size_t const bytes = work.data_bytes(chunk);
    EXPECT_GT(bytes, 0u);
    EXPECT_LE(bytes, roc::base::options().staging_block);
    std::vector<std::byte> data(bytes + run);  // the excess detects writes beyond the chunk's end
    for (std::size_t task = 0; task != work.task_count(chunk); ++task) {
      work.pack(chunk, task, data.data());
    }
    for (std::size_t i = bytes; i != data.size(); ++i) EXPECT_EQ(std::byte{0}, data[i]);
    all.insert(all.end(), data.begin(), data.begin() + static_cast<std::ptrdiff_t>(bytes));
  }
  return all;
}

// Returns the bytes of the rows on the host.
std::vector<std::byte> bytes_of(rows_at_pitch const& rows) {
  std::size_t const run = rows.canonical.run;
  std::vector<std::byte> bytes;
  for (std::size_t row = 0; row != rows.canonical.axes[0].extent; ++row) {
    auto const begin = rows.host.begin() + static_cast<std::ptrdiff_t>(2 * row * run);
    bytes.insert(bytes.end(), begin, begin + static_cast<std::ptrdiff_t>(run));
  }
  return bytes;
}

void check(std::size_t run, std::size_t count) {
  rows_at_pitch const rows(run, count);
  std::vector<std::byte> const expected = bytes_of(rows);
  EXPECT_TRUE(expected == pack_all(staged_copy::for_parallel_packing(rows.plan()), run))
      << count << " rows of " << run;
  EXPECT_TRUE(expected == pack_all(staged_copy::for_stream_order(rows.plan()), run))
      << count << " rows of " << run;
  EXPECT_TRUE(expected == pack_all(staged_copy::for_value_staging(rows.plan()), run))
      << count << " rows of " << run;
}

// The parameter is options::staging_chunk.
class StagedCopy : public testing::TestWithParam<std::size_t> {
  roc::scoped_options options_{{.staging_chunk = GetParam()}};
};

INSTANTIATE_TEST_SUITE_P(OfChunks, StagedCopy, testing::Values(4 << 20, 4 << 10),
                         testing::PrintToStringParamName());

TEST_P(StagedCopy, EachByteIsInOneTaskOfOneChunk) {
  for (std::size_t const run : {1, 3, 4, 12, 16, 64, 100, 512, 513, 4096, 5000}) {
    // Sizes around that of one chunk, and around the size from which chunks are tapered.
    for (std::size_t const bytes :
         {std::size_t{1}, std::size_t{100}, std::size_t{70'000}, std::size_t{524'288},
          std::size_t{786'432}, std::size_t{1'310'720}, std::size_t{2'500'000}}) {
      check(run, bytes / run + 1);
    }
  }
}

// Some lengths are constants in the code.
TEST_P(StagedCopy, RowsOfAnyLengthArePacked) {
  for (std::size_t run = 1; run != 140; ++run) check(run, 30);
}

// They select the kind of stores.
TEST(LargeStagedCopy, OppositeBytesChangeNoByte) {
  constexpr std::size_t run = 8192;
  rows_at_pitch rows(run, roc::transfer::max_nontemporal_pack_bytes_if_busy / run + 1);
  std::vector<std::byte> const expected = bytes_of(rows);
  for (std::size_t const opposite : {std::size_t{0}, roc::transfer::min_busy_bytes}) {
    auto const packed = pack_all(staged_copy::for_value_staging(rows.plan(), opposite), run);
    EXPECT_TRUE(expected == packed) << opposite;
    auto const parallel = pack_all(staged_copy::for_parallel_packing(rows.plan(), opposite), run);
    EXPECT_TRUE(expected == parallel) << opposite;

    std::vector<std::byte> const before = rows.host;
    std::vector<std::byte> host(rows.host.size());
    for (std::size_t i = 0; i != host.size(); ++i) {
      if (i / run % 2 == 1) host[i] = before[i];  // the gaps between the rows
    }
    roc::transfer::plan plan(roc::transfer::copy_kind::device_to_host);
    plan.path = roc::copy_path::packed;
    plan.canonical = rows.canonical;
    plan.canonical.source = rows.packed.data();
    plan.canonical.destination = host.data();
    std::swap(plan.canonical.axes[0].source, plan.canonical.axes[0].destination);
    auto const work = staged_copy::for_value_staging(plan, opposite);
    std::size_t done = 0;
    for (std::size_t chunk = 0; chunk != work.chunk_count(); ++chunk) {
      for (std::size_t task = 0; task != work.task_count(chunk); ++task) {
        work.unpack(chunk, task, expected.data() + done);
      }
      done += work.data_bytes(chunk);
    }
    EXPECT_TRUE(before == host) << opposite;
  }
}

// Nothing overlaps with the first and the last chunk, so these are smaller.
TEST_P(StagedCopy, LargeCopyHasSmallerChunksAtBothEnds) {
  rows_at_pitch const rows(4096, 4096);
  auto const work = staged_copy::for_parallel_packing(rows.plan());
  ASSERT_GE(work.chunk_count(), 5u);
  std::size_t const last = work.chunk_count() - 1;
  EXPECT_LT(work.data_bytes(0), work.data_bytes(1));
  EXPECT_LT(work.data_bytes(1), work.data_bytes(2));
  EXPECT_GT(work.data_bytes(last - 1), work.data_bytes(last));
}

}  // namespace
