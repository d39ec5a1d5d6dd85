// SPDX-License-Identifier: MIT
// Device arrays made from other arrays: with their contents, or only their shape.
#pragma once

#include <cstddef>
#include <utility>

#include <roc/copy.hpp>
#include <roc/detail/side.hpp>
#include <roc/device_array.hpp>
#include <roc/layout/shape.hpp>
#include <roc/stream.hpp>

namespace roc {

namespace detail {

template <class X>
using array_of = device_array<typename decltype(side_of(std::declval<X&>()))::value_type,
                              decltype(side_of(std::declval<X&>()))::rank>;

}  // namespace detail

/// A new, uninitialised device array with the element type and shape of `x`, an array, view or
/// range on the host or the device (numba: `device_array_like`). C and F order are kept; any other
/// layout becomes compact with the same order of axes in memory.
template <detail::copy_argument X>
[[nodiscard]] auto device_array_like(X&& x, stream_ref stream = {}) {
  auto const side = detail::side_of(x);
  return detail::array_of<X>(side.extents, layout::like_strides(side.extents, side.steps), stream);
}

/// A device array with the contents of a host array, view or range, complete on return (numba:
/// `to_device`). Its layout is that of device_array_like. Throws what roc::copy throws.
template <detail::host_argument H>
[[nodiscard]] auto to_device(H&& host) {
  auto result = device_array_like(host);
  copy(host, result);
  return result;
}

/// The same, enqueued on `stream`; see roc::copy for how long the source must live.
template <detail::host_argument H>
  requires(!detail::owning_temporary<H>)
[[nodiscard]] auto to_device(H&& host, stream_ref stream) {
  auto result = device_array_like(host, stream);
  copy(host, result, stream);
  return result;
}

/// Into an existing array or view (numba: `to_device(ary, to=)`).
template <detail::host_argument H, detail::device_side D>
void to_device(H&& host, D&& into) {
  copy(host, into);
}
/// Into an existing one, enqueued on `stream`; see roc::copy for how long the source must live.
template <detail::host_argument H, detail::device_side D>
  requires(!detail::owning_temporary<H> && !detail::owning_temporary<D>)
void to_device(H&& host, D&& into, stream_ref stream) {
  copy(host, into, stream);
}

}  // namespace roc
