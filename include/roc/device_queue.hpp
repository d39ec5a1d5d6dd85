// SPDX-License-Identifier: MIT
// Bounded queues in device memory, for kernels that pass elements to each other.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <exception>
#include <source_location>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

#include <roc/config.hpp>
#include <roc/copy.hpp>
#include <roc/detail/argument_traits.hpp>
#include <roc/detail/call_scope.hpp>
#include <roc/detail/copy_operand.hpp>
#include <roc/detail/misuse.hpp>
#include <roc/detail/queue_ring.hpp>
#include <roc/detail/throw.hpp>
#include <roc/device_array.hpp>
#include <roc/device_queue_view.hpp>
#include <roc/error.hpp>
#include <roc/host_array.hpp>
#include <roc/layout/index.hpp>
#include <roc/memory/memory_resource.hpp>
#include <roc/stream.hpp>

namespace roc {

/// A bounded queue in device memory: kernels push elements and pop them in the same order, in one
/// kernel, in later kernels of a stream, or in kernels of several streams at the same time.
/// Move-only. Kernels get its view, whose functions push and pop: see device_queue_view for what
/// they guarantee. (OpenCL: `pipe`)
///
/// The queue belongs to the device of the stream that it is created with, or to the current device,
/// and takes its memory from that device's resource: `capacity` elements and 8 bytes for each.
/// Const is shallow, as for device_array: the elements of a const queue can change.
///
/// The functions of this class are for host code. Except size, they take the whole queue: no kernel
/// may use it at the same time, which is not detected. Without a stream they are ordered after all
/// work enqueued earlier on the device through the library, and complete on return. With a stream
/// they are ordered after its earlier work. A stream of another device is a roc::error. If the
/// queue is default-constructed or moved from, it can be destroyed or assigned to, and any other
/// use throws lifetime_error.
///
/// Destruction does not block, as that of device_array. The memory is reused only after all kernels
/// of roc::launch and for_each that got the view have finished; for kernels launched otherwise call
/// record_stream.
///
/// @tparam T the element type: trivially copyable, of any size, aligned to at most 256 bytes
template <class T>
class device_queue {
  static_assert(std::is_trivially_copyable_v<T> && std::is_copy_assignable_v<T> &&
                    !std::is_const_v<T>,
                "rocarray: the element type of a queue must be trivially copyable and assignable");
  static_assert(alignof(T) <= memory_resource::alignment,
                "rocarray: the alignment of a queue's elements must be at most 256 bytes");

 public:
  using value_type = T;  ///< as in the standard library's containers

  /// @name Construction
  ///@{
  device_queue() = default;  ///< Creates a queue that owns nothing, as if moved from.
  /// Creates an empty queue of `capacity` elements, in the order of `stream`. With the default
  /// stream, the queue is ready for every stream on return.
  ///
  /// @throws shape_error if the capacity is not positive, or the size overflows
  /// @throws out_of_memory, roc::error
  template <std::integral I>
  explicit device_queue(I capacity, stream_ref stream = {},
                        detail::caller at = std::source_location::current()) {
    detail::call_scope const call("device_queue", at);
    std::size_t const count = detail::checked_queue_capacity(capacity);
    values_ = device_array<T>(roc::shape<1>{count}, order::c, stream);
    control_ = control_array(roc::shape<1>{control_words(count)}, order::c, stream);
    initialize();
  }
  /// Creates an empty queue with memory from `resource`, which must outlive it. The resource must
  /// be one of device memory: kernels use atomic operations on it, which devices need not support
  /// on pinned and managed memory.
  template <std::integral I>
  device_queue(I capacity, memory_resource& resource, stream_ref stream = {},
               detail::caller at = std::source_location::current()) {
    detail::call_scope const call("device_queue", at);
    std::size_t const count = detail::checked_queue_capacity(capacity);
    values_ = device_array<T>(roc::shape<1>{count}, resource, order::c, stream);
    control_ = control_array(roc::shape<1>{control_words(count)}, resource, order::c, stream);
    initialize();
  }
  device_queue(device_queue&& other) noexcept = default;  ///< Leaves `other` without memory.
  /// Releases the current memory and takes over that of `other`. Does not block.
  device_queue& operator=(device_queue&& other) noexcept = default;
  /// Exchanges the memory. Views keep referring to the same memory.
  void swap(device_queue& other) noexcept {
    values_.swap(other.values_);
    control_.swap(other.control_);
  }
  ///@}

