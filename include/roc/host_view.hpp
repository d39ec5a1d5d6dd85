// SPDX-License-Identifier: MIT
// A borrowed view of host memory: a pointer, a shape and strides.
#pragma once

#include <concepts>
#include <cstddef>
#include <iterator>
#include <span>
#include <type_traits>
#include <utility>

#include <roc/config.hpp>
#include <roc/detail/copy_forms.hpp>
#include <roc/detail/mdspan.hpp>
#include <roc/detail/view_operations.hpp>
#include <roc/layout/index.hpp>
#include <roc/layout/shape.hpp>

namespace roc {

/// Host memory of someone else, in any strided layout. Trivially copyable; the memory must outlive
/// it. Strides count elements and may be negative.
///
/// detail::view_operations has other views of the same memory and fills, detail::copy_forms what
/// makes new arrays.
template <class T, std::size_t N = 1>
class host_view : public detail::view_operations<host_view<T, N>, T, N>,
                  public detail::copy_forms<host_view<T, N>, T, N> {
  static_assert(std::is_trivially_copyable_v<T>, "rocarray: elements are copied byte by byte");

 public:
  using element_type = T;                  ///< as std::mdspan calls it
  using value_type = std::remove_cv_t<T>;  ///< as std::mdspan calls it
  static constexpr std::size_t rank = N;   ///< the number of axes
  static constexpr detail::place memory_place = detail::place::host;

  constexpr host_view() = default;  ///< of nothing: null, all extents 0
  /// Contiguous, in C order. Throws shape_error where the size in bytes overflows.
  constexpr host_view(T* data, roc::shape<N> const& shape, order o = order::c)
      : host_view(data, shape, layout::compact_strides(shape, o)) {}
  /// With strides in elements, which may be negative or 0.
  constexpr host_view(T* data, roc::shape<N> const& shape, roc::strides<N> const& strides)
      : data_(data), shape_(shape), strides_(strides) {
    layout::check_size(shape, sizeof(T));
  }
  /// Of a contiguous range: std::vector, std::array, std::span, a C array.
  template <class R>
    requires(N == 1 && !std::same_as<std::remove_cvref_t<R>, host_view> &&
             !requires { std::remove_cvref_t<R>::rank; } &&  // arrays give views of their own
             (std::is_lvalue_reference_v<R> ||  // a temporary's memory goes with it
              std::ranges::enable_borrowed_range<std::remove_cvref_t<R>>) &&
             requires(R&& r) {
               { std::data(r) } -> std::convertible_to<T*>;
               requires std::same_as<std::remove_cv_t<std::remove_pointer_t<decltype(std::data(r))>>,
                                     std::remove_cv_t<T>>;
               std::size(r);
             })
  constexpr host_view(R&& range)  // NOLINT: implicit, as std::span is
      : host_view(std::data(range), roc::shape<1>{std::size(range)}) {}
  /// Of a std::mdspan, or what has its members, with strides (not an accessor of its own).
  template <detail::mdspan_like M>
    requires(M::rank() == N && std::convertible_to<typename M::data_handle_type, T*> &&
             std::same_as<typename M::value_type, std::remove_cv_t<T>>)
  constexpr host_view(M const& span)  // NOLINT: implicit, as the others are
      : host_view(span.data_handle(), detail::shape_of(span), detail::strides_of(span)) {}
  /// From a view of elements that can be changed, to one of const elements.
  template <class U>
    requires(std::is_const_v<T> && std::same_as<U, value_type>)
  constexpr host_view(host_view<U, N> const& other)  // NOLINT: implicit, as for pointers
      : host_view(other.data(), other.shape(), other.strides()) {}

  /// The element of index 0 on each axis.
  constexpr T* data() const noexcept { return data_; }
  /// Elements along each axis.
  constexpr roc::shape<N> const& shape() const noexcept { return shape_; }
  /// In elements, signed.
  constexpr roc::strides<N> const& strides() const noexcept { return strides_; }
  /// Elements along one axis, which must be less than the rank.
  constexpr std::size_t extent(std::size_t axis) const noexcept { return shape_[axis]; }
  /// Elements in all.
  constexpr std::size_t size() const noexcept { return layout::element_count(shape_); }
  constexpr host_view view() const noexcept { return *this; }  ///< itself, as arrays give one
  /// No device: host memory.
  static constexpr int device_ordinal() noexcept { return -1; }

  /// An element, for one integer per axis; throws shape_error beyond the extent. Negative integers
  /// count from the end.
  template <layout::integer_index... I>
    requires(sizeof...(I) == N)
  constexpr T& operator()(I... index) const {
    return data_[layout::index(this->mapping(), index...).offset];
  }
  /// A view of a region; see roc::slice.
  template <layout::index_expression... E>
    requires(layout::indexes<N, E...> && !(layout::integer_index<E> && ...))
  constexpr auto operator()(E... expressions) const {
    return this->region(expressions...);
  }

  /// First and one past the last element that the view spans, relative to data().
  constexpr layout::element_range_t element_range() const {
    return layout::element_range(shape_, strides_);
  }

 private:
  template <class, class, std::size_t>
  friend class detail::view_operations;

  template <class U, std::size_t M>
  static constexpr host_view<U, M> same_memory(U* data, roc::shape<M> const& shape,
                                               roc::strides<M> const& strides) {
    return {data, shape, strides};
  }

  T* data_ = nullptr;
  roc::shape<N> shape_{};
  roc::strides<N> strides_{};
};

/// Element type and rank as those of what the view is made of.
///@{
template <class T, std::size_t N>
host_view(T*, shape<N> const&) -> host_view<T, N>;
template <class T, std::size_t N>
host_view(T*, shape<N> const&, order) -> host_view<T, N>;
template <class T, std::size_t N>
host_view(T*, shape<N> const&, strides<N> const&) -> host_view<T, N>;

template <class R>
  requires(!detail::mdspan_like<std::remove_cvref_t<R>> && requires(R&& r) { std::data(r); })
host_view(R&&) -> host_view<std::remove_pointer_t<decltype(std::data(std::declval<R&>()))>, 1>;
template <detail::mdspan_like M>
host_view(M const&) -> host_view<typename M::element_type, M::rank()>;
///@}

}  // namespace roc
