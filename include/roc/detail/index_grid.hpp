// SPDX-License-Identifier: MIT
// Which indices each thread of for_each visits: arithmetic without HIP, for the launch and for the
// kernel. No index of an element costs a division.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <roc/block_shape.hpp>
#include <roc/config.hpp>
#include <roc/detail/kernel_support.hpp>
#include <roc/layout/shape.hpp>

namespace roc::detail {

/// Blocks of for_each unless the caller chooses others: consecutive threads have consecutive
/// positions in C order, across the ends of rows, so that short rows leave no thread without work.
struct default_block {};

/// True for the types that choose the blocks of for_each.
template <class Block>
inline constexpr bool is_block = false;
template <>
inline constexpr bool is_block<default_block> = true;
template <std::size_t... Extents>
inline constexpr bool is_block<block_shape<Extents...>> = true;

/// The number of threads of a block.
template <class Block>
inline constexpr unsigned threads_of_block = 256;
template <std::size_t... Extents>
inline constexpr unsigned threads_of_block<block_shape<Extents...>> =
    static_cast<unsigned>(checked_threads<Extents...>());

/// The number of extents of a block; 0 for default_block.
template <class Block>
inline constexpr std::size_t rank_of_block = 0;
template <std::size_t... Extents>
inline constexpr std::size_t rank_of_block<block_shape<Extents...>> = sizeof...(Extents);

/// Returns the extents of a block on N axes.
template <std::size_t N, std::size_t... Extents>
ROCARRAY_HOST_DEVICE constexpr kernel_array<std::uint32_t, N> extents_of_block(
    block_shape<Extents...>) {
  std::uint32_t const last[] = {static_cast<std::uint32_t>(Extents)...};
  kernel_array<std::uint32_t, N> result;
  for (std::size_t axis = 0; axis < N; ++axis) result[axis] = 1;
  for (std::size_t i = 0; i < sizeof...(Extents); ++i) result[N - sizeof...(Extents) + i] = last[i];
  return result;
}

/// Divides numbers below 2^31 by a divisor that is known before the kernel runs: a multiplication
/// and a shift (Granlund and Montgomery, 1994). With all 32 bits of the number, it would need an
/// addition of 64 bits too.
struct index_divisor {
  std::uint32_t divisor = 1;
  std::uint32_t multiplier = std::uint32_t{1} << 31;
  std::uint32_t shift = 31;

  constexpr index_divisor() = default;
  /// @param d from 1 to 2^31
  constexpr explicit index_divisor(std::uint32_t d) : divisor(d) {
    while ((std::uint64_t{1} << (shift - 31)) < d) ++shift;
    multiplier = static_cast<std::uint32_t>(((std::uint64_t{1} << shift) + d - 1) / d);
  }

  ROCARRAY_HOST_DEVICE constexpr std::uint32_t quotient(std::uint32_t number) const {
    return static_cast<std::uint32_t>((std::uint64_t{number} * multiplier) >> shift);
  }
};

/// The threads of for_each over a box of indices. A thread has a first position on each axis, and
/// visits it and those that follow at distances of `steps`. The grid has at most 2^31 threads: only
/// larger boxes, and long rows, give a thread more than one position.
///
/// Positions are relative to `begin`, and have 32 bits. With 64, a kernel of four axes needed 38
/// registers instead of 31, and ran at 2980 instead of 3560 GB/s on one H200.
template <std::size_t N>
struct index_grid {
  kernel_array<std::size_t, N> begin;      ///< the first index of the box
  kernel_array<std::uint32_t, N> extents;  ///< of the box, 1 to max_grid_extent
  kernel_array<std::uint32_t, N> steps;    ///< from a thread's position to its next one
  kernel_array<index_divisor, N> widths;   ///< threads on each axis; for a block_shape, blocks
  std::uint32_t count = 1;                 ///< threads; for a block_shape, blocks
  bool visits_outer_axes = false;          ///< a step of an axis before the last is not its extent

