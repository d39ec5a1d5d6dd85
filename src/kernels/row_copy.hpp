// SPDX-License-Identifier: MIT
// Copies by rows: the jobs of the kernels that divide rows among threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/reversed_row_job.hpp"
#include "kernels/row_division.hpp"
#include "kernels/row_job.hpp"
#include "kernels/strided_copy_job.hpp"
#include "kernels/strided_loop.hpp"
#include "layout/canonical_layout.hpp"

namespace roc::kernels {

/// Sets the axes of `rows` to those of a loop. Returns the number of rows, or nothing if there are
/// too many for 32-bit indices.
std::optional<std::size_t> set_axes(strided_job& rows, layout::axis const* axes, std::size_t rank);

/// Returns the division of `rows` rows of `units` units among threads that have `units_per_thread`.
/// Returns nothing if there are too many threads for 32-bit indices. No argument is 0.
std::optional<row_division> divide_rows(std::size_t rows, std::size_t units,
                                        std::size_t units_per_thread);

/// Returns the job that copies the rows of a layout: its runs. Returns nothing if there are too
/// many for 32-bit indices. Job is row_job, or split_row_job for words of 1 or 4 bytes; its
/// requirements apply to the addresses, steps and runs.
template <class Job>
std::optional<Job> make_row_job(layout::canonical_layout const& layout);

/// Returns the job that copies the rows of a loop along its innermost axis, for which is_reversed()
/// is true. Returns nothing if there are too many for 32-bit indices. Element has 1, 2, 4 or 8
/// bytes; it is the loop's word, or what the loop reverses within each word.
template <class Element>
std::optional<reversed_row_job<Element>> make_reversed_row_job(strided_loop const& loop);

}  // namespace roc::kernels
