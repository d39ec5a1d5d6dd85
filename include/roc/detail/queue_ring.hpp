// SPDX-License-Identifier: MIT
// The positions of a device_queue and the words of its slots: arithmetic for the host and for
// kernels.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <limits>

#include <roc/config.hpp>
#include <roc/detail/kernel_atomics.hpp>
#include <roc/detail/throw.hpp>

namespace roc::detail {

/// A ring of slots. The lap of a position is in its high bits, the index of its slot in the
/// `index_bits` low ones, so that no operation divides. An index beyond the capacity does not
/// occur. Laps wrap to 0 after 2^(64 - index_bits), which all arithmetic allows.
///
/// The word of a slot tells who may use it: it is free_word(p) if the slot is free for the push
/// at position p, ready_word(p) if it has the element that was pushed at p. A pop then sets the
/// word that is free for the next lap. So a slot of an open reservation looks as before it: not
/// ready for pops, not free for pushes of the next lap.
struct queue_ring {
  kernel_word capacity;
  unsigned index_bits;  // at least 1: the bit 0 of a word tells ready from free

  /// Creates the ring. `capacity` is at least 1.
  static constexpr queue_ring with_capacity(std::size_t capacity) {
    auto const bits = static_cast<unsigned>(std::bit_width(capacity - 1));
    return {capacity, bits == 0 ? 1 : bits};
  }

  /// Returns the difference between a position and that of the same slot in the next lap.
  ROCARRAY_HOST_DEVICE constexpr kernel_word lap() const { return kernel_word{1} << index_bits; }
  /// Returns the index of the slot of a position.
  ROCARRAY_HOST_DEVICE constexpr kernel_word index(kernel_word position) const {
    return position & (lap() - 1);
  }
  /// Returns the position that is `count` slots after `position`. `count` is at most the capacity.
  ROCARRAY_HOST_DEVICE constexpr kernel_word advance(kernel_word position,
                                                     kernel_word count) const {
    kernel_word const result = position + count;
    return index(position) + count < capacity ? result : result + (lap() - capacity);
  }
  /// Returns the number of elements between the position of the next pop and that of the next push.
  /// If the positions are from different moments, returns some number from 0 to the capacity.
  ROCARRAY_HOST_DEVICE constexpr kernel_word count(kernel_word next_pop,
                                                   kernel_word next_push) const {
    auto const difference = static_cast<long long>(free_word(next_push) - free_word(next_pop));
    if (difference < 0) return 0;
    if (difference > static_cast<long long>(lap())) return capacity;
    kernel_word const end = index(next_push) + (difference == 0 ? 0 : capacity);
    kernel_word const begin = index(next_pop);
    if (end < begin) return 0;
    return end - begin < capacity ? end - begin : capacity;
  }
  /// Returns the word of a slot that is free for the push at `position`.
  ROCARRAY_HOST_DEVICE constexpr kernel_word free_word(kernel_word position) const {
    return position & ~(lap() - 1);
  }
  /// Returns the word of a slot that has the element that was pushed at `position`.
  ROCARRAY_HOST_DEVICE constexpr kernel_word ready_word(kernel_word position) const {
    return free_word(position) | 1;
  }
};

/// The control words of a queue: the position of the next push, that of the next pop, and a word
/// for each slot. The positions are in different cache lines. All words of an empty queue are 0.
///@{
inline constexpr std::size_t queue_push_position = 0;
inline constexpr std::size_t queue_pop_position = 16;
inline constexpr std::size_t queue_first_slot = 32;
///@}

/// Returns a capacity given as any integer. Throws shape_error if it is not positive, or if the
/// size of the control words overflows.
template <std::integral I>
std::size_t checked_queue_capacity(I capacity) {
  if (capacity <= 0) {
    throw_shape_error("the capacity of a queue is {}; use at least 1", capacity);
  }
  constexpr std::size_t max_capacity =
      std::numeric_limits<std::ptrdiff_t>::max() / sizeof(kernel_word) - queue_first_slot;
  auto const result = static_cast<std::size_t>(capacity);
  if (result > max_capacity) {
    throw_shape_error("the size of a queue with capacity {} overflows; use a smaller capacity",
                      capacity);
  }
  return result;
}

/// Consecutive slots of a queue that a reservation holds.
struct queue_slots {
  kernel_word begin;  // position
  kernel_word count;
};

/// The variables that the threads of a block share while they reserve slots.
struct queue_block_variables {
  kernel_word begin;       // position of the first slot
  kernel_word first_miss;  // 2 * index of the first slot that is not usable, + 1 if it is stale
  kernel_word count;       // slots that are reserved; ~0: try again
};

}  // namespace roc::detail
