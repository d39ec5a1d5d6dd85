// SPDX-License-Identifier: MIT
// The arithmetic of copies by rows: their division into threads, and the bytes that each thread
// reads and writes, run on the CPU.
#include "kernels/row_job.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/half_row_job.hpp"
#include "kernels/reversed_row_job.hpp"
#include "kernels/row_copy.hpp"
#include "kernels/strided_loop.hpp"
#include "kernels/word_row_job.hpp"
#include "memory/debug/address_sanitizer.hpp"
#include "support/environment.hpp"

namespace {

using roc::kernels::make_reversed_row_job;
using roc::kernels::make_row_job;
using roc::kernels::reversed_row_job;
using roc::kernels::row_chunk;
using roc::kernels::row_job;
using roc::kernels::split_row_job;
using roc::layout::canonical_layout;
using roc::layout::side;

struct free_memory {
  void operator()(std::byte* data) const { std::free(data); }
};

// Memory whose first byte is `offset` bytes after a multiple of 64. An address sanitizer reports
// accesses to its gaps, and beyond its last byte up to the next multiple of 64.
class memory {
 public:
  memory(std::size_t bytes, std::size_t offset)
      : block_(static_cast<std::byte*>(std::aligned_alloc(64, round_up(offset + bytes)))),
        data_(block_.get() + offset),
        bytes_(bytes) {}
  memory(memory const&) = delete;
  memory& operator=(memory const&) = delete;
  ~memory() { allow_all(); }

  std::byte* data() { return data_; }
  std::vector<std::byte> contents() const { return {data_, data_ + bytes_}; }
  void number(std::size_t first) {
    for (std::size_t i = 0; i < bytes_; ++i)
      data_[i] = static_cast<std::byte>((first + i) * 2654435761u >> 11);
  }

  // Makes an address sanitizer report all accesses but those to memory that allow() names.
  void forbid_all() { roc::memory::poison_host_memory(block_.get(), block_bytes()); }
  void allow(std::size_t offset, std::size_t bytes) {
    roc::memory::unpoison_host_memory(data_ + offset, bytes);
  }
  void allow_all() { roc::memory::unpoison_host_memory(block_.get(), block_bytes()); }

