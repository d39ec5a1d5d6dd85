// SPDX-License-Identifier: MIT
// The functions of a device_queue for kernels. A file that calls them includes <roc/kernel.hpp>
// too; push, pop and reservations of single threads need only this header.
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>

#include <roc/config.hpp>
#include <roc/detail/kernel_atomics.hpp>
#include <roc/detail/kernel_support.hpp>
#include <roc/detail/queue_ring.hpp>
#include <roc/layout/index.hpp>

namespace roc {

namespace detail {

// Incomplete until <roc/kernel.hpp> is included.
template <class>
struct kernel_operations_from_roc_kernel_hpp;

/// The memory of a queue.
template <class T>
struct queue_memory {
  kernel_word* control;  // see queue_first_slot
  T* values;             // of the slots
  queue_ring ring;

  ROCARRAY_HOST_DEVICE kernel_word* word(kernel_word position) const {
    return control + queue_first_slot + ring.index(position);
  }
  ROCARRAY_HOST_DEVICE T& value(kernel_word position) const { return values[ring.index(position)]; }
};

/// A push takes free slots and leaves them ready.
struct queue_push {
  static constexpr std::size_t next_position = queue_push_position;
  ROCARRAY_HOST_DEVICE static kernel_word expected_word(queue_ring const& ring,
                                                        kernel_word position) {
    return ring.free_word(position);
  }
  ROCARRAY_HOST_DEVICE static kernel_word published_word(queue_ring const& ring,
                                                         kernel_word position) {
    return ring.ready_word(position);
  }
};

/// A pop takes ready slots and leaves them free for the next lap.
struct queue_pop {
  static constexpr std::size_t next_position = queue_pop_position;
  ROCARRAY_HOST_DEVICE static kernel_word expected_word(queue_ring const& ring,
                                                        kernel_word position) {
    return ring.ready_word(position);
  }
  ROCARRAY_HOST_DEVICE static kernel_word published_word(queue_ring const& ring,
                                                         kernel_word position) {
    return ring.free_word(position) + ring.lap();
  }
};

/// The state of a slot, for an operation that has read `position` as the next one.
enum class queue_slot_state : unsigned char {
  usable,
  unusable,  // full or empty: no operation can use the slot at this position yet
  stale,     // another thread has used the position: it is not the next one anymore
};

/// Returns the state of the slot of a position. Call acquire_fence before using the slot.
template <class Operation, class T>
ROCARRAY_HOST_DEVICE queue_slot_state query_slot(queue_memory<T> const& memory,
                                                 kernel_word position) {
  // The words of a slot only grow, modulo 2^64.
  auto const difference = static_cast<long long>(load_relaxed(memory.word(position)) -
                                                 Operation::expected_word(memory.ring, position));
  if (difference == 0) return queue_slot_state::usable;
  return difference < 0 ? queue_slot_state::unusable : queue_slot_state::stale;
}

/// Lets other threads use a slot: what was pushed can be popped, what was popped can be
/// overwritten. Call release_fence after the accesses to the slot, before this function.
template <class Operation, bool Checked, class T>
ROCARRAY_HOST_DEVICE void publish_slot(queue_memory<T> const& memory, kernel_word position) {
  // No other thread may change the word of a reserved slot.
  if constexpr (Checked) {
    check_in_kernel<Checked>(
        load_relaxed(memory.word(position)) == Operation::expected_word(memory.ring, position),
        "commit of a queue reservation that was committed or cleared");
  }
  store_relaxed(memory.word(position), Operation::published_word(memory.ring, position));
}

}  // namespace detail

/// The threads that hold a reservation of a device_queue.
enum class queue_scope : unsigned char {
  thread,  ///< one thread
  block,   ///< all threads of a block, which call its functions together
};

/// Consecutive slots of a device_queue, for elements to be pushed or popped by index: returned by
/// the functions `reserve_…` of device_queue_view. Trivially copyable; all copies stand for the
/// same slots, and only one of them may be committed. (OpenCL: `reserve_id_t`)
///
/// The slots belong to the holder until it calls commit. Until commit, no later element can be
/// popped (or, for a pop, no element can be pushed to these slots). A reservation that is never
/// committed blocks the queue until device_queue::clear, which ends it. The destructor does
/// nothing.
///
/// @tparam Operation detail::queue_push or detail::queue_pop
template <class T, class Operation, queue_scope Scope>
class queue_reservation {
 public:
  /// Creates a reservation of no slots.
  ROCARRAY_HOST_DEVICE queue_reservation() noexcept : memory_{}, slots_{} {}
  /// Made by device_queue_view.
  ROCARRAY_HOST_DEVICE queue_reservation(detail::queue_memory<T> const& memory,
                                         detail::queue_slots const& slots) noexcept
      : memory_(memory), slots_(slots) {}

