// SPDX-License-Identifier: MIT
// The launches of the library's kernels, which the .hip files of this directory implement.
//
// Each function enqueues its kernel on the stream and returns the error code of the launch. None
// blocks or throws.
#pragma once

#include <cstddef>

#include "kernels/batch_item.hpp"
#include "kernels/fill_job.hpp"
#include "kernels/half_row_job.hpp"
#include "kernels/reversed_row_job.hpp"
#include "kernels/row_job.hpp"
#include "kernels/strided_copy_job.hpp"
#include "kernels/tile_job.hpp"
#include "kernels/word_row_job.hpp"
#include "platform/hip.hpp"

namespace roc::kernels {

/// Launches a strided copy in words of type Word, which has 1, 2, 4, 8 or 16 bytes
/// (ROCARRAY_FOR_EACH_WORD).
template <class Word>
hipError_t launch_strided_copy(strided_job const& job, hipStream_t stream);

/// Launches a fill; Word as for launch_strided_copy, Index as for fill_word.
template <class Word, class Index>
hipError_t launch_fill(fill_word<Word, Index> const& job, hipStream_t stream);

/// Launches a copy in tiles of words of 1, 2, 4, 8 or 16 bytes.
hipError_t launch_tile(tile_job const& job, std::size_t word_bytes, hipStream_t stream);
/// Launches a copy in tiles of words of 1 or 2 bytes, which are contiguous along axis a in the
/// source and along axis b in the destination: four bytes are moved at a time.
hipError_t launch_dword_tile(tile_job const& job, std::size_t word_bytes, hipStream_t stream);

/// Launches a copy of contiguous rows. Job is row_job, or split_row_job for words of 1 or 4 bytes.
template <class Job>
hipError_t launch_row_copy(Job const& job, hipStream_t stream);
/// Launches a copy of rows in reversed order. Element has 1, 2, 4 or 8 bytes.
template <class Element>
hipError_t launch_reversed_rows(reversed_row_job<Element> const& job, hipStream_t stream);
/// Launches a copy of every second byte to contiguous rows.
hipError_t launch_half_rows(half_row_job const& job, hipStream_t stream);
/// Launches a copy of rows of words at any step. Word has 1, 2, 4, 8 or 16 bytes.
template <class Word>
hipError_t launch_word_rows(word_row_job<Word> const& job, hipStream_t stream);

/// Launches the copies of `count` items, in any order. The kernel reads `items`, which must live
/// until it has finished.
hipError_t launch_items(batch_item const* items, std::size_t count, hipStream_t stream);

}  // namespace roc::kernels