  /// Returns the number of blocks to launch, 1 to max_grid_blocks.
  template <class Block>
  constexpr std::uint32_t blocks() const {
    constexpr unsigned threads = threads_of_block<Block>;
    return rank_of_block<Block> == 0 ? (count + threads - 1) / threads : count;
  }
};

/// The largest number of threads of a grid. AMD's limit is below 2^32.
inline constexpr std::size_t max_grid_threads = std::size_t{1} << 31;
/// The largest number of blocks along the first axis of a grid.
inline constexpr std::size_t max_grid_blocks = (std::size_t{1} << 31) - 1;
/// The largest extent of the box of a grid. The sum of a position and a step has 32 bits.
inline constexpr std::size_t max_grid_extent = std::size_t{1} << 31;

/// Long rows are visited by fewer threads, each of which visits several columns: it computes the
/// offset of the row in each array once. Short rows and small boxes need all threads. On one H200,
/// c = a + b of one axis, 256 MiB each, ran at 3570 GB/s, and at 3270 with a thread per element;
/// for AMD nothing is measured.
inline constexpr std::size_t columns_per_thread = 4;
inline constexpr std::size_t min_columns_to_share = 128;
inline constexpr std::size_t min_elements_to_share = std::size_t{1} << 20;

/// Returns the number of threads for a row of `columns` if each visits at most `per_thread`. A
/// multiple of 32 if `columns` is one, so that warps access whole sectors of aligned rows.
constexpr std::size_t threads_of_row(std::size_t columns, std::size_t per_thread) {
  std::size_t const threads = columns / per_thread + (columns % per_thread != 0);
  return columns % 32 == 0 ? (threads + 31) / 32 * 32 : threads;
}

/// Returns the grid of a box.
/// @tparam Block default_block or a block_shape
/// @param extents of the box, 1 to max_grid_extent, with a product up to PTRDIFF_MAX
/// @param per_thread the most columns of a long row that a thread visits
template <class Block, std::size_t N>
constexpr index_grid<N> make_index_grid(shape<N> const& begin, shape<N> const& extents,
                                        std::size_t per_thread = columns_per_thread) {
  index_grid<N> result;
  result.begin = begin;
  std::size_t free = max_grid_threads;
  if constexpr (rank_of_block<Block> != 0) {
    free = threads_of_block<Block> == 1 ? max_grid_blocks : free / threads_of_block<Block>;
  }
  for (std::size_t axis = N; axis-- != 0;) {
    std::size_t block_extent = 1;
    std::size_t width = extents[axis];
    bool const is_shared = axis == N - 1 && width >= min_columns_to_share &&
                           layout::element_count(extents) >= min_elements_to_share;
    if constexpr (rank_of_block<Block> != 0) {
      block_extent = extents_of_block<N>(Block{})[axis];
      std::size_t const columns = block_extent * (is_shared ? per_thread : 1);
      width = width / columns + (width % columns != 0);
    } else if (is_shared) {
      width = threads_of_row(width, per_thread);
    }
    if (width > free) width = free;
    free /= width;
    std::size_t const step = width * block_extent;
    result.extents[axis] = static_cast<std::uint32_t>(extents[axis]);
    result.widths[axis] = index_divisor(static_cast<std::uint32_t>(width));
    result.steps[axis] = static_cast<std::uint32_t>(step);
    result.count *= static_cast<std::uint32_t>(width);
    if (axis + 1 != N && step < extents[axis]) result.visits_outer_axes = true;
  }
  return result;
}

/// Divides a box into parts without an axis longer than max_grid_extent, most boxes into one, and
/// calls f(begin, extents) for each. Returns the first result that is not Result{}, and stops
/// there.
template <class Result, std::size_t N, class F>
constexpr Result for_each_grid_part(shape<N> begin, shape<N> extents, F const& f) {
  for (std::size_t axis = 0; axis < N; ++axis) {
    while (extents[axis] > max_grid_extent) {
      shape<N> first = extents;
      first[axis] = max_grid_extent;
      if (Result const result = for_each_grid_part<Result>(begin, first, f); result != Result{}) {
        return result;
      }
      begin[axis] += max_grid_extent;
      extents[axis] -= max_grid_extent;
    }
  }
  return f(begin, extents);
}

/// Splits a number below 2^31 into its digits in C order, of which each has the width of its axis.
template <std::size_t N>
ROCARRAY_HOST_DEVICE constexpr kernel_array<std::uint32_t, N> digits(
    kernel_array<index_divisor, N> const& widths, std::uint32_t number) {
  kernel_array<std::uint32_t, N> result;
  for (std::size_t axis = N; axis-- > 1;) {
    std::uint32_t const quotient = widths[axis].quotient(number);
    result[axis] = number - quotient * widths[axis].divisor;
    number = quotient;
  }
  result[0] = number;
  return result;
}

/// Finds the first positions of a thread on all axes. Returns false if it has none.
template <class Block, std::size_t N>
ROCARRAY_HOST_DEVICE constexpr bool find_first_position(index_grid<N> const& grid,
                                                        std::uint32_t block, std::uint32_t thread,
                                                        kernel_array<std::uint32_t, N>* position) {
  if constexpr (rank_of_block<Block> == 0) {
    std::uint32_t const number = block * threads_of_block<Block> + thread;
    if (number >= grid.count) return false;
    *position = digits(grid.widths, number);
    return true;
  } else {
    auto const extents = extents_of_block<N>(Block{});
    *position = digits(grid.widths, block);
    bool is_inside = true;  // not an early return, so that the loop is unrolled without a stack
    for (std::size_t axis = N; axis-- != 0;) {
      // The extents are constants, so this is no division by a variable.
      (*position)[axis] = (*position)[axis] * extents[axis] + thread % extents[axis];
      thread /= extents[axis];
      is_inside = is_inside && (*position)[axis] < grid.extents[axis];
    }
    return is_inside;
  }
}

/// Calls f with begin + position.
template <std::size_t N, class F, class Position, std::size_t... Axes>
ROCARRAY_HOST_DEVICE constexpr void call_at(
    [[maybe_unused]] F const& f, [[maybe_unused]] kernel_array<std::size_t, N> const& begin,
    [[maybe_unused]] kernel_array<Position, N> const& position, std::index_sequence<Axes...>) {
  f((begin[Axes] + position[Axes])...);
}

/// Calls f(i, j, …) for the indices of the thread that begins at `first`.
template <std::size_t N, class F>
ROCARRAY_HOST_DEVICE constexpr void visit_indices(F const& f, index_grid<N> const& grid,
                                                  kernel_array<std::uint32_t, N> const& first) {
  if constexpr (N == 0) {
    f();
  } else {
    kernel_array<std::uint32_t, N> position = first;
    while (true) {
      for (std::uint32_t column = first[N - 1]; column < grid.extents[N - 1];
           column += grid.steps[N - 1]) {
        position[N - 1] = column;
        call_at<N>(f, grid.begin, position, std::make_index_sequence<N>{});
      }
      if (!grid.visits_outer_axes) return;
      bool has_next = false;
      for (std::size_t axis = N - 1; axis-- != 0;) {
        if (has_next) continue;  // not `break`, so that the loop is unrolled
        position[axis] += grid.steps[axis];
        has_next = position[axis] < grid.extents[axis];
        if (!has_next) position[axis] = first[axis];
      }
      if (!has_next) return;
    }
  }
}

/// A functor over a box for threads of the CPU: each visits a range of the box in C order.
template <class F, std::size_t N>
struct index_range_functor {
  F f;
  shape<N> begin;
  shape<N> extents;  ///< not 0

  /// Calls f for the positions [first, last) of the box in C order. Divides once.
  constexpr void operator()(std::size_t first, std::size_t last) const {
    if constexpr (N == 0) {
      if (first < last) f();
    } else {
      kernel_array<std::size_t, N> position;
      std::size_t rest = first;
      for (std::size_t axis = N; axis-- != 0;) {
        position[axis] = rest % extents[axis];
        rest /= extents[axis];
      }
      kernel_array<std::size_t, N> const origin = begin;
      for (std::size_t left = last - first; left != 0;) {
        std::size_t const row_start = position[N - 1];
        std::size_t const row = extents[N - 1] - row_start;
        std::size_t const columns = row < left ? row : left;
        for (std::size_t column = row_start; column != row_start + columns; ++column) {
          position[N - 1] = column;
          call_at<N>(f, origin, position, std::make_index_sequence<N>{});
        }
        left -= columns;
        position[N - 1] = 0;
        for (std::size_t axis = N - 1; axis-- != 0;) {
          if (++position[axis] != extents[axis]) break;
          position[axis] = 0;
        }
      }
    }
  }
};

}  // namespace roc::detail