  /// Returns the number of slots; 0 after commit.
  ROCARRAY_HOST_DEVICE std::size_t size() const noexcept { return slots_.count; }
  /// Returns true if there are slots.
  ROCARRAY_HOST_DEVICE explicit operator bool() const noexcept { return slots_.count != 0; }

  /// Returns the element at an index: one to write, uninitialized, of a reservation to push; one to
  /// read of a reservation to pop. Indices are in the order of the queue, and checked as those of a
  /// device_view. In a block, any thread may access any index; commit orders the accesses.
  /// (OpenCL: `write_pipe` and `read_pipe` with an index)
  template <bool Checked = detail::check_bounds, std::integral I>
  ROCARRAY_HOST_DEVICE auto& operator[](I index) const {
    auto const offset = layout::detail::resolve_index<Checked>(index, 0, slots_.count);
    T& result = memory_.value(memory_.ring.advance(slots_.begin, static_cast<std::size_t>(offset)));
    if constexpr (std::is_same_v<Operation, detail::queue_pop>) {
      return static_cast<T const&>(result);
    } else {
      return result;
    }
  }

  /// Pushes or pops all elements of the reservation. Elements to push must have been written;
  /// popped elements must not be accessed afterwards. Does nothing if this object has no slots, as
  /// after its first commit. (OpenCL: `commit_write_pipe`, `commit_read_pipe`)
  ///
  /// *Precondition:* no copy of the reservation was committed, and the queue was not cleared since.
  /// Otherwise the queue is corrupted; with ROCARRAY_CHECK_BOUNDS the kernel stops with an error.
  template <bool Checked = detail::check_bounds>
  ROCARRAY_HOST_DEVICE void commit()
    requires(Scope == queue_scope::thread)
  {
    if (slots_.count == 0) return;
    detail::release_fence();
    for (detail::kernel_word i = 0; i < slots_.count; ++i) {
      detail::publish_slot<Operation, Checked>(memory_, memory_.ring.advance(slots_.begin, i));
    }
    slots_.count = 0;
  }
  /// The same, for all threads of the block together, of which none may have ended. Contains a
  /// barrier of the block if there are slots, and none otherwise. Each thread commits the object
  /// that it got from the same call. (OpenCL: `work_group_commit_write_pipe`,
  /// `work_group_commit_read_pipe`)
  template <bool Checked = detail::check_bounds>
  ROCARRAY_KERNEL_FUNCTION void commit(detail::call_location at = detail::call_location::current())
    requires(Scope == queue_scope::block)
  {
    using kernel = detail::kernel_operations_from_roc_kernel_hpp<T>;
    if (slots_.count == 0) return;
    // The accesses of all threads come before the stores below: by the barrier, and the fence after
    // it. On AMD a fence covers only the accesses of its own wave, and a barrier need not wait for
    // memory, so that each wave has a fence before the barrier too.
#if defined(__AMDGCN__)
    detail::release_fence();
#endif
    kernel::synchronize_block(at);
    detail::release_fence();
    for (detail::kernel_word i = kernel::thread_index(); i < slots_.count;
         i += kernel::block_size()) {
      detail::publish_slot<Operation, Checked>(memory_, memory_.ring.advance(slots_.begin, i));
    }
    slots_.count = 0;
  }

