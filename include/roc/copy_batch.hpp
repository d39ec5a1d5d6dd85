// SPDX-License-Identifier: MIT
// Many small copies at the cost of one.
#pragma once

#include <concepts>
#include <cstddef>
#include <source_location>
#include <utility>

#include <roc/config.hpp>
#include <roc/copy.hpp>
#include <roc/detail/call_scope.hpp>
#include <roc/detail/memory_operand.hpp>
#include <roc/options.hpp>
#include <roc/stream.hpp>

namespace roc {

class copy_batch;

namespace detail {

struct batch_storage;

/// Adds a copy whose types and rank are known at run time only. Throws as copy_batch::add.
void add_regions(copy_batch& batch, strided_region const& source,
                 strided_region const& destination);

}  // namespace detail

/// Collects copies between any arrays, views, ranges and tensors, and submits them together. (HIP:
/// `hipMemcpyBatchAsync`, which takes contiguous copies only.)
///
/// The cost of thousands of small copies is calls and waits, not bytes. A batch gathers them in
/// pinned staging memory with several threads, and one kernel scatters them on the device, or the
/// reverse. Copies within a device are one kernel.
///
/// The result is that of executing the copies one by one in the order of `add`. If one copy has to
/// wait for earlier work that uses its host memory, the others may run before that work has
/// finished. Copies that do not touch the same memory are executed concurrently, if that is quickly
/// determined: always for contiguous copies, and for columns, tiles and boxes of one array;
/// otherwise for some hundred copies. A batch is split before a copy that depends on an earlier
/// one. The following copies are executed individually: between two devices, between host memories,
/// of managed memory, through the device address of mapped memory, and contiguous copies of pinned
/// memory of 32 KiB or more; and all copies if submit() is given a path.
///
/// A batch does not own the memory that it refers to. That memory must live until the batch is
/// submitted, and after that as long as `copy` requires. A batch can be submitted repeatedly; a
/// batch that was submitted with a stream may be changed or destroyed at once. Distinct batches may
/// be used by different threads. Move-only.
class ROCARRAY_API copy_batch {
 public:
  copy_batch() noexcept = default;  ///< Creates an empty batch. Allocates nothing.
  /// Takes over the copies; leaves `other` empty.
  copy_batch(copy_batch&& other) noexcept : storage_(std::exchange(other.storage_, nullptr)) {}
  /// Exchanges the copies.
  copy_batch& operator=(copy_batch&& other) noexcept {
    std::swap(storage_, other.storage_);
    return *this;
  }
  ~copy_batch();

  /// Adds the copy that copy(from, to) would do, with the same operands. No element is read or
  /// written yet.
  ///
  /// Memory whose kind the types do not tell is looked up here, as by copy. That takes up to a
  /// microsecond for each such operand, many times as long as the rest of the call. To save it for
  /// thousands of copies, pass a host_view or a device_view, or memory_view::at.
  ///
  /// @returns this batch
  /// @throws shape_error, layout_error, overlap_error (within this copy), lifetime_error,
  ///   dlpack_error, roc::error (of the look-up)
  template <detail::memory_argument S, detail::memory_argument D>
    requires detail::async_memory_copyable_to<S, D>
  copy_batch& add(S&& from, D&& to, detail::caller at = std::source_location::current()) {
    detail::call_scope const call("copy_batch::add", at, detail::memory_direction<S, D>);
    detail::with_regions(
        from, to,
        [&](detail::strided_region const& source, detail::strided_region const& destination) {
          add_regions(source, destination);
        });
    return *this;
  }
  /// Deleted: the reason is in the compiler's message.
  template <class S, class D, detail::incorrect_use Reason = detail::async_memory_copy_misuse<S, D>>
  copy_batch& add(S&& from, D&& to) = delete;

  /// Returns the number of copies, without those of zero elements.
  std::size_t size() const noexcept;
  std::size_t size_bytes() const noexcept;             ///< Returns the bytes of all copies.
  bool empty() const noexcept { return size() == 0; }  ///< Returns true if there are no copies.
  void clear() noexcept;                               ///< Removes all copies.

  /// Executes all copies. If it throws, some of the copies may have been executed.
  ///
  /// @throws registration_error (a destination is registered as read-only), out_of_memory (staging
  ///   memory), roc::error
  ///
  /// *Synchronization:* ordered after all work enqueued earlier on their devices, and complete on
  /// return.
  void submit(detail::caller at = std::source_location::current());
  /// Enqueues all copies on `stream`. Throws as submit() does, and roc::error if memory belongs to
  /// a device other than the stream's.
  ///
  /// *Synchronization:* the call blocks only if all staging memory is in use, or if earlier work
  /// still writes a pageable source.
  ///
  /// *Lifetime:* as for copy(from, to, stream).
  void submit(stream_ref stream, detail::caller at = std::source_location::current());
  /// Enqueues all copies on `stream` and borrows the sources: they must live, and must not change,
  /// until the stream has been synchronized.
  void submit(stream_ref stream, borrow_source_t,
              detail::caller at = std::source_location::current());

  /// As the function without the last argument, with the path and the number of worker threads that
  /// `how` names. A path other than `copy_path::none` is that of every copy of the batch, which are
  /// then executed individually.
  ///
  /// @throws roc::error also if one of the copies cannot take that path, or if a member of `how` is
  ///   invalid, with the code `std::errc::invalid_argument`
  ///@{
  template <std::same_as<copy_options> Options = copy_options>  // submit({}) is given a stream
  void submit(Options how, detail::caller at = std::source_location::current()) {
    detail::call_scope const call(operation, at);
    detail::options_override const scope(how);
    submit(at);
  }
  void submit(stream_ref stream, copy_options how,
              detail::caller at = std::source_location::current()) {
    detail::call_scope const call(operation, at);
    detail::options_override const scope(how);
    submit(stream, at);
  }
  void submit(stream_ref stream, borrow_source_t, copy_options how,
              detail::caller at = std::source_location::current()) {
    detail::call_scope const call(operation, at);
    detail::options_override const scope(how);
    submit(stream, borrow_source, at);
  }
  ///@}

 private:
  static constexpr char const* operation = "copy_batch::submit";

  friend void detail::add_regions(copy_batch& batch, detail::strided_region const& source,
                                  detail::strided_region const& destination);
  void add_regions(detail::strided_region const& source, detail::strided_region const& destination);

  detail::batch_storage* storage_ = nullptr;  // owned; null if no copy was ever added
};

}  // namespace roc
