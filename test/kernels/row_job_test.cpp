// SPDX-License-Identifier: MIT
// The arithmetic of copies by rows: their division into threads, and the bytes that each thread
// reads and writes, run on the CPU.
#include "kernels/row_job.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/row_copy.hpp"
#include "kernels/word_row_job.hpp"
#include "support/environment.hpp"

namespace {

using roc::kernels::make_row_job;
using roc::kernels::row_chunk;
using roc::layout::canonical_layout;

struct free_memory {
  void operator()(std::byte* data) const { std::free(data); }
};

// Memory whose first byte is `offset` bytes after a multiple of 64, and that ends where an address
// sanitizer reports an access beyond its last byte.
class memory {
 public:
  memory(std::size_t bytes, std::size_t offset)
      : block_(static_cast<std::byte*>(std::aligned_alloc(64, round_up(offset + bytes)))),
        data_(block_.get() + offset),
        bytes_(bytes) {}

  std::byte* data() { return data_; }
  std::vector<std::byte> contents() const { return {data_, data_ + bytes_}; }
  void number(std::size_t first) {
    for (std::size_t i = 0; i < bytes_; ++i)
      data_[i] = static_cast<std::byte>((first + i) * 2654435761u >> 11);
  }

 private:
  static std::size_t round_up(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

  std::unique_ptr<std::byte, free_memory> block_;
  std::byte* data_;
  std::size_t bytes_;
};

// Runs all threads of a job, in descending order, because their order must not matter.
template <class Job>
void run(Job const& job) {
  for (std::size_t i = job.division.count; i-- > 0;) job(i);
}

// Copies two axes of rows with the given steps, and compares all bytes around the destination.
template <unsigned Chunks>
void check_rows(std::size_t run_bytes, std::size_t planes, std::size_t rows, std::size_t from_pitch,
                std::size_t to_pitch, std::size_t from_offset, std::size_t to_offset) {
  constexpr std::size_t guard = 48;
  std::size_t const from_plane = from_pitch * (rows + 1);
  std::size_t const to_plane = to_pitch * (rows + 2);
  memory source(from_plane * (planes - 1) + from_pitch * (rows - 1) + run_bytes, from_offset);
  memory destination(to_plane * (planes - 1) + to_pitch * (rows - 1) + run_bytes + 2 * guard,
                     to_offset);
  source.number(0);
  destination.number(12345);
  std::vector<std::byte> expected = destination.contents();
  for (std::size_t plane = 0; plane < planes; ++plane) {
    for (std::size_t row = 0; row < rows; ++row) {
      std::byte const* const from = source.data() + plane * from_plane + row * from_pitch;
      std::copy_n(from, run_bytes, expected.data() + guard + plane * to_plane + row * to_pitch);
    }
  }
  canonical_layout layout;
  layout.source = source.data();
  layout.destination = destination.data() + guard;
  layout.run = run_bytes;
  layout.rank = 2;
  layout.axes[0] = {planes, static_cast<std::ptrdiff_t>(from_plane),
                    static_cast<std::ptrdiff_t>(to_plane)};
  layout.axes[1] = {rows, static_cast<std::ptrdiff_t>(from_pitch),
                    static_cast<std::ptrdiff_t>(to_pitch)};
  auto const job = make_row_job<Chunks>(layout);
  ASSERT_TRUE(job);
  run(*job);
  ASSERT_TRUE(destination.contents() == expected)
      << planes << " x " << rows << " rows of " << run_bytes << " bytes, pitches " << from_pitch
      << " and " << to_pitch << ", offsets " << from_offset << " and " << to_offset;
}

canonical_layout rows_of(std::size_t run_bytes, std::size_t rows, std::size_t destination,
                         std::ptrdiff_t pitch) {
  canonical_layout layout;
  layout.destination = reinterpret_cast<std::byte*>(destination);
  layout.run = run_bytes;
  layout.rank = 1;
  layout.axes[0] = {rows, pitch, pitch};
  return layout;
}

template <class Chunks>
class RowJob : public testing::Test {};
using numbers_of_chunks =
    testing::Types<std::integral_constant<unsigned, 1>, std::integral_constant<unsigned, 2>>;
TYPED_TEST_SUITE(RowJob, numbers_of_chunks);

}  // namespace

TYPED_TEST(RowJob, RowsOfEqualAlignmentHaveNoSpareChunk) {
  // 4 + 1016 bytes from a multiple of the alignment on: 64 chunks.
  auto const job = make_row_job<TypeParam::value>(rows_of(1016, 100, 4096 + 4, 1024));
  ASSERT_TRUE(job);
  EXPECT_EQ(64 / TypeParam::value, job->division.threads.divisor);
  EXPECT_EQ(1u, job->division.segments.divisor);
  EXPECT_EQ(100u * job->division.threads.divisor, job->division.count);
}

TYPED_TEST(RowJob, RowsOfAnyAlignmentHaveEnoughChunks) {
  for (std::size_t run_bytes = 4; run_bytes < 3000; run_bytes += 7) {
    auto const job = make_row_job<TypeParam::value>(rows_of(run_bytes, 3, 4096 + 1, 1001));
    ASSERT_TRUE(job);
    std::size_t const chunks = std::size_t{job->division.threads.divisor} *
                               job->division.segments.divisor * TypeParam::value;
    EXPECT_GE(chunks * row_chunk::bytes, roc::kernels::row_job<1>::alignment - 1 + run_bytes);
  }
}

TYPED_TEST(RowJob, ShortRowsHaveOneChunkPerThread) {
  auto const job = make_row_job<TypeParam::value>(rows_of(96, 10, 4096, 128));
  ASSERT_TRUE(job);
  EXPECT_EQ(6u, job->division.threads.divisor);
  EXPECT_EQ(60u, job->division.count);
}

TYPED_TEST(RowJob, LongRowsAreDividedIntoSegments) {
  constexpr std::size_t run_bytes = std::size_t{5} << 30;
  auto const job = make_row_job<TypeParam::value>(rows_of(run_bytes, 2, 4096, run_bytes + 4096));
  ASSERT_TRUE(job);
  EXPECT_EQ(256u, job->division.threads.divisor);
  EXPECT_EQ(run_bytes / 16 / 256 / TypeParam::value, job->division.segments.divisor);
}

TYPED_TEST(RowJob, TooManyThreadsFor32BitsGiveNoJob) {
  EXPECT_TRUE(make_row_job<TypeParam::value>(rows_of(64, std::size_t{1} << 29, 4096, 128)));
  EXPECT_FALSE(make_row_job<TypeParam::value>(rows_of(64, std::size_t{1} << 30, 4096, 128)));
  EXPECT_FALSE(make_row_job<TypeParam::value>(rows_of(64, std::size_t{1} << 33, 4096, 128)));
  EXPECT_TRUE(make_row_job<TypeParam::value>(rows_of(std::size_t{30} << 30, 1, 4096, 0)));
  EXPECT_FALSE(make_row_job<TypeParam::value>(rows_of(std::size_t{40} << 30, 1, 4096, 0)));
  EXPECT_FALSE(make_row_job<TypeParam::value>(
      rows_of(std::size_t{1} << 40, 2, 4096, std::ptrdiff_t{1} << 40)));
}

TYPED_TEST(RowJob, CopiesAllPairsOfMisalignments) {
  constexpr std::size_t lengths[] = {4, 5, 6, 7, 31, 32, 49, 66, 131};
  for (std::size_t from = 0; from < 16; ++from) {
    for (std::size_t to = 0; to < 32; ++to) {
      for (std::size_t const run_bytes : lengths) {
        check_rows<TypeParam::value>(run_bytes, 1, 2, 144, 160, from, to);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(RowJob, CopiesRowsOfSeveralSegments) {
  constexpr std::size_t lengths[] = {16383, 16384, 16400, 40007};
  for (std::size_t const run_bytes : lengths) {
    check_rows<TypeParam::value>(run_bytes, 1, 2, run_bytes + 3, run_bytes + 6, 5, 2);
    check_rows<TypeParam::value>(run_bytes, 2, 2, run_bytes + 16, run_bytes + 9, 4, 4);
    if (this->HasFatalFailure()) return;
  }
}

TEST(WordRowJob, CopiesRowsAtAnyStep) {
  using roc::kernels::divide_rows;
  using roc::kernels::word_row_job;
  constexpr std::ptrdiff_t word = sizeof(std::uint32_t);
  for (std::size_t const extent : {1u, 7u, 256u, 1000u, 5000u}) {
    for (std::ptrdiff_t const step : {1, 2, -3}) {
      constexpr std::size_t rows = 3;
      auto const length = static_cast<std::ptrdiff_t>(extent);
      std::ptrdiff_t const stride = step < 0 ? -step : step;
      std::vector<std::uint32_t> source(rows * extent * static_cast<std::size_t>(stride));
      for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::uint32_t>(i);
      std::vector<std::uint32_t> destination(rows * (extent + 1) + 1, 0xaaaaaaaau);
      std::vector<std::uint32_t> expected = destination;
      std::ptrdiff_t const first = step < 0 ? (length - 1) * stride : 0;
      for (std::ptrdiff_t row = 0; row < std::ptrdiff_t{rows}; ++row) {
        for (std::ptrdiff_t i = 0; i < length; ++i) {
          expected[static_cast<std::size_t>(row * (length + 1) + i)] =
              source[static_cast<std::size_t>(first + row * length * stride + i * step)];
        }
      }
      word_row_job<std::uint32_t> job;
      job.rows.source = reinterpret_cast<std::uintptr_t>(source.data() + first);
      job.rows.destination = reinterpret_cast<std::uintptr_t>(destination.data());
      job.rows.rank = 1;
      job.rows.extents[0] = roc::kernels::fast_divmod(rows);
      job.rows.source_steps[0] = length * stride * word;
      job.rows.destination_steps[0] = (length + 1) * word;
      job.extent = static_cast<std::uint32_t>(extent);
      job.source_step = step * word;
      job.destination_step = word;
      auto const division = divide_rows(rows, extent, job.words_per_thread);
      ASSERT_TRUE(division);
      job.division = *division;
      run(job);
      ASSERT_TRUE(destination == expected) << extent << " words, step " << step;
    }
  }
}

TYPED_TEST(RowJob, CopiesRandomRows) {
  auto random = roc::test::random_generator("RowJob.CopiesRandomRows");
  auto const number = [&](std::size_t low, std::size_t high) {
    return std::uniform_int_distribution<std::size_t>(low, high)(random);
  };
  for (int i = 0; i < 300; ++i) {
    std::size_t const run_bytes = number(4, i % 10 == 0 ? 5000 : 300);
    check_rows<TypeParam::value>(run_bytes, number(1, 3), number(1, 5), run_bytes + number(0, 40),
                                 run_bytes + number(0, 40), number(0, 63), number(0, 63));
    if (this->HasFatalFailure()) return;
  }
}