 private:
  detail::queue_memory<T> memory_;
  detail::queue_slots slots_;
};

/// A reservation to push elements.
template <class T, queue_scope Scope = queue_scope::thread>
using push_reservation = queue_reservation<T, detail::queue_push, Scope>;
/// A reservation to pop elements.
template <class T, queue_scope Scope = queue_scope::thread>
using pop_reservation = queue_reservation<T, detail::queue_pop, Scope>;

/// A device_queue in kernels: trivially copyable, so it is passed to them by value. It borrows: the
/// queue must outlive it and the work enqueued with it. (OpenCL: `pipe`)
///
/// Any number of threads may push and pop at the same time, of one kernel or of several kernels on
/// any streams of the queue's device.
///
/// **Order.** The elements are popped in the order of their slots. A push or a reservation takes
/// the next slots at one moment during its call, so the elements of one thread keep their order,
/// and those of a reservation are consecutive. What a thread did before a push or a commit happens
/// before what follows the pop of the element.
///
/// **Progress.** No function waits for another thread. It repeats an attempt only if another thread
/// has taken the slots meanwhile, so of all threads that call, one always finishes, in whatever
/// order the device runs lanes, warps and blocks. A single thread has no such guarantee: while
/// others push or pop single elements without end, a large reservation may be repeated without end.
/// Each attempt of a reservation queries up to `count` slots, those of one thread one after the
/// other; a `count` beyond the capacity queries all of them. A loop of your own that calls until it
/// succeeds does wait for other threads, though. AMD's devices, old ones of NVIDIA and the host
/// platform do not promise that these run meanwhile: end the loop after some attempts, and launch
/// the kernel again.
///
/// **Full and empty** are results. A slot is in use from the beginning of a push, or the
/// reservation for it, until the pop has finished, or the commit of the reservation to pop. A push
/// fails only if, at one moment during its call, the next slot was in use. If the queue has fewer
/// than `capacity` elements, the only cause is a pop that has not finished. A pop fails only if, at
/// one moment, the next slot had no element whose push has finished; later elements may be ready
/// then. A reservation fails likewise if one of the `min_count` next slots was not usable. When no
/// operation is in progress, as between kernels of one stream, a push fails only if the queue has
/// `capacity` elements, and a pop only if it has none.
///
/// The guarantees are for kernels on the queue's device: its memory must not be used from kernels
/// of another one.
///
/// @tparam T the element type: trivially copyable, of any size
template <class T>
class device_queue_view {
  static_assert(std::is_trivially_copyable_v<T> && std::is_copy_assignable_v<T> &&
                    !std::is_const_v<T>,
                "rocarray: the element type of a queue must be trivially copyable and assignable");

 public:
  using value_type = T;  ///< as in the standard library's containers

  /// Made by device_queue::view.
  explicit device_queue_view(detail::queue_memory<T> const& memory) noexcept : memory_(memory) {}

  /// Returns the number of slots. (OpenCL: `get_pipe_max_packets`)
  ROCARRAY_HOST_DEVICE std::size_t capacity() const noexcept { return memory_.ring.capacity; }
  /// Returns the number of elements; those of reservations to push count, those of reservations to
  /// pop do not. For kernels. If other threads push and pop at the same time, an estimate between 0
  /// and the capacity. (OpenCL: `get_pipe_num_packets`)
  ROCARRAY_HOST_DEVICE std::size_t size() const {
    auto const next_pop = detail::load_relaxed(memory_.control + detail::queue_pop_position);
    auto const next_push = detail::load_relaxed(memory_.control + detail::queue_push_position);
    return memory_.ring.count(next_pop, next_push);
  }

  /// @name By one thread
  /// They may be called in branches, and in functors of for_each. The threads of a warp compete for
  /// the next slot, so that one pushes after the other: warp_push and warp_pop are faster if all
  /// of them have something to push or pop.
  ///
  /// A reservation of more than `capacity` slots, or of a `min_count` beyond `count` or the
  /// capacity, never succeeds: it returns no slots, as if the queue was full or empty. With
  /// ROCARRAY_CHECK_BOUNDS it stops the kernel with an error. A `count` of 0 gives no slots.
  ///@{

