// SPDX-License-Identifier: MIT
#include "kernels/strided_copy.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "kernels/half_row_job.hpp"
#include "kernels/launch.hpp"
#include "kernels/reversed_row_job.hpp"
#include "kernels/row_copy.hpp"
#include "kernels/strided_loop.hpp"
#include "kernels/tile_copy.hpp"
#include "kernels/vector_word.hpp"
#include "kernels/word_row_job.hpp"
#include "platform/call.hpp"

namespace roc::kernels {
namespace {

using layout::canonical_layout;
using layout::packed_range;

template <class Word>
void launch_words(loop_part const& part, hipStream_t stream) {
  strided_loop const& loop = part.loop;
  strided_job job;
  job.source = loop.source;
  job.destination = loop.destination;
  job.first = static_cast<std::uint32_t>(part.begin);
  job.count = part.end - part.begin;
  job.rank = static_cast<unsigned>(loop.rank);
  job.reversed_bytes = static_cast<unsigned>(loop.reversed_bytes);
  // A range of a longer loop may have smaller indices than its axes: none reaches a limited extent.
  for (std::size_t i = 0; i < loop.rank; ++i) {
    job.extents[i] =
        fast_divmod(static_cast<std::uint32_t>(std::min(loop.axes[i].extent, max_index32)));
    job.source_steps[i] = loop.axes[i].source;
    job.destination_steps[i] = loop.axes[i].destination;
  }
  platform::check_launch("strided copy kernel", launch_strided_copy<Word>(job, stream));
}

// Enqueues a part of the loop, word by word.
void launch(loop_part const& part, hipStream_t stream) {
  switch (part.loop.word_bytes) {
    case 1: return launch_words<std::uint8_t>(part, stream);
    case 2: return launch_words<std::uint16_t>(part, stream);
    case 4: return launch_words<std::uint32_t>(part, stream);
    case 8: return launch_words<std::uint64_t>(part, stream);
    default: return launch_words<vector_word>(part, stream);
  }
}

// Enqueues a range of the loop, word by word: in several launches if 32-bit indices cannot count
// its words.
void launch(strided_loop const& loop, packed_range range, hipStream_t stream) {
  std::size_t const end = range.end / loop.word_bytes;
  for (std::size_t begin = range.begin / loop.word_bytes; begin < end;) {
    loop_part const part = first_part(loop, begin, end);
    launch(part, stream);
    begin += part.end - part.begin;
  }
}

// The shortest contiguous rows, in bytes, that each of the kernels for rows copies. Shorter ones
// are copied in words. The rates of all of them on an H100, relative to a plain copy of as many
// bytes, for rows with gaps of 16 bytes on both sides:
//
//   length of rows                     256   512  1024  4096
//   words of 4, rows begin at 4 mod 16:
//     words (strided_job)             0.61  0.71  0.80  0.86
//     split_row_job                   0.69  0.79  0.87  0.96
//     row_job                         0.65  0.81  0.91  0.97
//   words of 1, rows begin at 1 (source) and 2 (destination) mod 16:
//     words                           0.24  0.24  0.24  0.24
//     split_row_job                   0.65  0.77  0.87  0.95
//   words of 16:
//     words                           0.73  0.83  0.89  0.96
//     split_row_job                   0.74  0.84  0.91  0.97
//     row_job                         0.77  0.87  0.93  0.97
//
// Rows of 1016 bytes without gaps in the destination: words 0.69, row_job 1.01.
namespace min_row {
// A word of 1 or 2 bytes is a small part of an access: rows of a few chunks gain.
constexpr std::size_t split_bytes = 32;
// Words of 4 and 8 bytes move whole sectors: short rows gain little from fewer accesses.
constexpr std::size_t split_dwords = 128;
// Rows of words of 4 and 8 bytes for row_job.
constexpr std::size_t chunks = 512;
// Rows of words of 16 bytes for row_job: they have no narrow accesses at their ends. In shorter
// rows, only the row's index arithmetic would be saved.
constexpr std::size_t aligned_chunks = 256;
// Reversed rows for reversed_row_job, in words of the loop. GB/s on one H200 for rows that begin
// off 16 bytes: copied in words, then by this job; of elements of 1; 2; 4; 8 bytes:
//   16 words   690, 420; 1150, 880; 1469, 1517; 1950, 2004
//   32         694, 831; 1307, 1056; 1811, 2002; 2322, 2470
//   64         696, 1190; 1355, 1560; 2167, 2480; 2730, 2990
//   4 KiB      1837, 3800; 3278, 3825; 3609, 3930; 3644, 3935
constexpr std::size_t reversed_words = 32;
constexpr std::size_t reversed_words_of_2_bytes = 64;
}  // namespace min_row

// Enqueues the copy by rows. Enqueues nothing and returns false if there are too many rows for
// 32-bit indices.
template <class Job>
bool try_rows(canonical_layout const& layout, hipStream_t stream) {
  std::optional<Job> const job = make_row_job<Job>(layout);
  if (!job) return false;
  platform::check_launch("row kernel", launch_row_copy(*job, stream));
  return true;
}

// Enqueues the copy by rows. Enqueues nothing and returns false if words are faster, or if there
// are too many rows for 32-bit indices.
bool try_row_copy(strided_loop const& loop, canonical_layout const& layout, hipStream_t stream) {
  if (loop.word_bytes < sizeof(std::uint32_t)) {
    return layout.run >= min_row::split_bytes &&
           try_rows<split_row_job<std::uint8_t>>(layout, stream);
  }
  bool const is_aligned = loop.word_bytes == sizeof(vector_word);
  if (layout.run >= (is_aligned ? min_row::aligned_chunks : min_row::chunks)) {
    return try_rows<row_job>(layout, stream);
  }
  // Words are written across the ends of short rows, if the destination has no gaps.
  bool const is_dense =
      layout.rank != 0 &&
      static_cast<std::size_t>(layout.axes[layout.rank - 1].destination) == layout.run;
  return !is_aligned && !is_dense && layout.run >= min_row::split_dwords &&
         try_rows<split_row_job<std::uint32_t>>(layout, stream);
}

// Enqueues the copy by reversed rows. Enqueues nothing and returns false if there are too many for
// 32-bit indices.
template <class Element>
bool try_reversed_rows(strided_loop const& loop, hipStream_t stream) {
  std::optional<reversed_row_job<Element>> const job = make_reversed_row_job<Element>(loop);
  if (!job) return false;
  platform::check_launch("reversed row kernel", launch_reversed_rows(*job, stream));
  return true;
}

// Enqueues the copy by rows, if the two sides run in opposite directions along the innermost axis
// and not all rows are aligned to the widest word. Otherwise, or if rows are short, enqueues
// nothing and returns false.
bool try_reversed_rows(strided_loop const& loop, hipStream_t stream) {
  if (!is_reversed(loop) || loop.word_bytes == sizeof(vector_word)) return false;
  std::size_t const min_words =
      loop.word_bytes == 2 ? min_row::reversed_words_of_2_bytes : min_row::reversed_words;
  if (loop.axes[loop.rank - 1].extent < min_words) return false;
  switch (loop.reversed_bytes != 0 ? loop.reversed_bytes : loop.word_bytes) {
    case 1: return try_reversed_rows<std::uint8_t>(loop, stream);
    case 2: return try_reversed_rows<std::uint16_t>(loop, stream);
    case 4: return try_reversed_rows<std::uint32_t>(loop, stream);
    default: return try_reversed_rows<std::uint64_t>(loop, stream);
  }
}

// Sets the rows of a job to those along the innermost axis, of `units` units each. Returns false if
// there are too many for 32-bit indices.
template <class Job>
bool set_rows(Job& job, strided_loop const& loop, std::size_t units, std::size_t units_per_thread) {
  std::optional<std::size_t> const rows = set_axes(job.rows, loop.axes.data(), loop.rank - 1);
  if (!rows) return false;
  std::optional<row_division> const division = divide_rows(*rows, units, units_per_thread);
  if (!division) return false;
  job.division = *division;
  job.rows.source = loop.source;
  job.rows.destination = loop.destination;
  job.extent = static_cast<std::uint32_t>(loop.axes[loop.rank - 1].extent);
  return true;
}

// Enqueues the copy of every second byte to contiguous rows. Returns false and enqueues nothing for
// other copies, or if there are too many bytes for 32-bit indices.
bool try_half_rows(strided_loop const& loop, hipStream_t stream) {
  layout::axis const& inner = loop.axes[loop.rank - 1];
  half_row_job job;
  if (inner.source != 2 || inner.destination != 1 || inner.extent > job.max_extent ||
      !set_rows(job, loop, job.max_dwords(inner.extent), job.dwords_per_thread)) {
    return false;
  }
  platform::check_launch("half row kernel", launch_half_rows(job, stream));
  return true;
}

// Enqueues the copy by rows along the innermost axis. Returns false and enqueues nothing if there
// are too many words for 32-bit indices.
template <class Word>
bool try_word_rows(strided_loop const& loop, hipStream_t stream) {
  layout::axis const& inner = loop.axes[loop.rank - 1];
  word_row_job<Word> job;
  if (!set_rows(job, loop, inner.extent, job.words_per_thread)) return false;
  job.source_step = inner.source;
  job.destination_step = inner.destination;
  platform::check_launch("word row kernel", launch_word_rows(job, stream));
  return true;
}

// Enqueues the copy by rows of words, if the innermost axis is long enough for several words of
// each thread of a warp. Otherwise enqueues nothing and returns false.
bool try_word_rows(strided_loop const& loop, hipStream_t stream) {
  // An estimate, not measured: what 32 threads copy in one pass if words have 1 or 2 bytes, and in
  // two if they are wider (word_row_job::words_per_thread). With a lower limit, more threads have
  // no work at the ends of rows; with a higher one, more copies compute the place of each word.
  constexpr std::size_t min_extent = 256;
  if (loop.reversed_bytes != 0 || loop.axes[loop.rank - 1].extent < min_extent) {
    return false;
  }
  switch (loop.word_bytes) {
    case 1: return try_half_rows(loop, stream) || try_word_rows<std::uint8_t>(loop, stream);
    case 2: return try_word_rows<std::uint16_t>(loop, stream);
    case 4: return try_word_rows<std::uint32_t>(loop, stream);
    case 8: return try_word_rows<std::uint64_t>(loop, stream);
    default: return try_word_rows<vector_word>(loop, stream);
  }
}

std::uintptr_t address(std::byte const* data) { return reinterpret_cast<std::uintptr_t>(data); }

}  // namespace

void permute(canonical_layout const& layout, hipStream_t stream) {
  strided_loop const loop =
      make_loop(layout, {address(layout.source), false}, {address(layout.destination), false});
  if (try_tile_copy(loop, stream) || try_row_copy(loop, layout, stream) ||
      try_reversed_rows(loop, stream) || try_word_rows(loop, stream)) {
    return;
  }
  // The faster kernels may have refused because 32-bit indices cannot count their threads.
  if (layout.rank != 0 && layout.bytes() / loop.word_bytes > max_index32) {
    for (canonical_layout const& half : layout::halves_of(layout)) permute(half, stream);
    return;
  }
  launch(loop, {0, layout.bytes()}, stream);
}

void gather(canonical_layout const& layout, packed_range range, std::byte* packed,
            hipStream_t stream) {
  launch(make_loop(layout, {address(layout.source), false}, {address(packed) - range.begin, true}),
         range, stream);
}

void scatter(canonical_layout const& layout, packed_range range, std::byte const* packed,
             hipStream_t stream) {
  launch(make_loop(layout, {address(packed) - range.begin, true},
                   {address(layout.destination), false}),
         range, stream);
}

}  // namespace roc::kernels
