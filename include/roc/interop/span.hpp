// SPDX-License-Identifier: MIT
// std::span of what the library has. The other way needs no header: a host_view is made from any
// contiguous range.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>

#include <roc/detail/throw.hpp>
#include <roc/device_view.hpp>
#include <roc/host_view.hpp>
#include <roc/layout/shape.hpp>

namespace roc {

namespace detail {

template <class V>
std::span<typename V::element_type> span_of(V const& view) {
  auto const range = layout::element_range(view.shape(), view.strides());
  auto const count = static_cast<std::size_t>(range.high - range.low);
  if (count != view.size() || !layout::is_unique(view.shape(), view.strides())) {
    auto const strides = view.strides();
    throw_layout_error("a std::span of memory with gaps, strides ",
                       {strides.data(), V::rank}, "", {}, ": copy it to a compact array first");
  }
  if (count == 0) return {};
  return {view.data() + range.low, count};
}

}  // namespace detail

/// All elements of host memory without gaps, of any rank, in the order of memory. Nothing is
/// copied; the memory must outlive the span. Throws layout_error for memory with gaps.
template <class T, std::size_t N>
[[nodiscard]] std::span<T> as_span(host_view<T, N> const& view) {
  return detail::span_of(view);
}
/// Of device memory: for kernels, and for libraries that take such spans; not for the host to read.
template <class T, std::size_t N>
[[nodiscard]] std::span<T> as_span(device_view<T, N> const& view) {
  return detail::span_of(view);
}
/// Of an array. One that is about to go has no span that could stay.
template <class A>
  requires requires { typename std::remove_cvref_t<A>::roc_host_array; } ||
           (requires { typename std::remove_cvref_t<A>::roc_device_memory; } &&
            !requires { typename std::remove_cvref_t<A>::roc_borrowing_view; })
[[nodiscard]] auto as_span(A&& array) {
  static_assert(std::is_lvalue_reference_v<A>, "rocarray: the span would outlive this array");
  return detail::span_of(array.view());
}

/// A span of device memory, made by someone else, as a view; `device` as in device_view. Nothing is
/// copied.
template <class T, std::size_t Extent>
[[nodiscard]] device_view<T, 1> as_device_view(std::span<T, Extent> span, int device = -1) {
  return {span.data(), shape<1>{span.size()}, order::c, device};
}

}  // namespace roc