  /// Pushes a copy of `value`. Returns false if the queue is full. (OpenCL: `write_pipe`)
  [[nodiscard]] ROCARRAY_HOST_DEVICE bool push(T const& value) const {
    detail::queue_slots const slots = reserve<detail::queue_push, false>(1, 1);
    if (slots.count == 0) return false;
    memory_.value(slots.begin) = value;
    detail::release_fence();
    detail::publish_slot<detail::queue_push, false>(memory_, slots.begin);
    return true;
  }
  /// Pops the oldest element into `value`. Returns false, and leaves `value` unchanged, if the
  /// queue is empty. (OpenCL: `read_pipe`)
  [[nodiscard]] ROCARRAY_HOST_DEVICE bool pop(T& value) const {
    detail::queue_slots const slots = reserve<detail::queue_pop, false>(1, 1);
    if (slots.count == 0) return false;
    value = memory_.value(slots.begin);
    detail::release_fence();
    detail::publish_slot<detail::queue_pop, false>(memory_, slots.begin);
    return true;
  }
  /// Reserves the next `count` slots for elements to push; no slot if the queue has fewer.
  /// (OpenCL: `reserve_write_pipe`)
  template <bool Checked = detail::check_bounds>
  [[nodiscard]] ROCARRAY_HOST_DEVICE push_reservation<T> reserve_push(std::size_t count) const {
    return {memory_, reserve<detail::queue_push, Checked>(count, count)};
  }
  /// Reserves up to `count` slots, as many as are free; no slot if the queue has fewer than
  /// `min_count`.
  template <bool Checked = detail::check_bounds>
  [[nodiscard]] ROCARRAY_HOST_DEVICE push_reservation<T> reserve_push(std::size_t count,
                                                                      std::size_t min_count) const {
    return {memory_, reserve<detail::queue_push, Checked>(count, min_count)};
  }
  /// Reserves the oldest `count` elements to pop; none if the queue has fewer. (OpenCL:
  /// `reserve_read_pipe`)
  template <bool Checked = detail::check_bounds>
  [[nodiscard]] ROCARRAY_HOST_DEVICE pop_reservation<T> reserve_pop(std::size_t count) const {
    return {memory_, reserve<detail::queue_pop, Checked>(count, count)};
  }
  /// Reserves up to `count` elements, as many as there are; none if the queue has fewer than
  /// `min_count`.
  template <bool Checked = detail::check_bounds>
  [[nodiscard]] ROCARRAY_HOST_DEVICE pop_reservation<T> reserve_pop(std::size_t count,
                                                                    std::size_t min_count) const {
    return {memory_, reserve<detail::queue_pop, Checked>(count, min_count)};
  }
  ///@}

  /// @name By a warp
  /// Every lane of the warp that has not ended must make the same call. One lane takes slots for
  /// all. For kernels of roc::launch, with <roc/kernel.hpp>.
  ///@{

  /// Pushes the `value` of each lane whose `active` is true, in the order of the lanes. Returns
  /// true in the lanes whose element was pushed: if there are not enough slots, the first ones of
  /// the active lanes.
  [[nodiscard]] ROCARRAY_KERNEL_FUNCTION bool warp_push(
      T const& value, bool active = true,
      detail::call_location at = detail::call_location::current()) const {
    detail::queue_slots const slot = warp_reserve<detail::queue_push>(active, at);
    if (slot.count == 0) return false;
    memory_.value(slot.begin) = value;
    detail::release_fence();
    detail::publish_slot<detail::queue_push, false>(memory_, slot.begin);
    return true;
  }
  /// Pops an element into the `value` of each lane whose `active` is true, in the order of the
  /// lanes. Returns true in the lanes that got one: if there are not enough, the first ones of the
  /// active lanes.
  [[nodiscard]] ROCARRAY_KERNEL_FUNCTION bool warp_pop(
      T& value, bool active = true,
      detail::call_location at = detail::call_location::current()) const {
    detail::queue_slots const slot = warp_reserve<detail::queue_pop>(active, at);
    if (slot.count == 0) return false;
    value = memory_.value(slot.begin);
    detail::release_fence();
    detail::publish_slot<detail::queue_pop, false>(memory_, slot.begin);
    return true;
  }
  ///@}

