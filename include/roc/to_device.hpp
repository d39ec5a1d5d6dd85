// SPDX-License-Identifier: MIT
// Device arrays created from other arrays: with their contents, or with their shape only.
#pragma once

#include <concepts>
#include <cstddef>
#include <source_location>
#include <utility>

#include <roc/copy.hpp>
#include <roc/detail/call_scope.hpp>
#include <roc/detail/copy_operand.hpp>
#include <roc/device_array.hpp>
#include <roc/layout/shape.hpp>
#include <roc/stream.hpp>

namespace roc {

namespace detail {

template <class X>
using device_array_for = device_array<argument_value_type<X>, argument_rank<X>>;

}  // namespace detail

/// Returns a new, uninitialized device array with the element type and shape of `x` (numba:
/// `device_array_like`; torch: `empty_like`). C and F order are kept. Any other layout becomes
/// compact, with the axes in the same order in memory.
///
/// @param x array, view or range on the host or a device
/// @param stream determines the device; the memory is allocated in its order
/// @throws lifetime_error (moved-from array), out_of_memory, roc::error
template <detail::copy_argument X>
[[nodiscard]] auto device_array_like(X&& x, stream_ref stream = {},
                                     detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  auto const view = detail::view_of(x);
  return detail::device_array_for<X>(view.shape(),
                                     layout::like_strides(view.shape(), view.strides()), stream);
}

/// Deleted: the reason is in the compiler's message.
template <class X, detail::incorrect_use Reason = detail::argument_misuse<X>>
auto device_array_like(X&& x, stream_ref stream = {}) = delete;

/// Returns a device array with the contents of host memory, complete on return (numba:
/// `to_device`).
///
/// @param from host array, view or range
/// @returns an array with the layout of device_array_like(from)
/// @throws what roc::copy throws, and out_of_memory
template <detail::host_argument H>
[[nodiscard]] auto to_device(H&& from, detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at, "host to device");
  auto result = device_array_like(from);
  copy(detail::view_of(from), result);
  return result;
}

/// Returns a device array and enqueues the copy to it on `stream`. *Lifetime:* of the source as for
/// copy(from, to, stream).
template <detail::host_argument H>
  requires(!detail::owning_temporary<H>)
[[nodiscard]] auto to_device(H&& from, stream_ref stream,
                             detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at, "host to device");
  auto result = device_array_like(from, stream);
  copy(detail::view_of(from), result, stream);
  return result;
}

/// Copies host memory into an existing device array or view (numba: `to_device(ary, to=)`). Throws
/// what roc::copy throws.
template <detail::host_argument H, detail::device_argument D>
  requires detail::copyable_to<H, D>
void to_device(H&& from, D&& to, detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at, "host to device");
  copy(detail::view_of(from), to);
}
/// Enqueues a copy of host memory into an existing device array or view on `stream`. *Lifetime:* as
/// for copy(from, to, stream).
template <detail::host_argument H, detail::device_argument D>
  requires detail::async_copyable_to<H, D>
void to_device(H&& from, D&& to, stream_ref stream,
               detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at, "host to device");
  copy(detail::view_of(from), to, stream);
}

/// Deleted: the reason is in the compiler's message.
///@{
template <class H, detail::incorrect_use Reason = detail::host_misuse<H>>
void to_device(H&& from) = delete;
template <class H, detail::incorrect_use Reason =
                       detail::first_misuse<detail::host_misuse<H>, detail::temporary_misuse<H>>>
void to_device(H&& from, stream_ref stream) = delete;
template <class H, class D,
          detail::incorrect_use Reason = detail::first_misuse<
              detail::host_misuse<H>, detail::device_misuse<D>, detail::copy_misuse<H, D>>>
  requires(!std::convertible_to<D, stream_ref>)
void to_device(H&& from, D&& to) = delete;
template <class H, class D,
          detail::incorrect_use Reason = detail::first_misuse<
              detail::host_misuse<H>, detail::device_misuse<D>, detail::async_copy_misuse<H, D>>>
void to_device(H&& from, D&& to, stream_ref stream) = delete;
///@}

}  // namespace roc
