// SPDX-License-Identifier: MIT
// The division of rows among the threads of a kernel.
#pragma once

#include <cstddef>
#include <cstdint>

#include <roc/config.hpp>

#include "kernels/fast_divmod.hpp"

namespace roc::kernels {

/// The units of one thread: `first`, `first + step` and so on in row `row`, as many as the kernel
/// gives each thread. The last ones may be beyond the end of the row.
struct row_units {
  std::uint32_t row;
  std::uint32_t first;
  std::uint32_t step;
};

/// Divides rows of equally many units, of which a thread has several in the same row: it finds the
/// row once for all of them. Rows have `segments`, a segment has `threads`; unit u of a segment
/// belongs to thread u % threads, so that neighboring threads access neighboring units.
struct row_division {
  fast_divmod threads;    // of a segment
  fast_divmod segments;   // of a row
  std::size_t count = 0;  // of the threads of all rows

  /// Returns the units of thread i, if each thread has `units_per_thread`.
  ROCARRAY_HOST_DEVICE row_units units_of(std::size_t i, std::uint32_t units_per_thread) const {
    auto const index = static_cast<std::uint32_t>(i);
    std::uint32_t const segment = threads.quotient(index);
    std::uint32_t const row = segments.quotient(segment);
    std::uint32_t const thread = index - segment * threads.divisor;
    std::uint32_t const segment_in_row = segment - row * segments.divisor;
    return {row, segment_in_row * threads.divisor * units_per_thread + thread, threads.divisor};
  }
};

}  // namespace roc::kernels