  /// @name By a block
  /// All threads of the block must make the same call, with equal arguments, also those without
  /// work: none may have ended. All get the same reservation. The function contains barriers of the
  /// block if `count` is not 0. Arguments that never succeed are as above. For kernels of
  /// roc::launch, with <roc/kernel.hpp>.
  ///@{

  /// Reserves the next `count` slots for elements to push; no slot if the queue has fewer.
  /// (OpenCL: `work_group_reserve_write_pipe`)
  template <bool Checked = detail::check_bounds>
  [[nodiscard]] ROCARRAY_KERNEL_FUNCTION push_reservation<T, queue_scope::block> block_reserve_push(
      std::size_t count, detail::call_location at = detail::call_location::current()) const {
    return {memory_, block_reserve<detail::queue_push, Checked>(count, count, at)};
  }
  /// Reserves up to `count` slots, as many as are free; no slot if the queue has fewer than
  /// `min_count`.
  template <bool Checked = detail::check_bounds>
  [[nodiscard]] ROCARRAY_KERNEL_FUNCTION push_reservation<T, queue_scope::block> block_reserve_push(
      std::size_t count, std::size_t min_count,
      detail::call_location at = detail::call_location::current()) const {
    return {memory_, block_reserve<detail::queue_push, Checked>(count, min_count, at)};
  }
  /// Reserves the oldest `count` elements to pop; none if the queue has fewer. (OpenCL:
  /// `work_group_reserve_read_pipe`)
  template <bool Checked = detail::check_bounds>
  [[nodiscard]] ROCARRAY_KERNEL_FUNCTION pop_reservation<T, queue_scope::block> block_reserve_pop(
      std::size_t count, detail::call_location at = detail::call_location::current()) const {
    return {memory_, block_reserve<detail::queue_pop, Checked>(count, count, at)};
  }
  /// Reserves up to `count` elements, as many as there are; none if the queue has fewer than
  /// `min_count`.
  template <bool Checked = detail::check_bounds>
  [[nodiscard]] ROCARRAY_KERNEL_FUNCTION pop_reservation<T, queue_scope::block> block_reserve_pop(
      std::size_t count, std::size_t min_count,
      detail::call_location at = detail::call_location::current()) const {
    return {memory_, block_reserve<detail::queue_pop, Checked>(count, min_count, at)};
  }
  ///@}

 private:
  using word = detail::kernel_word;
  using state = detail::queue_slot_state;

  // Why the loops below are right: a position that was read is the next one until a
  // compare_exchange advances it. Positions include the lap, so a value does not recur. A usable
  // slot stays usable until then, so the exchange takes slots all of which are usable. If a slot
  // was unusable when it was read, no thread had taken it yet, so the next position was at or
  // before it: the operation could not have succeeded at that moment either. The acquire_fence
  // after a stale slot lets the next attempt read a position that is newer than it.

  // Limits `count` to the capacity. Returns true if a reservation of at least `min_count` slots,
  // and more than none, can succeed.
  template <bool Checked>
  ROCARRAY_HOST_DEVICE bool limit_count(word& count, word& min_count) const {
    if (count == 0) return false;
    bool const is_possible = min_count <= count && min_count <= capacity();
    detail::check_in_kernel<Checked>(
        is_possible, "reservation of a queue beyond its capacity, or with min_count > count");
    if (count > capacity()) count = capacity();
    if (min_count == 0) min_count = 1;
    return is_possible;
  }

  /// Reserves between `min_count` and `count` slots for one thread; none if that is not possible.
  template <class Operation, bool Checked>
  ROCARRAY_HOST_DEVICE detail::queue_slots reserve(word count, word min_count) const {
    if (!limit_count<Checked>(count, min_count)) return {0, 0};
    word* const next = memory_.control + Operation::next_position;
    for (;;) {
      word const begin = detail::load_relaxed(next);
      word usable = 0;
      state slot_state = state::usable;
      while (usable < count) {
        slot_state = detail::query_slot<Operation>(memory_, memory_.ring.advance(begin, usable));
        if (slot_state != state::usable) break;
        ++usable;
      }
      if (slot_state == state::stale) {
        detail::acquire_fence();
        continue;
      }
      if (usable < min_count) return {0, 0};
      if (detail::compare_exchange(next, begin, memory_.ring.advance(begin, usable))) {
        detail::acquire_fence();
        return {begin, usable};
      }
    }
  }

