// SPDX-License-Identifier: MIT
// Fills of any array, view or contiguous range, on the host or on the device.
#pragma once

#include <roc/config.hpp>
#include <roc/detail/side.hpp>
#include <roc/stream.hpp>

namespace roc {

/// Writes `value` to every element, of 1 to 16 bytes; gaps and padding are not touched. Ordered
/// after all work enqueued earlier on the device, and done on return. Throws lifetime_error
/// (moved-from array), roc::error.
template <detail::writable_argument D>
void fill(D&& destination, typename decltype(detail::side_of(destination))::value_type const& value) {
  detail::view_of(destination).fill(value);
}
/// Enqueued on `stream`; the value has been read on return, host memory must live until the stream
/// has been synchronised.
template <detail::writable_argument D>
  requires(!detail::owning_temporary<D>)
void fill(D&& destination, typename decltype(detail::side_of(destination))::value_type const& value,
          stream_ref stream) {
  detail::view_of(destination).fill(value, stream);
}

namespace detail {

// Arrays know their padding; ranges know nothing.
template <class D, class F>
void zero_of(D& destination, F zero) {
  if constexpr (device_side<D> || has_host_view<D>) {
    zero(destination);
  } else {
    zero(view_of(destination));
  }
}

}  // namespace detail

/// Writes zero bytes, of a padded array to its padding too; else as fill, for elements of any size.
template <detail::writable_argument D>
void zero(D&& destination) {
  detail::zero_of(destination, [](auto&& x) { x.zero(); });
}
/// Enqueued on `stream`; host memory must live until the stream has been synchronised.
template <detail::writable_argument D>
  requires(!detail::owning_temporary<D>)
void zero(D&& destination, stream_ref stream) {
  detail::zero_of(destination, [&](auto&& x) { x.zero(stream); });
}

}  // namespace roc