  /// @name Observers
  ///@{

  /// Returns the number of elements that the queue can hold.
  std::size_t capacity() const { return values_.extent(0); }
  /// Returns the ordinal of the device that has the memory.
  int device_ordinal() const { return values_.device_ordinal(); }
  /// Returns the stream that the queue was created with.
  stream_ref stream() const { return values_.stream(); }
  /// Records that kernels on `stream` use the queue: see device_array::record_stream.
  void record_stream(stream_ref stream, detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    values_.record_stream(stream);
    control_.record_stream(stream);
  }
  /// Returns the view for kernels. The queue must outlive it.
  device_queue_view<T> view() const& {
    return device_queue_view<T>({control_.data(), values_.data(), ring()});
  }
  template <detail::incorrect_use Reason = detail::view_of_temporary_misuse>
  device_queue_view<T> view() const&& = delete;
  operator device_queue_view<T>() const& { return view(); }  ///< Converts implicitly, as view().
  operator device_queue_view<T>() const&& = delete;

  /// Returns the number of elements. Blocks until it is known; slots that are reserved to push
  /// count, those that are reserved to pop do not. An estimate between 0 and the capacity if a
  /// kernel uses the queue. Throws roc::error.
  std::size_t size(detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return count_of(read_control(detail::queue_first_slot, nullptr));
  }
  /// Returns the number of elements after the work enqueued earlier on `stream`, for which it
  /// blocks. Throws roc::error.
  std::size_t size(stream_ref stream, detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return count_of(read_control(detail::queue_first_slot, &stream));
  }
  ///@}

  /// @name Contents
  ///@{

  /// Removes all elements, and ends all reservations, which must not be used anymore. Writes 8
  /// bytes for each element of the capacity. Throws roc::error.
  void clear(detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    control_.view().zero();
  }
  /// Enqueues clear().
  void clear(stream_ref stream, detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    control_.view().zero(stream);
  }

