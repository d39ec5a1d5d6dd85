// SPDX-License-Identifier: MIT
#include "kernels/strided_copy.hpp"

#include <cstdint>
#include <optional>

#include "kernels/launch.hpp"
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

template <class Word, class Index>
void launch_words(strided_loop const& loop, packed_range range, hipStream_t stream) {
  strided_job<Index> job;
  job.source = loop.source;
  job.destination = loop.destination;
  job.first = static_cast<Index>(range.begin / loop.word_bytes);
  job.count = (range.end - range.begin) / loop.word_bytes;
  job.rank = static_cast<unsigned>(loop.rank);
  job.reversed_bytes = static_cast<unsigned>(loop.reversed_bytes);
  for (std::size_t i = 0; i < loop.rank; ++i) {
    job.extents[i] = typename strided_job<Index>::extent(static_cast<Index>(loop.axes[i].extent));
    job.source_steps[i] = loop.axes[i].source;
    job.destination_steps[i] = loop.axes[i].destination;
  }
  platform::check_launch("strided copy kernel", launch_strided_copy<Word>(job, stream));
}

// Chooses the index type.
template <class Word>
void launch_words(strided_loop const& loop, packed_range range, hipStream_t stream) {
  if (range.end / loop.word_bytes <= max_index32) {
    launch_words<Word, std::uint32_t>(loop, range, stream);
  } else {
    launch_words<Word, std::size_t>(loop, range, stream);
  }
}

// Enqueues a range of the loop, word by word.
void launch(strided_loop const& loop, packed_range range, hipStream_t stream) {
  switch (loop.word_bytes) {
    case 1: return launch_words<std::uint8_t>(loop, range, stream);
    case 2: return launch_words<std::uint16_t>(loop, range, stream);
    case 4: return launch_words<std::uint32_t>(loop, range, stream);
    case 8: return launch_words<std::uint64_t>(loop, range, stream);
    default: return launch_words<vector_word>(loop, range, stream);
  }
}

// From this length on, each thread of the row kernel has two chunks of a row: more bytes are in
// flight. In shorter rows, threads would have no second chunk. Measured on an H100 with rows of 512
// and 1024 bytes, as the lengths of suits_rows.
constexpr std::size_t min_run_of_two_chunks = 768;

// Returns true if the row kernel copies a layout faster than words do. Rows of words of 1 and 2
// bytes gain at any length that fills a few chunks, because a word is a small part of an access.
// Words of 4 and 8 bytes move whole sectors, so that short rows gain little from fewer accesses,
// and nothing if they are contiguous in the destination: words are then written across the ends of
// rows. Words of 16 bytes are the widest accesses: only the row's index arithmetic is saved.
bool suits_rows(strided_loop const& loop, canonical_layout const& layout) {
  if (loop.word_bytes < sizeof(std::uint32_t)) return layout.run >= 32;
  if (loop.word_bytes == sizeof(vector_word)) return layout.run >= 256;
  bool const is_dense =
      layout.rank != 0 &&
      static_cast<std::size_t>(layout.axes[layout.rank - 1].destination) == layout.run;
  return layout.run >= (is_dense ? 1024 : 128);
}

// Enqueues the copy by rows, with `Chunks` chunks for a thread. Enqueues nothing and returns false
// if there are too many rows for 32-bit indices.
template <unsigned Chunks>
bool try_chunks(canonical_layout const& layout, hipStream_t stream) {
  std::optional<row_job<Chunks>> const job = make_row_job<Chunks>(layout);
  if (!job) return false;
  platform::check_launch("row kernel", launch_row_copy(*job, stream));
  return true;
}

// Enqueues the copy by rows. Enqueues nothing and returns false if words are faster, or if there
// are too many rows for 32-bit indices.
bool try_row_copy(strided_loop const& loop, canonical_layout const& layout, hipStream_t stream) {
  if (!suits_rows(loop, layout)) return false;
  // Aligned rows leave no part of an access unused: one chunk is as fast at all lengths.
  bool const has_two =
      layout.run >= min_run_of_two_chunks && loop.word_bytes != sizeof(vector_word);
  return has_two ? try_chunks<2>(layout, stream) : try_chunks<1>(layout, stream);
}

// Enqueues the copy by rows along the innermost axis. Returns false and enqueues nothing if there
// are too many words for 32-bit indices.
template <class Word>
bool try_word_rows(strided_loop const& loop, hipStream_t stream) {
  layout::axis const& inner = loop.axes[loop.rank - 1];
  word_row_job<Word> job;
  std::optional<std::size_t> const rows = set_axes(job.rows, loop.axes.data(), loop.rank - 1);
  if (!rows) return false;
  std::optional<row_division> const division =
      divide_rows(*rows, inner.extent, job.words_per_thread);
  if (!division) return false;
  job.division = *division;
  job.rows.source = loop.source;
  job.rows.destination = loop.destination;
  job.extent = static_cast<std::uint32_t>(inner.extent);
  job.source_step = inner.source;
  job.destination_step = inner.destination;
  platform::check_launch("word row kernel", launch_word_rows(job, stream));
  return true;
}

// Enqueues the copy by rows of words, if the innermost axis is long enough for several words of
// each thread of a warp. Otherwise enqueues nothing and returns false.
bool try_word_rows(strided_loop const& loop, hipStream_t stream) {
  constexpr std::size_t min_extent = 256;
  if (loop.reversed_bytes != 0 || loop.axes[loop.rank - 1].extent < min_extent) {
    return false;
  }
  switch (loop.word_bytes) {
    case 1: return try_word_rows<std::uint8_t>(loop, stream);
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
      try_word_rows(loop, stream)) {
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
