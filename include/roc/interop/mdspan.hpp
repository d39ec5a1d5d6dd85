// SPDX-License-Identifier: MIT
// mdspan of what the library has: std::mdspan where the standard library has it, and any other with
// its members: cuda::std::mdspan, libhipcxx's, the reference implementation. Host views are made
// from all of them without this header.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>
#include <version>

#if __has_include(<mdspan>)
#include <mdspan>
#endif

#include <roc/detail/mdspan.hpp>
#include <roc/detail/throw.hpp>
#include <roc/device_view.hpp>
#include <roc/host_view.hpp>
#include <roc/layout/shape.hpp>

namespace roc {

namespace detail {

// The standard library's own type of a mapping's strides; cuda::std's is another.
template <class M>
using mdspan_strides = std::remove_cvref_t<
    decltype(std::declval<typename M::mapping_type const&>().strides())>;

template <class M>
concept with_strides = requires {
  typename mdspan_strides<M>;
  requires std::constructible_from<typename M::mapping_type, typename M::extents_type const&,
                                   mdspan_strides<M> const&>;
};

template <std::size_t N>
[[noreturn]] void throw_no_mdspan(roc::strides<N> const& strides, char const* advice) {
  throw_layout_error("a mdspan of memory with strides ", {strides.data(), N}, "", {}, advice);
}

template <class M, std::size_t N>
auto mdspan_extents(roc::shape<N> const& shape) {
  using extents = typename M::extents_type;
  using index = typename M::index_type;
  std::array<std::ptrdiff_t, N> wanted{};
  bool fits = true;
  for (std::size_t i = 0; i < N; ++i) {
    wanted[i] = static_cast<std::ptrdiff_t>(shape[i]);
    auto const fixed = extents::static_extent(i);
    // dynamic_extent is the largest of all.
    if (fixed != std::numeric_limits<decltype(fixed)>::max() && fixed != shape[i]) fits = false;
    if (!std::in_range<index>(shape[i])) fits = false;
  }
  if (!fits) {
    throw_shape_error("a mdspan of shape ", {wanted.data(), N}, "", {},
                      ": its extents are others, or its index type is too small");
  }
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return extents(static_cast<index>(shape[I])...);
  }(std::make_index_sequence<N>());
}

template <class M, std::size_t N>
auto mdspan_mapping(roc::shape<N> const& shape, roc::strides<N> const& strides) {
  using mapping = typename M::mapping_type;
  if constexpr (N == 0) {
    return mapping();
  } else if constexpr (with_strides<M>) {
    auto const extents = mdspan_extents<M>(shape);
    bool const walked = layout::element_count(shape) != 0;
    auto const compact = layout::compact_strides(shape);
    mdspan_strides<M> steps{};
    for (std::size_t i = 0; i < N; ++i) {
      auto stride = strides[i];
      if (!walked) stride = compact[i] > 0 ? compact[i] : 1;  // any that are allowed
      if (shape[i] == 1 && stride <= 0) stride = 1;
      if (stride <= 0 || !std::in_range<typename M::index_type>(stride)) {
        throw_no_mdspan(strides,
                        ": its strides must be positive and fit its index type: reverse or copy "
                        "the array first");
      }
      steps[i] = static_cast<typename M::index_type>(stride);
    }
    if (walked && !layout::is_unique(shape, strides)) {
      throw_no_mdspan(strides, ": its elements must be different places: copy the array first");
    }
    return mapping(extents, steps);
  } else {
    mapping const result(mdspan_extents<M>(shape));
    for (std::size_t i = 0; i < N; ++i) {
      if (layout::element_count(shape) == 0 || shape[i] == 1) continue;
      if (static_cast<std::ptrdiff_t>(result.stride(i)) != strides[i]) {
        throw_no_mdspan(strides,
                        ": its layout is another: use layout_stride, or copy the array first");
      }
    }
    return result;
  }
}

template <class M, class V>
M mdspan_of(V const& view) {
  static_assert(mdspan_like<M>, "rocarray: this is no mdspan with strides");
  static_assert(M::rank() == V::rank, "rocarray: the ranks differ");
  static_assert(std::is_convertible_v<typename V::element_type*, typename M::data_handle_type> &&
                    std::is_same_v<typename V::value_type, typename M::value_type>,
                "rocarray: the element types differ");
  return M(view.data(), mdspan_mapping<M>(view.shape(), view.strides()));
}

template <class A>
concept owning_array = requires { typename std::remove_cvref_t<A>::roc_host_array; } ||
                       (requires { typename std::remove_cvref_t<A>::roc_device_memory; } &&
                        !requires { typename std::remove_cvref_t<A>::roc_borrowing_view; });

}  // namespace detail

/// A mdspan, of any library, of host memory, or, for kernels, of device memory:
///   as_mdspan<cuda::std::mdspan<float, cuda::std::dextents<int, 2>, cuda::std::layout_stride>>(a)
/// Nothing is copied; the memory must outlive it. Throws layout_error where the mdspan's layout
/// cannot have these strides (negative ones none can), shape_error where its extents cannot.
template <detail::mdspan_like M, class T, std::size_t N>
[[nodiscard]] M as_mdspan(host_view<T, N> const& view) {
  return detail::mdspan_of<M>(view);
}
/// Of device memory: for kernels, not for the host to read.
template <detail::mdspan_like M, class T, std::size_t N>
[[nodiscard]] M as_mdspan(device_view<T, N> const& view) {
  return detail::mdspan_of<M>(view);
}
/// Of an array. One that is about to go has no mdspan that could stay.
template <detail::mdspan_like M, detail::owning_array A>
[[nodiscard]] M as_mdspan(A&& array) {
  static_assert(std::is_lvalue_reference_v<A>, "rocarray: the mdspan would outlive this array");
  return detail::mdspan_of<M>(array.view());
}

#if defined(__cpp_lib_mdspan)
/// std::mdspan with the strides that the view has; as the form that names its type.
template <class T, std::size_t N>
[[nodiscard]] auto as_mdspan(host_view<T, N> const& view) {
  return detail::mdspan_of<std::mdspan<T, std::dextents<std::size_t, N>, std::layout_stride>>(view);
}
/// Of device memory: for kernels, not for the host to read.
template <class T, std::size_t N>
[[nodiscard]] auto as_mdspan(device_view<T, N> const& view) {
  return detail::mdspan_of<std::mdspan<T, std::dextents<std::size_t, N>, std::layout_stride>>(view);
}
/// Of an array. One that is about to go has no mdspan that could stay.
template <detail::owning_array A>
[[nodiscard]] auto as_mdspan(A&& array) {
  static_assert(std::is_lvalue_reference_v<A>, "rocarray: the mdspan would outlive this array");
  return as_mdspan(array.view());
}
#endif

/// A mdspan of device memory, made by someone else, as a view; `device` as in device_view. Nothing
/// is copied.
template <detail::mdspan_like M>
[[nodiscard]] auto as_device_view(M const& span, int device = -1) {
  return device_view<typename M::element_type, M::rank()>(
      span.data_handle(), detail::shape_of(span), detail::strides_of(span), device);
}

}  // namespace roc
