// SPDX-License-Identifier: MIT
// The shape of the blocks of threads of for_each.
#pragma once

#include <array>
#include <cstddef>

namespace roc {

namespace detail {

/// Returns the product of the extents; 0 if one is 0 or the product exceeds 1024.
template <std::size_t... Extents>
constexpr std::size_t checked_threads() {
  std::size_t threads = 1;
  for (std::size_t extent : std::array{Extents...}) {
    if (extent == 0 || extent > 1024 / threads) return 0;
    threads *= extent;
  }
  return threads;
}

}  // namespace detail

/// The shape of the blocks of threads of roc::for_each: the extents of the indices of one block, in
/// the order of the axes. block_shape<8, 32> has 8 rows of 32 columns. If there are fewer extents
/// than axes, they belong to the last axes, and a block has one index of each other axis. Adjacent
/// threads have adjacent indices of the last axis: its extent should be a multiple of 32, so that
/// memory is accessed in whole sectors. A block has 1 to 1024 threads.
///
/// A block_shape is useful if threads read elements that others near them also read, as a stencil
/// does, or for a functor that needs fewer threads on a multiprocessor. (CUDA's and HIP's `dim3
/// blockDim`, whose axes are in the opposite order.)
template <std::size_t... Extents>
struct block_shape {
  static_assert(sizeof...(Extents) != 0, "rocarray: a block_shape needs at least one extent");
  static_assert(detail::checked_threads<Extents...>() != 0,
                "rocarray: a block_shape has 1 to 1024 threads: use extents that are not 0, and "
                "whose product is at most 1024");
};

}  // namespace roc
