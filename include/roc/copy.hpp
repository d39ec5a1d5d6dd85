// SPDX-License-Identifier: MIT
// Copies between any two memories: arrays, views, ranges, mdspans, DLPack tensors, raw pointers.
#pragma once

#include <concepts>
#include <source_location>

#include <roc/config.hpp>
#include <roc/copy_path.hpp>
#include <roc/detail/call_scope.hpp>
#include <roc/detail/memory_operand.hpp>
#include <roc/options.hpp>
#include <roc/stream.hpp>

namespace roc {

/// Lets an asynchronous copy borrow a pageable source until the stream has been synchronized, so
/// that the call does not have to read it before it returns. The call then blocks only if all
/// staging memory is in use by other streams.
struct borrow_source_t {};
inline constexpr borrow_source_t borrow_source{};  ///< see borrow_source_t

/// Copies element by element between arrays of the same shape and element type, whose layouts may
/// differ. Gaps are not touched.
///
/// The types of arrays and views of the library, of C arrays, std::vector and std::array tell where
/// their memory is. The memory of a memory_view, an mdspan, a std::span, a range of another type,
/// or a DLPack tensor (with roc/interop/dlpack.hpp) may be on the host or on any device: it is
/// looked up, from HIP if the library did not allocate it.
///
/// @param from array, view, contiguous range, mdspan, memory_view or DLPack tensor
/// @param to the destination. A contiguous range of host memory can be paired with an array of any
///   rank with as many elements; it is then in C order. Two mdspans must have the same rank.
/// @throws shape_error, layout_error (two indices of the destination refer to the same element,
///   strides leave the address space, or more than 16 axes remain after those that continue without
///   a gap on both sides are merged), overlap_error, lifetime_error (moved-from array, null
///   pointer, memory that is known to be free), dlpack_error, all of which are thrown before
///   anything is copied; out_of_memory (staging memory), roc::error
///
/// *Synchronization:* ordered after all work enqueued earlier on the device through the library,
/// and complete on return. (hipMemcpy, hipMemcpy2D, hipMemcpy3D; C++29: `std::copy` of mdspans)
template <detail::memory_argument S, detail::memory_argument D>
  requires detail::memory_copyable_to<S, D>
void copy(S&& from, D&& to, detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at, detail::memory_direction<S, D>);
  detail::copy_arguments(from, to, nullptr);
}

/// Enqueues a copy on `stream`, as copy(from, to) does it.
///
/// *Synchronization:* the call blocks only if all staging memory is in use, or if earlier copies
/// still write a pageable source.
///
/// *Lifetime:* device, pinned and registered memory must live until the stream has been
/// synchronized. A pageable source may be changed or freed on return. A pageable destination is
/// complete after synchronization. Temporaries that own memory do not compile. (hipMemcpyAsync)
template <detail::memory_argument S, detail::memory_argument D>
  requires detail::async_memory_copyable_to<S, D>
void copy(S&& from, D&& to, stream_ref stream,
          detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at, detail::memory_direction<S, D>);
  detail::copy_arguments(from, to, &stream);
}

/// Enqueues a copy on `stream` and borrows the source: it must live, and must not change, until the
/// stream has been synchronized. See borrow_source_t.
template <detail::memory_argument S, detail::memory_argument D>
  requires detail::async_memory_copyable_to<S, D>
void copy(S&& from, D&& to, stream_ref stream, borrow_source_t,
          detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at, detail::memory_direction<S, D>);
  detail::copy_arguments(from, to, &stream, detail::source_use::borrowed);
}

/// As the copy without the last argument, on the path and with the number of worker threads that
/// `how` names: `roc::copy(from, to, {.path = roc::copy_path::staged})`.
///
/// @throws roc::error also if the copy cannot take that path, or if a member of `how` is invalid,
///   with the code `std::errc::invalid_argument`; nothing is copied then
///@{
// The type of `how` is a template parameter so that in copy(from, to, {}) the braces are a stream:
// a function without that parameter is more specialized.
template <detail::memory_argument S, detail::memory_argument D,
          std::same_as<copy_options> Options = copy_options>
  requires detail::memory_copyable_to<S, D>
void copy(S&& from, D&& to, Options how, detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at, detail::memory_direction<S, D>);
  detail::options_override const scope(how);
  detail::copy_arguments(from, to, nullptr);
}
template <detail::memory_argument S, detail::memory_argument D>
  requires detail::async_memory_copyable_to<S, D>
void copy(S&& from, D&& to, stream_ref stream, copy_options how,
          detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at, detail::memory_direction<S, D>);
  detail::options_override const scope(how);
  detail::copy_arguments(from, to, &stream);
}
template <detail::memory_argument S, detail::memory_argument D>
  requires detail::async_memory_copyable_to<S, D>
void copy(S&& from, D&& to, stream_ref stream, borrow_source_t, copy_options how,
          detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at, detail::memory_direction<S, D>);
  detail::options_override const scope(how);
  detail::copy_arguments(from, to, &stream, detail::source_use::borrowed);
}
///@}

/// Deleted: selected for arguments that cannot be copied, so that the compiler shows the reason.
///@{
template <class S, class D, detail::incorrect_use Reason = detail::memory_copy_misuse<S, D>>
void copy(S&& from, D&& to) = delete;
template <class S, class D, std::same_as<copy_options> Options = copy_options,
          detail::incorrect_use Reason = detail::memory_copy_misuse<S, D>>
void copy(S&& from, D&& to, Options how) = delete;
template <class S, class D, detail::incorrect_use Reason = detail::async_memory_copy_misuse<S, D>>
void copy(S&& from, D&& to, stream_ref stream) = delete;
template <class S, class D, detail::incorrect_use Reason = detail::async_memory_copy_misuse<S, D>>
void copy(S&& from, D&& to, stream_ref stream, copy_options how) = delete;
template <class S, class D, detail::incorrect_use Reason = detail::async_memory_copy_misuse<S, D>>
void copy(S&& from, D&& to, stream_ref stream, borrow_source_t) = delete;
template <class S, class D, detail::incorrect_use Reason = detail::async_memory_copy_misuse<S, D>>
void copy(S&& from, D&& to, stream_ref stream, borrow_source_t, copy_options how) = delete;
template <class S, class D, class X,
          detail::incorrect_use Reason =
              detail::first_misuse<detail::memory_copy_misuse<S, D>, detail::stream_misuse<X>>>
  requires(!std::convertible_to<X, stream_ref> && !std::convertible_to<X, copy_options>)
void copy(S&& from, D&& to, X&& stream) = delete;
///@}

namespace detail {

/// Returns the path that a copy would take now. Throws what the copy would throw.
ROCARRAY_API copy_path planned_path(strided_region const& source,
                                    strided_region const& destination);

}  // namespace detail

/// Returns the path that copy(from, to) would take now. Throws what the copy would throw.
template <detail::memory_argument S, detail::memory_argument D>
  requires detail::memory_copyable_to<S, D>
copy_path planned_path(S const& from, D&& to, detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at, detail::memory_direction<S, D>);
  return detail::with_regions(
      from, to,
      [](detail::strided_region const& source, detail::strided_region const& destination) {
        return detail::planned_path(source, destination);
      });
}

/// Deleted: the reason is in the compiler's message.
template <class S, class D, detail::incorrect_use Reason = detail::memory_copy_misuse<S, D>>
copy_path planned_path(S&& from, D&& to) = delete;

}  // namespace roc
