// SPDX-License-Identifier: MIT
#pragma once

#include <roc/device_queue.hpp>

#include <cstddef>
#include <cstdint>

namespace roc::test {

/// An element of `Bytes` bytes, all of which depend on a number.
template <std::size_t Bytes, std::size_t Alignment>
struct alignas(Alignment) queue_element {
  std::uint8_t bytes[Bytes];

  ROCARRAY_HOST_DEVICE static queue_element of(std::uint32_t number) {
    queue_element result;
    for (std::size_t i = 0; i < Bytes; ++i) result.bytes[i] = byte(number, i);
    return result;
  }
  /// Returns the number, modulo 256 to the power of the bytes.
  ROCARRAY_HOST_DEVICE std::uint32_t number() const {
    std::uint32_t result = 0;
    for (std::size_t i = 0; i < 4 && i < Bytes; ++i) result |= std::uint32_t{bytes[i]} << 8 * i;
    return result;
  }
  ROCARRAY_HOST_DEVICE bool is_intact() const {
    bool result = true;
    for (std::size_t i = 4; i < Bytes; ++i) result = result && bytes[i] == byte(number(), i);
    return result;
  }

 private:
  ROCARRAY_HOST_DEVICE static std::uint8_t byte(std::uint32_t number, std::size_t i) {
    return static_cast<std::uint8_t>(number * (i < 4 ? 1 : i) >> 8 * (i % 4));
  }
};

using element_1 = queue_element<1, 1>;
using element_3 = queue_element<3, 1>;
using element_4 = queue_element<4, 4>;
using element_16 = queue_element<16, 16>;
using element_24 = queue_element<24, 8>;

/// How the threads of a kernel push and pop.
enum class queue_use { thread, thread_reservation, warp, block };

/// The size of a launch, and how often its threads try.
struct queue_launch {
  queue_use use = queue_use::thread;
  unsigned blocks = 1;
  unsigned threads = 1;
  unsigned attempts = 1;  ///< of each thread
};

/// What happened to the number i is in element i.
struct queue_log {
  device_view<unsigned> pushed;   ///< how often it was pushed
  device_view<unsigned> popped;   ///< how often it was popped
  device_view<unsigned> damaged;  ///< element 0: pops of damaged elements
};

/// Pushes each of the numbers [first, first + count) that was not pushed yet, until the attempts
/// are used up.
template <class T>
void push_numbers(stream_ref stream, queue_launch const& launch, device_queue_view<T> queue,
                  unsigned first, unsigned count, queue_log log);
/// Pops elements until the attempts are used up.
template <class T>
void pop_numbers(stream_ref stream, queue_launch const& launch, device_queue_view<T> queue,
                 queue_log log);

/// One thread pushes `first`, first + 1, … until the queue is full or `most` are pushed. Writes the
/// number of pushes to out(0).
void push_in_order(stream_ref stream, device_queue_view<unsigned> queue, unsigned first,
                   unsigned most, device_view<unsigned> out);
/// One thread pops until the queue is empty or `most` are popped. Writes the number of pops to
/// out(0), and the elements to those after it.
void pop_in_order(stream_ref stream, device_queue_view<unsigned> queue, unsigned most,
                  device_view<unsigned> out);
/// Writes 1 to out(i) if thread i of one block could push i, in the order of the warp's lanes.
/// Threads whose number is not divisible by `divisor` are not active.
void push_by_warp(stream_ref stream, device_queue_view<unsigned> queue, unsigned threads,
                  unsigned divisor, device_view<unsigned> out);
/// Writes to out(i) the element that thread i of one block popped, or ~0. Inactive as above.
void pop_by_warp(stream_ref stream, device_queue_view<unsigned> queue, unsigned threads,
                 unsigned divisor, device_view<unsigned> out);
/// One block reserves `count` slots, at least `min_count`, and pushes first, first + 1, …. Writes
/// the number of slots to out(0).
void push_by_block(stream_ref stream, device_queue_view<unsigned> queue, unsigned threads,
                   std::size_t count, std::size_t min_count, unsigned first,
                   device_view<unsigned> out);
/// One block reserves `count` elements, at least `min_count`. Writes their number to out(0), and
/// the elements to those after it.
void pop_by_block(stream_ref stream, device_queue_view<unsigned> queue, unsigned threads,
                  std::size_t count, std::size_t min_count, device_view<unsigned> out);
/// One thread calls the functions in an order in which reservations overlap, on an empty queue of
/// capacity 4. Writes the results; the comments in the kernel give the values.
void overlap_reservations(stream_ref stream, device_queue_view<unsigned> queue,
                          device_view<unsigned> out);
/// One block moves all elements to another queue, which has slots for them.
void move_by_block(stream_ref stream, device_queue_view<unsigned> from,
                   device_queue_view<unsigned> to);
/// Writes what the slots of an empty queue contain to `out`, and leaves a reservation of them.
void inspect_slots(stream_ref stream, device_queue_view<unsigned> queue, device_view<unsigned> out);
/// Reserves `pushes` slots and `pops` elements, and commits none.
void leave_reservations(stream_ref stream, device_queue_view<unsigned> queue, std::size_t pushes,
                        std::size_t pops);
/// Writes capacity() and size() of the view.
void query_queue(stream_ref stream, device_queue_view<unsigned> queue, device_view<unsigned> out);
/// Pushes each i of [0, count) that is divisible by 3, in a for_each.
void push_in_loop(stream_ref stream, device_queue_view<unsigned> queue, unsigned count);

}  // namespace roc::test
