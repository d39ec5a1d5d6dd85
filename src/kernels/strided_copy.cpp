// SPDX-License-Identifier: MIT
#include "kernels/strided_copy.hpp"

#include <cstdint>

#include "kernels/launch.hpp"
#include "kernels/strided_loop.hpp"
#include "kernels/tile_copy.hpp"
#include "kernels/vector_word.hpp"
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

// Enqueues the copy by rows (row_job.hpp), if wide words do not fit because rows begin or end at
// any byte. Enqueues nothing and returns false if wide words fit, if the rows are short, or if
// there are too many for 32-bit indices.
bool try_row_copy(strided_loop const& loop, canonical_layout const& layout, hipStream_t stream) {
  constexpr std::size_t min_run = 32;
  if (loop.word_bytes >= row_chunk::dword || layout.run < min_run || layout.run > max_index32 / 4) {
    return false;
  }
  row_job job;
  job.run = static_cast<int>(layout.run);
  job.chunks_per_row = fast_divmod(
      static_cast<std::uint32_t>((job.run + 2 * (row_chunk::bytes - 1)) / row_chunk::bytes));
  base::byte_range const source = source_range(loop);
  job.source_low = source.begin;
  job.source_high = source.end;
  job.rows.source = loop.source;
  job.rows.destination = loop.destination;
  job.rows.rank = static_cast<unsigned>(layout.rank);
  job.count = job.chunks_per_row.divisor;
  for (std::size_t i = 0; i < layout.rank; ++i) {
    layout::axis const& axis = loop.axes[i];
    if (axis.extent > max_index32 / job.count) return false;
    job.count *= axis.extent;
    job.rows.extents[i] = fast_divmod(static_cast<std::uint32_t>(axis.extent));
    job.rows.source_steps[i] = axis.source;
    job.rows.destination_steps[i] = axis.destination;
  }
  platform::check_launch("row kernel", launch_row_copy(job, stream));
  return true;
}

std::uintptr_t address(std::byte const* data) { return reinterpret_cast<std::uintptr_t>(data); }

}  // namespace

void permute(canonical_layout const& layout, hipStream_t stream) {
  strided_loop const loop =
      make_loop(layout, {address(layout.source), false}, {address(layout.destination), false});
  if (try_tile_copy(loop, stream) || try_row_copy(loop, layout, stream)) return;
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