 private:
  std::size_t block_bytes() const {
    return round_up(static_cast<std::size_t>(data_ - block_.get()) + bytes_);
  }
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

// As run(), in the form for the CPU: one call for each segment.
void run_segments(roc::kernels::row_arguments const& job) {
  for (std::size_t i = job.division.count / job.division.threads.divisor; i-- > 0;) {
    roc::kernels::copy_row_segment{job}(i);
  }
}

// Rows of two axes. Pitches and offsets are in bytes.
struct row_set {
  std::size_t run;
  std::size_t planes;
  std::size_t rows_of_plane;
  std::size_t from_pitch;
  std::size_t to_pitch;
  std::size_t from_offset;
  std::size_t to_offset;
};

// Runs both forms of a job, each on a numbered destination. Returns which of them does not leave
// the expected bytes; empty if both do.
template <class Device, class Cpu>
std::string wrong_form(memory& destination, std::vector<std::byte> const& expected,
                       Device run_on_device, Cpu run_on_cpu) {
  auto const is_wrong = [&] {
    destination.allow_all();
    bool const result = destination.contents() != expected;
    destination.number(12345);
    return result;
  };
  run_on_device();
  std::string result = is_wrong() ? "the device's form" : "";
  run_on_cpu();
  if (is_wrong()) result += "the CPU's form";
  return result;
}

// Copies rows by a job of the given type, once in each form, and compares all bytes around the
// destination.
template <class Job>
void check_rows(row_set const& where) {
  constexpr std::size_t guard = 48;
  std::size_t const run_bytes = where.run;
  std::size_t const from_plane = where.from_pitch * (where.rows_of_plane + 1);
  std::size_t const to_plane = where.to_pitch * (where.rows_of_plane + 2);
  auto const bytes = [&](std::size_t plane, std::size_t pitch) {
    return plane * (where.planes - 1) + pitch * (where.rows_of_plane - 1) + run_bytes;
  };
  memory source(bytes(from_plane, where.from_pitch), where.from_offset);
  memory destination(bytes(to_plane, where.to_pitch) + 2 * guard, where.to_offset);
  source.number(0);
  destination.number(12345);
  std::vector<std::byte> expected = destination.contents();
  source.forbid_all();
  destination.forbid_all();
  for (std::size_t plane = 0; plane < where.planes; ++plane) {
    for (std::size_t row = 0; row < where.rows_of_plane; ++row) {
      std::size_t const from = plane * from_plane + row * where.from_pitch;
      std::size_t const to = guard + plane * to_plane + row * where.to_pitch;
      source.allow(from, run_bytes);
      destination.allow(to, run_bytes);
      std::copy_n(source.data() + from, run_bytes, expected.data() + to);
    }
  }
  canonical_layout layout;
  layout.source = source.data();
  layout.destination = destination.data() + guard;
  layout.run = run_bytes;
  layout.rank = 2;
  layout.axes[0] = {where.planes, static_cast<std::ptrdiff_t>(from_plane),
                    static_cast<std::ptrdiff_t>(to_plane)};
  layout.axes[1] = {where.rows_of_plane, static_cast<std::ptrdiff_t>(where.from_pitch),
                    static_cast<std::ptrdiff_t>(where.to_pitch)};
  auto const job = make_row_job<Job>(layout);
  ASSERT_TRUE(job);
  std::string const wrong =
      wrong_form(destination, expected, [&] { run(*job); }, [&] { run_segments(*job); });
  ASSERT_EQ("", wrong) << where.planes << " x " << where.rows_of_plane << " rows of " << run_bytes
                       << " bytes, pitches " << where.from_pitch << " and " << where.to_pitch
                       << ", offsets " << where.from_offset << " and " << where.to_offset;
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

// The bytes of which all addresses, pitches and lengths of rows must be multiples.
template <class Job>
constexpr std::size_t unit = 4;
template <>
constexpr std::size_t unit<split_row_job<std::uint8_t>> = 1;

template <class Job>
class RowJobs : public testing::Test {};
using jobs = testing::Types<row_job, split_row_job<std::uint8_t>, split_row_job<std::uint32_t>>;
TYPED_TEST_SUITE(RowJobs, jobs);

// Rows that run backwards on one side. Lengths, pitches and offsets are in elements.
struct reversed_row_set {
  side backward;
  std::size_t length;
  std::size_t rows;
  std::size_t from_pitch;
  std::size_t to_pitch;
  std::size_t from_offset;
  std::size_t to_offset;
};

// Returns the job that reverses rows whose lowest addresses on both sides are those of the first
// row.
template <class Element>
std::optional<reversed_row_job<Element>> reversed_job(reversed_row_set const& set,
                                                      std::uintptr_t source,
                                                      std::uintptr_t destination) {
  constexpr std::ptrdiff_t step = sizeof(Element);
  bool const source_is_backward = set.backward == side::source;
  std::size_t const last_element = (set.length - 1) * sizeof(Element);
  canonical_layout layout;
  layout.source =
      reinterpret_cast<std::byte const*>(source + (source_is_backward ? last_element : 0));
  layout.destination =
      reinterpret_cast<std::byte*>(destination + (source_is_backward ? 0 : last_element));
  layout.run = sizeof(Element);
  layout.rank = 2;
  layout.axes[0] = {set.rows, static_cast<std::ptrdiff_t>(set.from_pitch) * step,
                    static_cast<std::ptrdiff_t>(set.to_pitch) * step};
  layout.axes[1] = {set.length, source_is_backward ? -step : step,
                    source_is_backward ? step : -step};
  roc::kernels::strided_loop const loop =
      roc::kernels::make_loop(layout, {reinterpret_cast<std::uintptr_t>(layout.source), false},
                              {reinterpret_cast<std::uintptr_t>(layout.destination), false});
  EXPECT_TRUE(is_reversed(loop));
  return make_reversed_row_job<Element>(loop);
}

// Writes the first `count` elements of `from` to `to` in reversed order.
template <class Element>
void reverse_elements(std::byte const* from, std::byte* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(to + i * sizeof(Element), from + (count - 1 - i) * sizeof(Element),
                sizeof(Element));
  }
}

// As run_segments().
template <class Element>
void run_reversed_segments(reversed_row_job<Element> const& job) {
  for (std::size_t i = job.division.count / job.division.threads.divisor; i-- > 0;) {
    roc::kernels::copy_reversed_segment<Element>{job}(i);
  }
}

// Reverses rows once in each form, and compares all bytes around the destination.
template <class Element>
void check_reversed_rows(reversed_row_set const& set) {
  constexpr std::size_t guard = 48;
  constexpr std::size_t step = sizeof(Element);
  auto const bytes = [&](std::size_t pitch) {
    return (pitch * (set.rows - 1) + set.length) * step;
  };
  memory source(bytes(set.from_pitch) + 2 * guard, set.from_offset * step);
  memory destination(bytes(set.to_pitch) + 2 * guard, set.to_offset * step);
  source.number(0);
  destination.number(12345);
  std::vector<std::byte> expected = destination.contents();
  source.forbid_all();
  destination.forbid_all();
  for (std::size_t row = 0; row < set.rows; ++row) {
    std::size_t const from = guard + row * set.from_pitch * step;
    std::size_t const to = guard + row * set.to_pitch * step;
    source.allow(from, set.length * step);
    destination.allow(to, set.length * step);
    reverse_elements<Element>(source.data() + from, expected.data() + to, set.length);
  }
  auto const job =
      reversed_job<Element>(set, reinterpret_cast<std::uintptr_t>(source.data() + guard),
                            reinterpret_cast<std::uintptr_t>(destination.data() + guard));
  ASSERT_TRUE(job);
  std::string const wrong =
      wrong_form(destination, expected, [&] { run(*job); }, [&] { run_reversed_segments(*job); });
  ASSERT_EQ("", wrong) << set.rows << " rows of " << set.length << " elements, pitches "
                       << set.from_pitch << " and " << set.to_pitch << ", offsets "
                       << set.from_offset << " and " << set.to_offset
                       << (set.backward == side::source ? ", backwards in the source"
                                                        : ", backwards in the destination");
}

// Rows of every second byte. Pitches and offsets are in bytes.
struct half_row_set {
  std::size_t extent;
  std::size_t rows;
  std::size_t from_pitch;
  std::size_t to_pitch;
  std::size_t from_offset;
  std::size_t to_offset;
};

std::optional<roc::kernels::half_row_job> half_job(half_row_set const& set, std::uintptr_t source,
                                                   std::uintptr_t destination) {
  roc::kernels::half_row_job job;
  auto const division =
      roc::kernels::divide_rows(set.rows, job.max_dwords(set.extent), job.dwords_per_thread);
  if (!division) return std::nullopt;
  job.division = *division;
  job.rows.source = source;
  job.rows.destination = destination;
  job.rows.rank = 1;
  job.rows.extents[0] = roc::kernels::fast_divmod(static_cast<std::uint32_t>(set.rows));
  job.rows.source_steps[0] = static_cast<std::ptrdiff_t>(set.from_pitch);
  job.rows.destination_steps[0] = static_cast<std::ptrdiff_t>(set.to_pitch);
  job.extent = static_cast<std::uint32_t>(set.extent);
  return job;
}

// Copies every second byte once in each form, and compares all bytes around the destination.
void check_half_rows(half_row_set const& set) {
  constexpr std::size_t guard = 48;
  std::size_t const row_bytes = 2 * set.extent - 1;
  memory source(set.from_pitch * (set.rows - 1) + row_bytes + 2 * guard, set.from_offset);
  memory destination(set.to_pitch * (set.rows - 1) + set.extent + 2 * guard, set.to_offset);
  source.number(0);
  destination.number(12345);
  std::vector<std::byte> expected = destination.contents();
  source.forbid_all();
  destination.forbid_all();
  for (std::size_t row = 0; row < set.rows; ++row) {
    std::size_t const from = guard + row * set.from_pitch;
    std::size_t const to = guard + row * set.to_pitch;
    source.allow(from, row_bytes);
    destination.allow(to, set.extent);
    for (std::size_t i = 0; i < set.extent; ++i) expected[to + i] = source.data()[from + 2 * i];
  }
  auto const job = half_job(set, reinterpret_cast<std::uintptr_t>(source.data() + guard),
                            reinterpret_cast<std::uintptr_t>(destination.data() + guard));
  ASSERT_TRUE(job);
  auto const run_on_cpu = [&] {
    for (std::size_t i = job->division.count; i-- > 0;) roc::kernels::copy_half_row_bytes{*job}(i);
  };
  std::string const wrong = wrong_form(destination, expected, [&] { run(*job); }, run_on_cpu);
  ASSERT_EQ("", wrong) << set.rows << " rows of " << set.extent << " bytes, pitches "
                       << set.from_pitch << " and " << set.to_pitch << ", offsets "
                       << set.from_offset << " and " << set.to_offset;
}

template <class Element>
class ReversedRowJobs : public testing::Test {};
using elements = testing::Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(ReversedRowJobs, elements);

constexpr side both_sides[] = {side::source, side::destination};

// Lengths around those at which the number of chunks changes, and those at which kernels change.
constexpr std::size_t lengths[] = {4,   5,   6,   7,   8,   12,  16,  20,  28,  31,  32,  33,
                                   36,  49,  64,  66,  100, 124, 127, 128, 129, 131, 132, 252,
                                   255, 256, 257, 260, 508, 511, 512, 513, 516, 1024};

}  // namespace

TEST(RowJob, RowsOfEqualAlignmentHaveNoSpareChunk) {
  // 4 + 1016 bytes from a multiple of the alignment on: 64 chunks.
  auto const job = make_row_job<row_job>(rows_of(1016, 100, 4096 + 4, 1024));
  ASSERT_TRUE(job);
  EXPECT_EQ(64u, job->division.threads.divisor);
  EXPECT_EQ(1u, job->division.segments.divisor);
  EXPECT_EQ(100u * 64, job->division.count);
}

TEST(RowJob, RowsOfAnyAlignmentHaveEnoughChunks) {
  for (std::size_t run_bytes = 4; run_bytes < 5000; run_bytes += 4) {
    auto const job = make_row_job<row_job>(rows_of(run_bytes, 3, 4096 + 4, 1004));
    ASSERT_TRUE(job);
    std::size_t const chunks =
        std::size_t{job->division.threads.divisor} * job->division.segments.divisor;
    EXPECT_GE(chunks * row_chunk::bytes, row_job::alignment - 4 + run_bytes);
  }
}

TEST(SplitRowJob, RowsHaveEnoughThreadsForTheWordsAtTheirEnds) {
  for (std::size_t const run_bytes : {32u, 128u, 191u, 192u, 208u, 4096u, 4112u}) {
    auto const job = make_row_job<split_row_job<std::uint8_t>>(rows_of(run_bytes, 3, 4096, 5000));
    ASSERT_TRUE(job);
    EXPECT_GE(job->division.threads.divisor * job->words_per_thread, 2 * job->max_words);
    EXPECT_GE(std::size_t{job->division.threads.divisor} * job->division.segments.divisor,
              run_bytes / row_chunk::bytes);
  }
}

TYPED_TEST(RowJobs, ShortRowsHaveOneChunkPerThread) {
  auto const job = make_row_job<TypeParam>(rows_of(256, 10, 4096, 288));
  ASSERT_TRUE(job);
  EXPECT_EQ(16u, job->division.threads.divisor);
  EXPECT_EQ(160u, job->division.count);
}

TYPED_TEST(RowJobs, LongRowsAreDividedIntoSegments) {
  constexpr std::size_t run_bytes = std::size_t{5} << 30;
  auto const job = make_row_job<TypeParam>(rows_of(run_bytes, 2, 4096, run_bytes + 4096));
  ASSERT_TRUE(job);
  EXPECT_EQ(256u, job->division.threads.divisor);
  EXPECT_EQ(run_bytes / 16 / 256, job->division.segments.divisor);
}

TYPED_TEST(RowJobs, TooManyThreadsFor32BitsGiveNoJob) {
  EXPECT_TRUE(make_row_job<TypeParam>(rows_of(64, std::size_t{1} << 28, 4096, 128)));
  EXPECT_FALSE(make_row_job<TypeParam>(rows_of(64, std::size_t{1} << 30, 4096, 128)));
  EXPECT_FALSE(make_row_job<TypeParam>(rows_of(64, std::size_t{1} << 33, 4096, 128)));
  EXPECT_TRUE(make_row_job<TypeParam>(rows_of(std::size_t{30} << 30, 1, 4096, 0)));
  EXPECT_FALSE(make_row_job<TypeParam>(rows_of(std::size_t{40} << 30, 1, 4096, 0)));
  EXPECT_FALSE(
      make_row_job<TypeParam>(rows_of(std::size_t{1} << 40, 2, 4096, std::ptrdiff_t{1} << 40)));
}

TYPED_TEST(RowJobs, CopiesAllPairsOfMisalignments) {
  constexpr std::size_t step = unit<TypeParam>;
  for (std::size_t from = 0; from < 16; from += step) {
    for (std::size_t to = 0; to < 32; to += step) {
      for (std::size_t const run_bytes : lengths) {
        if (run_bytes % step != 0) continue;
        check_rows<TypeParam>(
            {run_bytes, 1, 2, run_bytes + 5 * step, run_bytes + 12 * step, from, to});
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

// Other threads may write the bytes next to a row. ThreadSanitizer reports a job that reads one of
// them, even in the dword of a byte of the row, where AddressSanitizer does not see it.
TYPED_TEST(RowJobs, AccessesNoByteNextToARow) {
  constexpr std::size_t step = unit<TypeParam>;
  constexpr std::size_t guard = 32;
  constexpr std::size_t run_bytes = 64;
  for (std::size_t from = 0; from < 16; from += step) {
    for (std::size_t to = 0; to < 16; to += step) {
      memory source(run_bytes + 2 * guard, from);
      memory destination(run_bytes + 2 * guard, to);
      source.number(0);
      canonical_layout layout = rows_of(run_bytes, 1, 0, 0);
      layout.source = source.data() + guard;
      layout.destination = destination.data() + guard;
      auto const job = make_row_job<TypeParam>(layout);
      ASSERT_TRUE(job);
      std::atomic<bool> is_written = false;
      std::thread other([&] {
        for (std::byte* const data : {source.data(), destination.data()}) {
          // Different values: g++ would not instrument a memset of constant size.
          for (std::size_t i = 0; i < guard; ++i) {
            data[i] = static_cast<std::byte>(i);
            data[guard + run_bytes + i] = static_cast<std::byte>(i);
          }
        }
        is_written.store(true, std::memory_order_relaxed);
      });
      // Not ordered by the flag: the accesses of this thread still race with those of the other.
      while (!is_written.load(std::memory_order_relaxed)) std::this_thread::yield();
      run(*job);
      other.join();
      ASSERT_EQ(source.contents(), destination.contents()) << "offsets " << from << ", " << to;
    }
  }
}

// Rows without gaps in the destination: threads of two rows write the same sector.
TYPED_TEST(RowJobs, CopiesDenseRows) {
  constexpr std::size_t step = unit<TypeParam>;
  for (std::size_t const run_bytes : lengths) {
    if (run_bytes % step != 0) continue;
    check_rows<TypeParam>({run_bytes, 2, 5, run_bytes + step, run_bytes, 4, 8});
    check_rows<TypeParam>({run_bytes, 2, 5, run_bytes, run_bytes, 12, 12});
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(RowJobs, CopiesRowsOfSeveralSegments) {
  constexpr std::size_t step = unit<TypeParam>;
  for (std::size_t length : {4095u, 4096u, 4111u, 4127u, 4128u, 16383u, 16384u, 16400u, 40007u}) {
    std::size_t const run_bytes = length / step * step;
    check_rows<TypeParam>(
        {run_bytes, 1, 2, run_bytes + 3 * step, run_bytes + 6 * step, 5 * step, 2 * step});
    check_rows<TypeParam>({run_bytes, 2, 2, run_bytes + 16, run_bytes + 9 * step, 4, 4});
    if (this->HasFatalFailure()) return;
  }
}

// Of a row that is larger than the memory of this test, only some threads copy: those whose chunks
// are in a window of the row.
TYPED_TEST(RowJobs, OffsetsInRowsOfMoreThan4GiBAreExact) {
  constexpr std::size_t run_bytes = (std::size_t{9} << 30) + 4100;
  constexpr std::size_t window_bytes = 16384;
  constexpr std::size_t margin = 128;  // more than a chunk is shifted
  for (std::size_t const window :
       {std::size_t{3} << 30, std::size_t{5} << 30, run_bytes - window_bytes}) {
    memory source(window_bytes, 5 * unit<TypeParam>);
    memory destination(window_bytes, 12);
    source.number(0);
    destination.number(12345);
    canonical_layout layout =
        rows_of(run_bytes, 1, reinterpret_cast<std::uintptr_t>(destination.data()) - window, 0);
    layout.source = reinterpret_cast<std::byte const*>(
        reinterpret_cast<std::uintptr_t>(source.data()) - window);
    auto const job = make_row_job<TypeParam>(layout);
    ASSERT_TRUE(job);
    std::size_t const first = window / row_chunk::bytes;
    std::size_t const chunks = window_bytes / row_chunk::bytes;
    for (std::size_t i = first + 4; i < first + chunks - 4; ++i) (*job)(i);
    std::vector<std::byte> const from = source.contents();
    std::vector<std::byte> const to = destination.contents();
    EXPECT_TRUE(std::equal(from.begin() + margin, from.end() - margin, to.begin() + margin))
        << "window at " << window;
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

TEST(HalfRowJob, CopiesAllPairsOfMisalignments) {
  for (std::size_t from = 0; from < 4; ++from) {
    for (std::size_t to = 0; to < 4; ++to) {
      for (std::size_t extent = 1; extent <= 40; ++extent) {
        check_half_rows({extent, 3, 2 * extent - 1, extent, from, to});
        check_half_rows({extent, 3, 2 * extent + 2, extent + 1, from, to});
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(HalfRowJob, CopiesRowsOfSeveralSegments) {
  for (std::size_t const extent : {256u, 257u, 4089u, 4090u, 4091u, 4092u, 4096u, 20'003u}) {
    check_half_rows({extent, 2, 2 * extent + 5, extent + 3, 1, 2});
    check_half_rows({extent, 2, 2 * extent, extent, 3, 0});
    if (HasFatalFailure()) return;
  }
}

// As AccessesNoByteNextToARow of other jobs, for the form for the CPU: also no byte between those
// of the row.
TEST(HalfRowJob, AccessesNoOtherByteOnTheCPU) {
  constexpr std::size_t extent = 37;
  constexpr std::size_t guard = 32;
  for (std::size_t from = 0; from < 4; ++from) {
    memory source(2 * extent + 2 * guard, from);
    memory destination(extent, 0);
    source.number(0);
    auto const job =
        half_job({extent, 1, 0, 0, 0, 0}, reinterpret_cast<std::uintptr_t>(source.data() + guard),
                 reinterpret_cast<std::uintptr_t>(destination.data()));
    ASSERT_TRUE(job);
    std::vector<std::byte> expected(extent);
    for (std::size_t i = 0; i < extent; ++i) expected[i] = source.data()[guard + 2 * i];
    std::atomic<bool> is_written = false;
    std::thread other([&] {
      for (std::size_t i = 0; i < guard; ++i) source.data()[i] = std::byte{1};
      for (std::size_t i = 0; i < extent; ++i) source.data()[guard + 2 * i + 1] = std::byte{2};
      is_written.store(true, std::memory_order_relaxed);
    });
    // Not ordered by the flag: the accesses of this thread still race with those of the other.
    while (!is_written.load(std::memory_order_relaxed)) std::this_thread::yield();
    for (std::size_t i = 0; i < job->division.count; ++i)
      roc::kernels::copy_half_row_bytes{*job}(i);
    other.join();
    ASSERT_EQ(expected, destination.contents()) << "offset " << from;
  }
}

TYPED_TEST(RowJobs, CopiesRandomRows) {
  constexpr std::size_t step = unit<TypeParam>;
  auto random = roc::test::random_generator("RowJobs.CopiesRandomRows");
  auto const number = [&](std::size_t low, std::size_t high) {
    return std::uniform_int_distribution<std::size_t>(low / step, high / step)(random) * step;
  };
  for (int i = 0; i < 600; ++i) {
    std::size_t const run_bytes = number(4, i % 10 == 0 ? 9000 : 700);
    check_rows<TypeParam>({run_bytes, 1 + number(0, 8) % 3, 1 + number(0, 16) % 5,
                           run_bytes + number(0, 40), run_bytes + number(0, 40), number(0, 63),
                           number(0, 63)});
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(ReversedRowJobs, RowsHaveEnoughThreads) {
  for (std::size_t const row_bytes : {32u, 128u, 184u, 192u, 208u, 4096u, 4112u, 40000u}) {
    std::size_t const length = row_bytes / sizeof(TypeParam);
    auto const job = reversed_job<TypeParam>({side::source, length, 3, 8192, 8192, 0, 0}, 4096,
                                             std::uintptr_t{1} << 40);
    ASSERT_TRUE(job);
    EXPECT_GE(job->division.threads.divisor * job->elements_per_thread, 2 * job->max_elements);
    EXPECT_GE(std::size_t{job->division.threads.divisor} * job->division.segments.divisor,
              row_bytes / row_chunk::bytes);
  }
}

TYPED_TEST(ReversedRowJobs, TooManyThreadsFor32BitsGiveNoJob) {
  constexpr std::uintptr_t destination = std::uintptr_t{1} << 60;
  constexpr std::size_t step = sizeof(TypeParam);
  auto const has_job = [&](std::size_t row_bytes, std::size_t rows) {
    std::size_t const length = row_bytes / step;
    return reversed_job<TypeParam>({side::source, length, rows, length, length, 0, 0}, 4096,
                                   destination)
        .has_value();
  };
  EXPECT_TRUE(has_job(64, std::size_t{1} << 28));
  EXPECT_FALSE(has_job(64, std::size_t{1} << 30));
  EXPECT_FALSE(has_job(64, std::size_t{1} << 33));
  EXPECT_TRUE(has_job(std::size_t{30} << 30, 1));
  EXPECT_FALSE(has_job(std::size_t{40} << 30, 1));
}

TYPED_TEST(ReversedRowJobs, CopiesAllPairsOfMisalignments) {
  constexpr std::size_t step = sizeof(TypeParam);
  for (std::size_t from = 0; from < 16 / step; ++from) {
    for (std::size_t to = 0; to < 16 / step; ++to) {
      for (std::size_t length = 1; length <= 100; ++length) {
        for (side const backward : both_sides) {
          check_reversed_rows<TypeParam>({backward, length, 2, length + 5, length + 3, from, to});
          if (this->HasFatalFailure()) return;
        }
      }
    }
  }
}

// As AccessesNoByteNextToARow of the jobs that copy forwards.
TYPED_TEST(ReversedRowJobs, AccessesNoByteNextToARow) {
  constexpr std::size_t step = sizeof(TypeParam);
  constexpr std::size_t guard = 32;
  constexpr std::size_t length = 72 / step;
  for (std::size_t from = 0; from < 16; from += step) {
    for (std::size_t to = 0; to < 16; to += step) {
      memory source(72 + 2 * guard, from);
      memory destination(72 + 2 * guard, to);
      source.number(0);
      auto const job =
          reversed_job<TypeParam>({side::source, length, 1, 0, 0, 0, 0},
                                  reinterpret_cast<std::uintptr_t>(source.data() + guard),
                                  reinterpret_cast<std::uintptr_t>(destination.data() + guard));
      ASSERT_TRUE(job);
      std::atomic<bool> is_written = false;
      std::thread other([&] {
        for (std::byte* const data : {source.data(), destination.data()}) {
          // Different values: g++ would not instrument a memset of constant size.
          for (std::size_t i = 0; i < guard; ++i) {
            data[i] = static_cast<std::byte>(i);
            data[guard + length * step + i] = static_cast<std::byte>(i);
          }
        }
        is_written.store(true, std::memory_order_relaxed);
      });
      // Not ordered by the flag: the accesses of this thread still race with those of the other.
      while (!is_written.load(std::memory_order_relaxed)) std::this_thread::yield();
      run(*job);
      other.join();
      std::vector<std::byte> expected = source.contents();
      reverse_elements<TypeParam>(source.data() + guard, expected.data() + guard, length);
      ASSERT_EQ(expected, destination.contents()) << "offsets " << from << ", " << to;
    }
  }
}

TYPED_TEST(ReversedRowJobs, CopiesRowsOfSeveralSegments) {
  for (std::size_t const row_bytes : {4080u, 4096u, 4104u, 4128u, 8200u, 16384u, 16392u, 40008u}) {
    std::size_t const length = row_bytes / sizeof(TypeParam);
    for (side const backward : both_sides) {
      for (std::size_t const odd : {0u, 1u}) {
        check_reversed_rows<TypeParam>({backward, length - odd, 3, length + 3, length + 1, 3, 1});
        check_reversed_rows<TypeParam>({backward, length - odd, 2, length, length, 0, 0});
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

// As for jobs that copy forwards: only the threads whose chunks are in a window of the row.
TYPED_TEST(ReversedRowJobs, OffsetsInRowsOfMoreThan4GiBAreExact) {
  constexpr std::size_t step = sizeof(TypeParam);
  constexpr std::size_t row_bytes = (std::size_t{9} << 30) + 4104;
  constexpr std::size_t window_bytes = 16384;
  constexpr std::size_t margin = 128;  // more than a chunk is shifted
  for (std::size_t const window :
       {std::size_t{3} << 30, std::size_t{5} << 30, row_bytes - window_bytes}) {
    memory source(window_bytes, 5 * step);
    memory destination(window_bytes, 8);
    source.number(0);
    destination.number(12345);
    auto const job = reversed_job<TypeParam>(
        {side::source, row_bytes / step, 1, 0, 0, 0, 0},
        reinterpret_cast<std::uintptr_t>(source.data()) - (row_bytes - window - window_bytes),
        reinterpret_cast<std::uintptr_t>(destination.data()) - window);
    ASSERT_TRUE(job);
    std::size_t const first = window / row_chunk::bytes;
    std::size_t const chunks = window_bytes / row_chunk::bytes;
    for (std::size_t i = first + 4; i < first + chunks - 4; ++i) (*job)(i);
    std::vector<std::byte> expected(window_bytes);
    reverse_elements<TypeParam>(source.data(), expected.data(), window_bytes / step);
    std::vector<std::byte> const to = destination.contents();
    EXPECT_TRUE(std::equal(expected.begin() + margin, expected.end() - margin, to.begin() + margin))
        << "window at " << window;
  }
}

TYPED_TEST(ReversedRowJobs, CopiesRandomRows) {
  auto random = roc::test::random_generator("ReversedRowJobs.CopiesRandomRows");
  auto const number = [&](std::size_t low, std::size_t high) {
    return std::uniform_int_distribution<std::size_t>(low, high)(random);
  };
  for (int i = 0; i < 600; ++i) {
    std::size_t const length = number(1, i % 10 == 0 ? 9000 : 700);
    check_reversed_rows<TypeParam>({both_sides[i % 2], length, number(1, 5), length + number(0, 40),
                                    length + number(0, 40), number(0, 63), number(0, 63)});
    if (this->HasFatalFailure()) return;
  }
}