  /// Reserves a slot for each active lane; returns that of the calling lane, or none.
  template <class Operation>
  ROCARRAY_KERNEL_FUNCTION detail::queue_slots warp_reserve(bool active,
                                                            detail::call_location at) const {
    using kernel = detail::kernel_operations_from_roc_kernel_hpp<T>;
    word const own_bit = word{1} << kernel::lane_index(at);
    word const lanes = kernel::ballot(active, at);
    if (lanes == 0) return {0, 0};
    int const leader = kernel::lowest_bit(lanes);
    bool const is_leader = own_bit == (word{1} << leader);
    word const rank = kernel::count_bits(lanes & (own_bit - 1));
    word* const next = memory_.control + Operation::next_position;
    for (;;) {
      word begin = is_leader ? detail::load_relaxed(next) : 0;
      begin = kernel::shuffle(begin, leader, at);
      state own = state::unusable;
      if (active && rank < capacity()) {
        own = detail::query_slot<Operation>(memory_, memory_.ring.advance(begin, rank));
      }
      // The calls of warp functions are uniform: all lanes get the same bits.
      word const unusable = lanes & ~kernel::ballot(own == state::usable, at);
      word const first_unusable = unusable & (~unusable + 1);
      word const reserved = unusable == 0 ? lanes : lanes & (first_unusable - 1);
      word const is_stale = kernel::ballot(own == state::stale, at) & first_unusable;
      if (is_stale != 0) {
        detail::acquire_fence();
        continue;
      }
      if (reserved == 0) return {0, 0};
      word exchanged = 0;
      if (is_leader) {
        word const count = kernel::count_bits(reserved);
        exchanged =
            detail::compare_exchange(next, begin, memory_.ring.advance(begin, count)) ? 1 : 0;
      }
      if (kernel::shuffle(exchanged, leader, at) == 0) continue;
      if ((reserved & own_bit) == 0) return {0, 0};
      detail::acquire_fence();
      return {memory_.ring.advance(begin, rank), 1};
    }
  }

  /// Reserves between `min_count` and `count` slots for the block; none if that is not possible.
  template <class Operation, bool Checked>
  ROCARRAY_KERNEL_FUNCTION detail::queue_slots block_reserve(word count, word min_count,
                                                             detail::call_location at) const {
    using kernel = detail::kernel_operations_from_roc_kernel_hpp<T>;
    if (!limit_count<Checked>(count, min_count)) return {0, 0};
    constexpr word again = ~word{0};
    auto& shared = kernel::template block_variable<detail::queue_block_variables>();
    unsigned const thread = kernel::thread_index();
    word* const next = memory_.control + Operation::next_position;
    for (;;) {
      // All threads have passed the second barrier of the previous attempt or call, so only `count`
      // may still be read.
      if (thread == 0) {
        shared.begin = detail::load_relaxed(next);
        shared.first_miss = 2 * count;
      }
      kernel::synchronize_block(at);
      word const begin = shared.begin;
      for (word i = thread; i < count; i += kernel::block_size()) {
        state const slot_state =
            detail::query_slot<Operation>(memory_, memory_.ring.advance(begin, i));
        if (slot_state == state::usable) continue;
        kernel::minimize(&shared.first_miss, 2 * i + (slot_state == state::stale ? 1 : 0));
        break;
      }
      // Before the barrier, so that it holds for the accesses of all threads.
      detail::acquire_fence();
      kernel::synchronize_block(at);
      if (thread == 0) {
        word const usable = shared.first_miss / 2;
        bool const is_stale = shared.first_miss % 2 != 0;
        if (is_stale) {
          shared.count = again;
        } else if (usable < min_count) {
          shared.count = 0;
        } else {
          word const end = memory_.ring.advance(begin, usable);
          shared.count = detail::compare_exchange(next, begin, end) ? usable : again;
        }
      }
      kernel::synchronize_block(at);
      word const reserved = shared.count;
      if (reserved != again) return {begin, reserved};
    }
  }

  detail::queue_memory<T> memory_;
};

}  // namespace roc
