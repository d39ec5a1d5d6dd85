// SPDX-License-Identifier: MIT
// Fills of any array, view or contiguous range, on the host or on the device.
#pragma once

#include <source_location>

#include <roc/config.hpp>
#include <roc/detail/call_scope.hpp>
#include <roc/detail/copy_operand.hpp>
#include <roc/stream.hpp>

namespace roc {

/// Writes `value` to every element. Gaps and padding are not touched.
///
/// @param to array, view or contiguous range with elements of 1 to 16 bytes
/// @param value is converted to the element type
/// @throws lifetime_error (moved-from array), roc::error
///
/// *Synchronization:* ordered after all work enqueued earlier on the device, and complete on
/// return.
template <detail::writable_argument D>
  requires detail::correct_use<detail::fill_argument_misuse<D>>
void fill(D&& to, detail::argument_value_type<D> const& value,
          detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  detail::view_of(to).fill(value);
}
/// Enqueues the fill on `stream`. *Lifetime:* the value has been read on return; host memory must
/// live until the stream has been synchronized.
template <detail::writable_argument D>
  requires(detail::correct_use<detail::fill_argument_misuse<D>> && !detail::owning_temporary<D>)
void fill(D&& to, detail::argument_value_type<D> const& value, stream_ref stream,
          detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  detail::view_of(to).fill(value, stream);
}

/// Deleted: the reason is in the compiler's message.
///@{
template <class D, class V, detail::incorrect_use Reason = detail::fill_argument_misuse<D>>
void fill(D&& to, V const& value) = delete;
template <class D, class V,
          detail::incorrect_use Reason =
              detail::first_misuse<detail::fill_argument_misuse<D>, detail::temporary_misuse<D>>>
void fill(D&& to, V const& value, stream_ref stream) = delete;
///@}

namespace detail {

// An array's own zero() includes its padding.
template <class D, class F>
void with_array_or_view(D& to, F f) {
  if constexpr (owning_array<D>) {
    f(to);
  } else {
    f(view_of(to));
  }
}

}  // namespace detail

/// Writes zero bytes to every element of any size, and to the padding of a padded array.
///
/// @param to array, view or contiguous range
/// @throws lifetime_error (moved-from array), roc::error
///
/// *Synchronization:* ordered after all work enqueued earlier on the device, and complete on
/// return.
template <detail::writable_argument D>
void zero(D&& to, detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  detail::with_array_or_view(to, [](auto&& x) { x.zero(); });
}
/// Enqueues the zeroing on `stream`. *Lifetime:* host memory must live until the stream has been
/// synchronized.
template <detail::writable_argument D>
  requires(!detail::owning_temporary<D>)
void zero(D&& to, stream_ref stream, detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  detail::with_array_or_view(to, [&](auto&& x) { x.zero(stream); });
}

/// Deleted: the reason is in the compiler's message.
///@{
template <class D, detail::incorrect_use Reason = detail::destination_misuse<D>>
void zero(D&& to) = delete;
template <class D, detail::incorrect_use Reason = detail::first_misuse<
                       detail::destination_misuse<D>, detail::temporary_misuse<D>>>
void zero(D&& to, stream_ref stream) = delete;
///@}

}  // namespace roc
