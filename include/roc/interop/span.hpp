// SPDX-License-Identifier: MIT
// Conversion of arrays and views to std::span, and of std::span to device views. A host_view can be
// constructed from any contiguous range without this header.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>

#include <roc/detail/argument_traits.hpp>
#include <roc/detail/throw.hpp>
#include <roc/device_view.hpp>
#include <roc/host_view.hpp>
#include <roc/layout/shape.hpp>

namespace roc {

namespace detail {

/// Returns a span of the view's elements in memory order. Throws layout_error for memory with gaps.
template <class V>
std::span<typename V::element_type> span_of(V const& view) {
  auto const range = layout::element_range(view.shape(), view.strides());
  auto const count = static_cast<std::size_t>(range.high - range.low);
  if (count != view.size() || !layout::is_unique(view.shape(), view.strides())) {
    auto const strides = view.strides();
    throw_layout_error(
        "std::span cannot cover memory with gaps: strides {}; copy it to a contiguous array first",
        strides);
  }
  if (count == 0) return {};
  return {view.data() + range.low, count};
}

}  // namespace detail

/// Returns a span of all elements of a host view of any rank, in memory order, without a copy.
/// @throws layout_error if the memory has gaps
///
/// *Lifetime:* the memory must outlive the span.
template <class T, std::size_t N>
[[nodiscard]] std::span<T> as_span(host_view<T, N> const& view) {
  return detail::span_of(view);
}
/// Returns a span of all elements of a device view, for kernels and libraries; otherwise as the
/// overload for host views. The host must not access the elements.
template <class T, std::size_t N>
[[nodiscard]] std::span<T> as_span(device_view<T, N> const& view) {
  return detail::span_of(view);
}
/// Returns a span of all elements of an array. The array must be an lvalue, because the span would
/// outlive a temporary.
template <detail::owning_array A>
[[nodiscard]] auto as_span(A&& array) {
  static_assert(std::is_lvalue_reference_v<A>, "rocarray: the span would outlive this array");
  return detail::span_of(array.view());
}

/// Returns a view of the device memory of a span, without a copy.
/// @param device ordinal of the device, as for device_view
///
/// *Lifetime:* the memory must outlive the view.
template <class T, std::size_t Extent>
[[nodiscard]] device_view<T, 1> as_device_view(std::span<T, Extent> span, int device = -1) {
  return {span.data(), shape<1>{span.size()}, order::c, device};
}

}  // namespace roc
