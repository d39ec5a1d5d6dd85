// SPDX-License-Identifier: MIT
// Copies between any two arrays, views or ranges, on the host or on the device.
#pragma once

#include <roc/config.hpp>
#include <roc/copy_path.hpp>
#include <roc/detail/side.hpp>
#include <roc/stream.hpp>

namespace roc {

/// Opts into borrowing a pageable source of an asynchronous copy until the stream has been
/// synchronised: the call then waits for staging memory only where all of it is in flight for other
/// streams. It must live and stay unchanged.
struct borrow_source_t {};
inline constexpr borrow_source_t borrow_source{};  ///< see borrow_source_t

/// Copies element by element between arrays of the same shape and element type, whatever their
/// layouts; bytes in gaps are not touched. A contiguous range of as many elements may stand for an
/// array of any rank, in C order.
///
/// Ordered after all work enqueued earlier on the device through the library, and done on return.
/// Throws shape_error, layout_error (the destination's strides repeat a place), overlap_error,
/// lifetime_error (moved-from array), out_of_memory (staging memory), roc::error (HIP).
template <detail::copy_argument S, detail::writable_argument D>
void copy(S&& source, D&& destination) {
  detail::copy_sides(detail::side_of(source), detail::side_of(destination), nullptr);
}

/// The same, enqueued on `stream`. Pinned and registered memory must live until the stream has been
/// synchronised. A pageable source may be changed or freed on return; a pageable destination is
/// complete after synchronisation. The call waits only where all staging memory is in flight, and
/// for earlier copies that still write a pageable source.
template <detail::copy_argument S, detail::writable_argument D>
  requires(!detail::owning_temporary<S> && !detail::owning_temporary<D>)
void copy(S&& source, D&& destination, stream_ref stream) {
  detail::copy_sides(detail::side_of(source), detail::side_of(destination), &stream);
}

/// The same with a source that lives and stays unchanged until the stream has been synchronised.
template <detail::copy_argument S, detail::writable_argument D>
  requires(!detail::owning_temporary<S> && !detail::owning_temporary<D>)
void copy(S&& source, D&& destination, stream_ref stream, borrow_source_t) {
  detail::copy_sides(detail::side_of(source), detail::side_of(destination), &stream,
                     detail::source_use::borrowed);
}

namespace detail {

ROCARRAY_API copy_path planned_path(region const& source, region const& destination);

}  // namespace detail

/// The path that a copy between the two would take now. Throws what the copy would.
template <detail::copy_argument S, detail::writable_argument D>
copy_path planned_path(S const& source, D&& destination) {
  return detail::with_equal_ranks(
      detail::side_of(source), detail::side_of(destination),
      [](detail::region const& from, detail::region const& to) {
        return detail::planned_path(from, to);
      });
}

}  // namespace roc
