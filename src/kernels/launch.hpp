// SPDX-License-Identifier: MIT
// Where the library's C++ files end and its kernels begin.
#pragma once

#include <cstddef>

#include "kernels/batch_item.hpp"
#include "kernels/fill_job.hpp"
#include "kernels/row_job.hpp"
#include "kernels/strided_copy_job.hpp"
#include "kernels/tile_job.hpp"
#include "platform/hip.hpp"

namespace roc::kernels {

/// Enqueues the job; Unit has 1, 2, 4, 8 or 16 bytes.
template <class Unit, class Index>
hipError_t launch_strided_copy(strided_job<Index> const& job, hipStream_t stream);

/// Enqueues the job; Unit is one of those of strided copies.
template <class Unit, class Index>
hipError_t launch_fill(fill_unit<Unit, Index> const& job, hipStream_t stream);

/// Enqueues the job with units of 1, 2, 4, 8 or 16 bytes.
hipError_t launch_tile(tile_job const& job, std::size_t unit, hipStream_t stream);
/// The same for units of 1 or 2 bytes that lie side by side on the fastest axes.
hipError_t launch_word_tile(tile_job const& job, std::size_t unit, hipStream_t stream);

/// Enqueues the job.
hipError_t launch_row_copy(row_job const& job, hipStream_t stream);

/// Enqueues `count` items, in any order. The items are read when the kernel runs.
hipError_t launch_items(batch_item const* items, std::size_t count, hipStream_t stream);

}  // namespace roc::kernels
