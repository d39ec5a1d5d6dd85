// SPDX-License-Identifier: MIT
// Many small copies at the cost of one.
#pragma once

#include <cstddef>
#include <utility>

#include <roc/config.hpp>
#include <roc/copy.hpp>
#include <roc/detail/side.hpp>
#include <roc/stream.hpp>

namespace roc {

namespace detail {
struct batch_storage;
}  // namespace detail

/// Collects copies between any arrays, views and ranges, and submits them together (HIP:
/// `hipMemcpyBatchAsync`, for which every copy is contiguous). Thousands of small copies cost calls
/// and waits, not bytes; here several threads gather them in pinned staging memory, one kernel
/// spreads them on the device, or the reverse, and copies within the device are one kernel.
///
/// The result is that of the copies one after the other, in the order of `add`. Those that do not
/// touch the same memory are done at the same time, as far as little work finds that out: for
/// contiguous ones, and for columns, tiles and boxes of one array, always, of others for hundreds.
/// Where copies meet, the batch is cut in two. Done one by one are those between two devices,
/// between host memories, of managed memory, by the device's address of mapped memory, and
/// contiguous ones of 32 KiB or more of pinned memory.
///
/// A batch holds no memory of its arrays: they must live until it has been submitted, and after
/// that as long as `copy` demands. It may be submitted again and again; `clear` empties it.
/// Submitting with a stream keeps nothing of the batch: it may be changed or destroyed at once.
/// Distinct batches may be used by several threads.
class ROCARRAY_API copy_batch {
 public:
  copy_batch() noexcept = default;  ///< of no copies; takes no memory
  /// The other has no copies then.
  copy_batch(copy_batch&& other) noexcept : storage_(std::exchange(other.storage_, nullptr)) {}
  /// Exchanges the copies.
  copy_batch& operator=(copy_batch&& other) noexcept {
    std::swap(storage_, other.storage_);
    return *this;
  }
  ~copy_batch();

  /// Adds what `copy(source, destination)` would do; nothing is read or written yet. Throws
  /// shape_error, layout_error, overlap_error (within this one copy), lifetime_error.
  template <detail::copy_argument S, detail::writable_argument D>
    requires(!detail::owning_temporary<S> && !detail::owning_temporary<D>)
  copy_batch& add(S&& source, D&& destination) {
    detail::with_equal_ranks(
        detail::side_of(source), detail::side_of(destination),
        [&](detail::region const& from, detail::region const& to) { add_regions(from, to); });
    return *this;
  }

  /// Copies that were added, those of no elements left out.
  std::size_t size() const noexcept;
  std::size_t size_bytes() const noexcept;             ///< that they copy in all
  bool empty() const noexcept { return size() == 0; }  ///< whether there is nothing to copy
  void clear() noexcept;                               ///< forgets all copies

  /// Does all copies: after all work enqueued earlier on their devices, and done on return. Throws
  /// registration_error (a destination registered for reading only), out_of_memory (staging
  /// memory), roc::error (HIP); some of the copies may have been done then.
  void submit();
  /// The same, enqueued on `stream`: pinned and registered memory, pageable sources and pageable
  /// destinations as for `copy`. Waits only where all staging memory is in flight, and for earlier
  /// work that still writes a pageable source. Throws roc::error too for memory of a device that is
  /// not the stream's.
  void submit(stream_ref stream);
  /// The same with sources that live and stay unchanged until the stream has been synchronised.
  void submit(stream_ref stream, borrow_source_t);

 private:
  void add_regions(detail::region const& source, detail::region const& destination);

  detail::batch_storage* storage_ = nullptr;
};

}  // namespace roc