  /// Replaces the contents by copies of the elements of `from`, of rank 1 in host or device memory.
  /// The first one is popped first. Besides the elements, this writes 8 bytes for each element of
  /// the capacity.
  ///
  /// *Precondition:* no kernel uses the queue until the assignment has finished. This is not
  /// detected.
  ///
  /// @throws shape_error if there are more than `capacity`; the queue is unchanged then
  /// @throws what roc::copy throws; the contents are unspecified then: call clear()
  template <detail::copy_argument S>
    requires detail::copyable_to<S, device_view<T>&>
  void assign(S&& from, detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at, detail::direction_to_device<S>);
    assign_view(detail::view_of(from), nullptr);
  }
  /// Enqueues the assignment. The lifetime of the source is as for roc::copy(from, to, stream).
  template <detail::copy_argument S>
    requires detail::async_copyable_to<S, device_view<T>&>
  void assign(S&& from, stream_ref stream,
              detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at, detail::direction_to_device<S>);
    assign_view(detail::view_of(from), &stream);
  }

  /// Removes all elements and returns them in a new pageable array, the oldest one first. Blocks
  /// until complete. Besides the elements, this copies 8 bytes for each element of the capacity to
  /// the host and clears as many, also if the queue is empty: test size() first if it often is.
  ///
  /// *Precondition:* no kernel uses the queue, and no other host thread enqueues one that does,
  /// until the function returns: elements pushed meanwhile would be lost. This is not detected.
  ///
  /// @throws roc::error (std::errc::device_or_resource_busy) if a reservation is open; the queue is
  ///   unchanged then, as for all errors
  /// @throws out_of_memory
  host_array<T> drain(detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at, "device to host");
    return drain_to_array(nullptr);
  }
  /// Removes and returns the elements that the queue has after the work enqueued earlier on
  /// `stream`. Blocks until they are copied; work enqueued on `stream` after the return finds the
  /// queue empty. The precondition is that of drain().
  host_array<T> drain(stream_ref stream,
                      detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at, "device to host");
    return drain_to_array(&stream);
  }
  /// Removes all elements, writes them to existing host memory of rank 1, and returns their number.
  /// Elements of `to` beyond that are unchanged. Blocks until complete. Throws as drain(), and
  /// shape_error if `to` is too small.
  template <detail::host_argument H>
    requires detail::copyable_to<device_view<T>&, H>
  std::size_t drain(H&& to, detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at, "device to host");
    return drain_to_view(detail::view_of(to), nullptr);
  }
  /// The same, after the work enqueued earlier on `stream`. Blocks until the elements are copied;
  /// work enqueued on `stream` after the return finds the queue empty.
  template <detail::host_argument H>
    requires detail::copyable_to<device_view<T>&, H>
  std::size_t drain(H&& to, stream_ref stream,
                    detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at, "device to host");
    return drain_to_view(detail::view_of(to), &stream);
  }
  ///@}

  /// Deleted: the reason is in the compiler's message.
  ///@{
  template <class S, detail::incorrect_use Reason = detail::copy_misuse<S, device_view<T>&>>
  void assign(S&& from) const = delete;
  template <class S, detail::incorrect_use Reason = detail::async_copy_misuse<S, device_view<T>&>>
  void assign(S&& from, stream_ref stream) const = delete;
  template <class H, detail::incorrect_use Reason = detail::first_misuse<
                         detail::host_misuse<H>, detail::copy_misuse<device_view<T>&, H>>>
    requires(!std::convertible_to<H, stream_ref>)
  std::size_t drain(H&& to) const = delete;
  template <class H, detail::incorrect_use Reason = detail::first_misuse<
                         detail::host_misuse<H>, detail::copy_misuse<device_view<T>&, H>>>
  std::size_t drain(H&& to, stream_ref stream) const = delete;
  ///@}

 private:
  using word = detail::kernel_word;
  using control_array = device_array<word>;

  // Blocks until copies of a stream that a failed call has enqueued have finished.
  class wait_guard {
   public:
    wait_guard(stream_ref const* stream, int device) : stream_(stream), device_(device) {}
    ~wait_guard() {
      if (stream_ == nullptr) return;
      try {
        detail::wait_for_stream(*stream_, device_);
      } catch (std::exception const& error) {
        detail::log_late_error(error.what());
      }
    }
    wait_guard(wait_guard const&) = delete;
    wait_guard& operator=(wait_guard const&) = delete;

    // The same; throws roc::error.
    void wait() {
      if (stream_ref const* const stream = std::exchange(stream_, nullptr)) {
        detail::wait_for_stream(*stream, device_);
      }
    }
    // The call has succeeded: its copies may be pending.
    void dismiss() noexcept { stream_ = nullptr; }

   private:
    stream_ref const* stream_;
    int device_;
  };

  static std::size_t control_words(std::size_t capacity) {
    return detail::queue_first_slot + capacity;
  }
  detail::queue_ring ring() const { return detail::queue_ring::with_capacity(capacity()); }

  // Makes the queue empty.
  void initialize() const {
    if (stream() == stream_ref()) {
      control_.view().zero();
    } else {
      control_.view().zero(stream());
    }
  }

  // Returns the first control words. Blocks until they are copied.
  host_array<word> read_control(std::size_t count, stream_ref const* stream) const {
    auto const view = control_.view()(slice(0, count));
    if (stream == nullptr) return view.copy_to_host();
    auto result = view.copy_to_host(*stream);
    detail::wait_for_stream(*stream, device_ordinal());
    return result;
  }

  std::size_t count_of(host_array<word> const& control) const {
    return ring().count(control(detail::queue_pop_position), control(detail::queue_push_position));
  }

  // Throws roc::error if the word of a slot shows an open reservation.
  void check_reservations(host_array<word> const& control) const {
    detail::queue_ring const slots = ring();
    word const first = control(detail::queue_pop_position);
    std::size_t const count = count_of(control);
    std::size_t open = 0;
    for (std::size_t i = 0; i < capacity(); ++i) {
      word const position = slots.advance(first, i);
      word const expected = i < count ? slots.ready_word(position) : slots.free_word(position);
      if (control(detail::queue_first_slot + slots.index(position)) != expected) ++open;
    }
    if (open == 0) return;
    throw error(std::make_error_code(std::errc::device_or_resource_busy),
                "the queue has open reservations of " + std::to_string(open) +
                    " slots; commit each reservation");
  }

  template <class V>
  void assign_view(V const& from, stream_ref const* stream) const {
    static_assert(V::rank == 1, "rocarray: the elements of a queue are assigned from rank 1");
    std::size_t const count = from.size();
    if (count > capacity()) {
      detail::throw_shape_error("{} elements do not fit into a queue of capacity {}; assign fewer",
                                count, capacity());
    }
    auto const control = control_.view();
    auto const to = values_.view()(slice(0, count));
    auto const slots = control(slice(detail::queue_first_slot, detail::queue_first_slot + count));
    auto const next_push =
        control(slice(detail::queue_push_position, detail::queue_push_position + 1));
    word const end = ring().advance(0, count);
    // The copy is first, so that nothing is captured if `from` cannot be.
    stream == nullptr ? to.copy_to_device(from) : to.copy_to_device(from, *stream);
    wait_guard guard(stream, device_ordinal());  // if a call fails, waits for the reads of `from`
    if (stream == nullptr) {
      control.zero();
      slots.fill(1);
      next_push.fill(end);
    } else {
      control.zero(*stream);
      slots.fill(1, *stream);
      next_push.fill(end, *stream);
    }
    guard.dismiss();
  }

  // Copies the elements to `to`, of their number, and clears the queue. `control` has all control
  // words.
  template <class V>
  void copy_out_and_clear(host_array<word> const& control, V const& to,
                          stream_ref const* stream) const {
    std::size_t const count = to.size();
    std::size_t const first = ring().index(control(detail::queue_pop_position));
    std::size_t const at_end = std::min(count, capacity() - first);
    auto const copy_part = [&](std::size_t index, std::size_t begin, std::size_t end) {
      auto const from = values_.view()(slice(index, index + (end - begin)));
      auto const part = to(slice(begin, end));
      stream == nullptr ? copy(from, part) : copy(from, part, *stream);
    };
    wait_guard guard(stream, device_ordinal());
    copy_part(first, 0, at_end);
    copy_part(0, at_end, count);
    guard.wait();
    stream == nullptr ? control_.view().zero() : control_.view().zero(*stream);
  }

  host_array<T> drain_to_array(stream_ref const* stream) const {
    auto const control = read_control(control_.size(), stream);
    check_reservations(control);
    host_array<T> result(roc::shape<1>{count_of(control)});
    copy_out_and_clear(control, result.view(), stream);
    return result;
  }

  template <class V>
  std::size_t drain_to_view(V const& to, stream_ref const* stream) const {
    static_assert(V::rank == 1, "rocarray: the elements of a queue are drained to rank 1");
    auto const control = read_control(control_.size(), stream);
    check_reservations(control);
    std::size_t const count = count_of(control);
    if (count > to.size()) {
      detail::throw_shape_error(
          "the queue has {} elements, but the destination {}; use a larger one", count, to.size());
    }
    copy_out_and_clear(control, to(slice(0, count)), stream);
    return count;
  }

  device_array<T> values_;  // of the slots
  control_array control_;   // see detail::queue_first_slot
};

}  // namespace roc
