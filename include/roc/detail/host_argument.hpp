// SPDX-License-Identifier: MIT
// What counts as host memory in an argument: host arrays and views, C arrays, contiguous ranges.
#pragma once

#include <cstddef>
#include <iterator>
#include <span>
#include <type_traits>

#include <roc/detail/mdspan.hpp>
#include <roc/host_view.hpp>

namespace roc::detail {

template <class X>
inline constexpr bool is_host_view = false;
template <class T, std::size_t N>
inline constexpr bool is_host_view<host_view<T, N>> = true;

// host_array says what it is by this member, so that this header need not know it.
template <class X>
concept has_host_view = requires(X& x) { typename std::remove_cvref_t<X>::roc_host_array; };

template <class X>
concept contiguous_range = requires(X& x) {
  { *std::data(x) };
  { std::size(x) } -> std::convertible_to<std::size_t>;
  requires std::is_pointer_v<decltype(std::data(x))>;
  requires std::is_trivially_copyable_v<std::remove_reference_t<decltype(*std::data(x))>>;
};

// Device arrays have data() and size() too, but no memory that the host may touch.
template <class X>
concept device_side = requires { typename std::remove_cvref_t<X>::roc_device_memory; };

template <class H>
concept host_argument =
    !device_side<H> && (is_host_view<std::remove_cvref_t<H>> || has_host_view<H> ||
                        std::is_array_v<std::remove_reference_t<H>> || contiguous_range<H> ||
                        mdspan_like<std::remove_cvref_t<H>>);

/// An argument that dies with the full expression and takes its memory along.
template <class H>
concept owning_temporary =
    !std::is_lvalue_reference_v<H> && !is_host_view<std::remove_cvref_t<H>> &&
    !mdspan_like<std::remove_cvref_t<H>> &&
    !requires { typename std::remove_cvref_t<H>::roc_borrowing_view; } &&
    (has_host_view<H> || std::is_array_v<std::remove_reference_t<H>> ||
     !std::ranges::enable_borrowed_range<std::remove_cvref_t<H>>);

template <class T, std::size_t N>
host_view<T, N> as_host_view(host_view<T, N> const& view) {
  return view;
}

template <class H>
  requires has_host_view<H>
auto as_host_view(H& host) {
  return host.view();
}

template <class H>
  requires(!has_host_view<H> && !is_host_view<std::remove_cv_t<H>>)
auto as_host_view(H& host) {
  if constexpr (std::is_array_v<H>) {
    // Extents of all dimensions, in C order: the array is one piece of memory.
    constexpr std::size_t rank = std::rank_v<H>;
    using element = std::remove_all_extents_t<H>;
    return []<std::size_t... I>(H& array, std::index_sequence<I...>) {
      return host_view<element, rank>(reinterpret_cast<element*>(&array),
                                      shape<rank>{std::extent_v<H, I>...});
    }(host, std::make_index_sequence<rank>{});
  } else if constexpr (mdspan_like<H>) {
    return host_view(host);
  } else {
    using element = std::remove_pointer_t<decltype(std::data(host))>;
    return host_view<element, 1>(std::data(host), shape<1>{std::size(host)});
  }
}

}  // namespace roc::detail
