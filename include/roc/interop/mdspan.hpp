// SPDX-License-Identifier: MIT
// Conversion of arrays and views to mdspan, and of mdspan to device views. Supports std::mdspan if
// the standard library has it, and any type with its members: cuda::std::mdspan, libhipcxx's, the
// reference implementation. A host_view can be constructed from all of them without this header.
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

#include <roc/detail/argument_traits.hpp>
#include <roc/detail/throw.hpp>
#include <roc/device_view.hpp>
#include <roc/host_view.hpp>
#include <roc/layout/shape.hpp>

namespace roc {

namespace detail {

/// The array type of a mapping's strides: std::array, or cuda::std::array.
template <class M>
using mdspan_strides =
    std::remove_cvref_t<decltype(std::declval<typename M::mapping_type const&>().strides())>;

/// True if M's mapping can be constructed from extents and strides, as that of layout_stride can.
template <class M>
concept has_strided_mapping = requires {
  typename mdspan_strides<M>;
  requires std::constructible_from<typename M::mapping_type, typename M::extents_type const&,
                                   mdspan_strides<M> const&>;
};

/// Returns M's extents. Throws shape_error if a static extent differs or the index type is too
/// small.
template <class M, std::size_t N>
auto mdspan_extents(roc::shape<N> const& shape) {
  using extents = typename M::extents_type;
  using index = typename M::index_type;
  bool fits = true;
  for (std::size_t i = 0; i < N; ++i) {
    auto const static_extent = extents::static_extent(i);
    constexpr auto dynamic_extent = std::numeric_limits<decltype(extents::static_extent(0))>::max();
    if (static_extent != dynamic_extent && static_extent != shape[i]) fits = false;
    if (!std::in_range<index>(shape[i])) fits = false;
  }
  if (!fits) {
    throw_shape_error(
        "mdspan cannot have shape {}: a static extent differs, or its index type is too "
        "small",
        shape);
  }
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return extents(static_cast<index>(shape[I])...);
  }(std::make_index_sequence<N>());
}

/// Returns M's mapping. Throws layout_error if M cannot have these strides, and shape_error as
/// mdspan_extents does.
template <class M, std::size_t N>
auto mdspan_mapping(roc::shape<N> const& shape, roc::strides<N> const& strides) {
  using mapping = typename M::mapping_type;
  if constexpr (N == 0) {
    return mapping();
  } else if constexpr (has_strided_mapping<M>) {
    auto const extents = mdspan_extents<M>(shape);
    bool const has_elements = layout::element_count(shape) != 0;
    auto const compact = layout::compact_strides(shape);
    mdspan_strides<M> result{};
    for (std::size_t i = 0; i < N; ++i) {
      auto stride = strides[i];
      // Strides that are never applied are replaced by valid ones.
      if (!has_elements) stride = compact[i] > 0 ? compact[i] : 1;
      if (shape[i] == 1 && stride <= 0) stride = 1;
      if (stride <= 0 || !std::in_range<typename M::index_type>(stride)) {
        throw_layout_error(
            "mdspan cannot have strides {}: they must be positive and fit its index "
            "type; reverse or copy the array first",
            strides);
      }
      result[i] = static_cast<typename M::index_type>(stride);
    }
    if (has_elements && !layout::is_unique(shape, strides)) {
      throw_layout_error("mdspan cannot have strides {}: elements overlap; copy the array first",
                         strides);
    }
    return mapping(extents, result);
  } else {
    mapping const result(mdspan_extents<M>(shape));
    for (std::size_t i = 0; i < N; ++i) {
      if (layout::element_count(shape) == 0 || shape[i] == 1) continue;
      if (static_cast<std::ptrdiff_t>(result.stride(i)) != strides[i]) {
        throw_layout_error(
            "mdspan cannot have strides {} in its layout; use layout_stride, or copy "
            "the array first",
            strides);
      }
    }
    return result;
  }
}

/// Returns an mdspan that borrows the view's memory.
template <class M, class V>
M mdspan_of(V const& view) {
  static_assert(mdspan_like<M> && M::is_always_strided() && M::is_always_unique(),
                "rocarray: M is not an mdspan that is always strided and unique");
  static_assert(M::rank() == V::rank, "rocarray: the ranks differ");
  static_assert(std::is_convertible_v<typename V::element_type*, typename M::data_handle_type> &&
                    std::is_same_v<typename V::value_type, typename M::value_type>,
                "rocarray: the element types differ");
  return M(view.data(), mdspan_mapping<M>(view.shape(), view.strides()));
}

}  // namespace detail

/// Returns an mdspan of a given type over host memory, without a copy:
///   as_mdspan<cuda::std::mdspan<float, cuda::std::dextents<int, 2>, cuda::std::layout_stride>>(a)
///
/// @throws layout_error if the mdspan's layout cannot have these strides, in particular negative
///   ones
/// @throws shape_error if the mdspan's extents cannot have this shape
///
/// *Lifetime:* the memory must outlive the mdspan.
template <detail::mdspan_like M, class T, std::size_t N>
[[nodiscard]] M as_mdspan(host_view<T, N> const& view) {
  return detail::mdspan_of<M>(view);
}
/// Returns an mdspan over device memory, for kernels; otherwise as the overload for host views. The
/// host must not access the elements.
template <detail::mdspan_like M, class T, std::size_t N>
[[nodiscard]] M as_mdspan(device_view<T, N> const& view) {
  return detail::mdspan_of<M>(view);
}
/// Returns an mdspan over an array. The array must be an lvalue, because the mdspan would outlive a
/// temporary.
template <detail::mdspan_like M, detail::owning_array A>
[[nodiscard]] M as_mdspan(A&& array) {
  static_assert(std::is_lvalue_reference_v<A>, "rocarray: the mdspan would outlive this array");
  return detail::mdspan_of<M>(array.view());
}

#if defined(__cpp_lib_mdspan)
/// Returns a std::mdspan with layout_stride over host memory. Throws as the overload that names the
/// type.
template <class T, std::size_t N>
[[nodiscard]] auto as_mdspan(host_view<T, N> const& view) {
  return detail::mdspan_of<std::mdspan<T, std::dextents<std::size_t, N>, std::layout_stride>>(view);
}
/// Returns an mdspan over device memory, for kernels; otherwise as the overload for host views. The
/// host must not access the elements.
template <class T, std::size_t N>
[[nodiscard]] auto as_mdspan(device_view<T, N> const& view) {
  return detail::mdspan_of<std::mdspan<T, std::dextents<std::size_t, N>, std::layout_stride>>(view);
}
/// Returns an mdspan over an array. The array must be an lvalue, because the mdspan would outlive a
/// temporary.
template <detail::owning_array A>
[[nodiscard]] auto as_mdspan(A&& array) {
  static_assert(std::is_lvalue_reference_v<A>, "rocarray: the mdspan would outlive this array");
  return as_mdspan(array.view());
}
#endif

/// Returns a view of the device memory of an mdspan, without a copy.
/// @param device ordinal of the device, as for device_view
///
/// *Lifetime:* the memory must outlive the view.
template <detail::mdspan_like M>
[[nodiscard]] auto as_device_view(M const& span, int device = -1) {
  return device_view<typename M::element_type, M::rank()>(
      span.data_handle(), detail::shape_of(span), detail::strides_of(span), device);
}

}  // namespace roc
