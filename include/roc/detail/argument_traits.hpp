// SPDX-License-Identifier: MIT
// Concepts for arguments of copies, fills and registrations: arrays, views and ranges.
#pragma once

#include <concepts>
#include <cstddef>
#include <iterator>
#include <span>
#include <type_traits>

#include <roc/detail/strided_region.hpp>
#include <roc/detail/throw.hpp>
#include <roc/layout/shape.hpp>

namespace roc {

template <class T, std::size_t N>
class device_array;
template <class T, std::size_t N>
class device_view;
template <class T, std::size_t N>
class host_array;
template <class T, std::size_t N>
class host_view;
template <class T, std::size_t N>
class bound_view;
template <class T>
class element;

namespace detail {

// Specializations for each class, which need not be complete.
template <class X>
inline constexpr bool device_array_type = false;
template <class T, std::size_t N>
inline constexpr bool device_array_type<device_array<T, N>> = true;
template <class X>
inline constexpr bool device_view_type = false;
template <class T, std::size_t N>
inline constexpr bool device_view_type<device_view<T, N>> = true;
template <class T>
inline constexpr bool device_view_type<element<T>> = true;
template <class X>
inline constexpr bool host_array_type = false;
template <class T, std::size_t N>
inline constexpr bool host_array_type<host_array<T, N>> = true;
template <class X>
inline constexpr bool host_view_type = false;
template <class T, std::size_t N>
inline constexpr bool host_view_type<host_view<T, N>> = true;

template <class X>
concept is_device_array = device_array_type<std::remove_cvref_t<X>>;
template <class X>
concept is_device_view = device_view_type<std::remove_cvref_t<X>>;
template <class X>
concept is_host_array = host_array_type<std::remove_cvref_t<X>>;
template <class X>
concept is_host_view = host_view_type<std::remove_cvref_t<X>>;

/// Device memory: an array or a view.
template <class X>
concept device_argument = is_device_array<X> || is_device_view<X>;
/// An array of the library, which owns its memory.
template <class X>
concept owning_array = is_device_array<X> || is_host_array<X>;

/// The memory that a view of the library refers to.
template <class View>
inline constexpr memory_space memory_space_of =
    is_device_view<View> ? memory_space::device : memory_space::host;

/// `U const` if T is const, else U.
template <class T, class U>
using with_const_of = std::conditional_t<std::is_const_v<T>, U const, U>;

/// False if M's mapping has no member stride: that of a layout that is never strided need not have
/// it. The member of std::mdspan that calls it exists even so, but does not compile.
template <class M>
constexpr bool has_stride_of_mapping() {
  if constexpr (M::rank() != 0 && requires(M const& m) { m.mapping(); }) {
    return requires(M const& m, std::size_t axis) { m.mapping().stride(axis); };
  } else {
    return true;
  }
}

/// A std::mdspan, or a class with its members: standard libraries without it can then use the
/// reference implementation. Its elements must be in memory, so an accessor that computes values
/// does not match. If its layout is not always strided, the mdspan tells whether it is.
template <class M>
concept mdspan_like = requires(M const& m, std::size_t axis) {
  typename M::element_type;
  typename M::value_type;
  typename M::data_handle_type;
  typename M::mapping_type;
  requires std::is_pointer_v<typename M::data_handle_type>;
  requires std::same_as<typename M::reference, typename M::element_type&>;
  requires M::is_always_strided() || requires {
    { m.is_strided() } -> std::convertible_to<bool>;
  };
  requires has_stride_of_mapping<M>();
  { M::rank() } -> std::convertible_to<std::size_t>;
  { m.data_handle() } -> std::same_as<typename M::data_handle_type const&>;
  { m.extent(axis) } -> std::convertible_to<std::size_t>;
  { m.stride(axis) } -> std::convertible_to<std::ptrdiff_t>;
};

/// Returns the extents of an mdspan.
template <mdspan_like M>
constexpr auto shape_of([[maybe_unused]] M const& span) {
  shape<M::rank()> result{};
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = static_cast<std::size_t>(span.extent(i));
  }
  return result;
}

/// Returns the strides of an mdspan, in elements. Throws layout_error if it is not strided. Whether
/// elements share memory follows from the strides.
template <mdspan_like M>
constexpr auto strides_of([[maybe_unused]] M const& span) {
  strides<M::rank()> result{};
  if constexpr (!M::is_always_strided()) {
    if (!span.is_strided()) {
      throw_layout_error(
          "the layout of the mdspan is not strided; copy its elements into a strided mdspan first");
    }
  }
  if constexpr (M::rank() != 0) {  // stride(i) does not exist for rank 0
    for (std::size_t i = 0; i < result.size(); ++i) {
      result[i] = static_cast<std::ptrdiff_t>(span.stride(i));
    }
  }
  return result;
}

/// A range with std::data and std::size: std::vector, std::array, std::span, a C array. Device
/// arrays have data() and size() too, so functions that take host memory exclude them.
template <class X>
concept sized_data = requires(X& x) {
  { *std::data(x) };
  { std::size(x) } -> std::convertible_to<std::size_t>;
  requires std::is_pointer_v<decltype(std::data(x))>;
};

/// A contiguous range of elements that can be copied byte by byte.
template <class X>
concept contiguous_range = sized_data<X> && requires(X& x) {
  requires std::is_trivially_copyable_v<std::remove_reference_t<decltype(*std::data(x))>>;
};

/// A C array, of any rank, of elements that can be copied byte by byte.
template <class X>
concept copyable_c_array =
    std::is_array_v<std::remove_reference_t<X>> &&
    std::is_trivially_copyable_v<std::remove_all_extents_t<std::remove_reference_t<X>>>;

/// Host memory: a host array or view, a C array of any rank, a contiguous range, an mdspan.
template <class H>
concept host_argument =
    !device_argument<H> && (is_host_view<H> || is_host_array<H> || copyable_c_array<H> ||
                            (!std::is_array_v<std::remove_reference_t<H>> && contiguous_range<H>) ||
                            mdspan_like<std::remove_cvref_t<H>>);

/// An operand of a copy: device or host memory.
template <class X>
concept copy_argument = host_argument<X> || device_argument<X>;

/// An rvalue that owns its memory, which is freed at the end of the full expression. Views, spans
/// and mdspans own nothing and may be temporaries.
template <class H>
concept owning_temporary = !std::is_lvalue_reference_v<H> && !is_host_view<H> &&
                           !is_device_view<H> && !mdspan_like<std::remove_cvref_t<H>> &&
                           (is_host_array<H> || std::is_array_v<std::remove_reference_t<H>> ||
                            !std::ranges::enable_borrowed_range<std::remove_cvref_t<H>>);

/// The direction of a copy from S to D, for messages.
template <class S, class D>
inline constexpr char const* copy_direction =
    device_argument<S> ? (device_argument<D> ? "device to device" : "device to host")
                       : (device_argument<D> ? "host to device" : "host to host");
/// The direction of a copy from S to device memory.
template <class S>
inline constexpr char const* direction_to_device =
    device_argument<S> ? "device to device" : "host to device";

}  // namespace detail
}  // namespace roc
