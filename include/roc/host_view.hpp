// SPDX-License-Identifier: MIT
// A borrowed view of host memory: a pointer, a shape and strides.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <source_location>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <roc/config.hpp>
#include <roc/detail/argument_traits.hpp>
#include <roc/detail/call_scope.hpp>
#include <roc/detail/misuse.hpp>
#include <roc/detail/view_functions.hpp>
#include <roc/layout/index.hpp>
#include <roc/layout/shape.hpp>
#include <roc/stream.hpp>

namespace roc {

/// A view of host memory in any strided layout. It borrows: the memory must outlive it, and the
/// views that its members return. Trivially copyable. Const is shallow, as for a pointer: for
/// read-only elements use host_view<T const, N>.
///
/// Strides count elements and may be negative or 0.
template <class T, std::size_t N = 1>
class host_view {
  static_assert(std::is_trivially_copyable_v<T>,
                "rocarray: the element type must be trivially copyable");

 public:
  using element_type = T;                  ///< with const, as in std::mdspan
  using value_type = std::remove_cv_t<T>;  ///< without const, as in std::mdspan
  static constexpr std::size_t rank = N;   ///< the number of axes

  /// @name Construction
  ///@{
  constexpr host_view() = default;  ///< Creates an empty view: null, all extents 0.
  /// Creates a view of contiguous memory. Throws shape_error if the size in bytes overflows.
  constexpr host_view(T* data, roc::shape<N> const& shape, order o = order::c)
      : host_view(data, shape, layout::compact_strides(shape, o)) {}
  /// Creates a view with strides. `data` is the element at index 0 of every axis. Throws
  /// shape_error if the size in bytes overflows.
  constexpr host_view(T* data, roc::shape<N> const& shape, roc::strides<N> const& strides)
      : data_(data), shape_(shape), strides_(strides) {
    layout::check_size(shape, sizeof(T));
  }
  /// Creates a view of a contiguous range: std::vector, std::array, std::span, a C array. Not of a
  /// temporary that owns its memory.
  template <class R>
    requires(
        N == 1 && !std::same_as<std::remove_cvref_t<R>, host_view> &&
        !requires { std::remove_cvref_t<R>::rank; } &&  // arrays have their own conversion
        (std::is_lvalue_reference_v<R> ||
         std::ranges::enable_borrowed_range<std::remove_cvref_t<R>>) &&
        requires(R&& r) {
          { std::data(r) } -> std::convertible_to<T*>;
          requires std::same_as<std::remove_cv_t<std::remove_pointer_t<decltype(std::data(r))>>,
                                std::remove_cv_t<T>>;
          std::size(r);
        })
  constexpr host_view(R&& range)  // NOLINT: implicit, as for std::span
      : host_view(std::data(range), roc::shape<1>{std::size(range)}) {}
  /// Creates a view of a std::mdspan, or of a class with its members, with the default accessor.
  template <detail::mdspan_like M>
    requires(M::rank() == N && std::convertible_to<typename M::data_handle_type, T*> &&
             std::same_as<typename M::value_type, std::remove_cv_t<T>>)
  constexpr host_view(M const& span)  // NOLINT: implicit, as for ranges
      : host_view(span.data_handle(), detail::shape_of(span), detail::strides_of(span)) {}
  /// Converts to a view of const elements.
  template <class U>
    requires(std::is_const_v<T> && std::same_as<U, value_type>)
  constexpr host_view(host_view<U, N> const& other)  // NOLINT: implicit, as for pointers
      : host_view(other.data(), other.shape(), other.strides()) {}
  ///@}

  /// @name Observers
  ///@{

  /// Returns the address of the element at index 0 of every axis.
  constexpr T* data() const noexcept { return data_; }
  /// Returns the number of elements along each axis.
  constexpr roc::shape<N> const& shape() const noexcept { return shape_; }
  /// Returns the strides: signed, in elements.
  constexpr roc::strides<N> const& strides() const noexcept { return strides_; }
  /// Returns the number of elements along one axis, which must be less than the rank.
  constexpr std::size_t extent(std::size_t axis) const noexcept { return shape_[axis]; }
  /// Returns the number of elements.
  constexpr std::size_t size() const noexcept { return layout::element_count(shape_); }
  /// Returns the bytes of the elements, without gaps.
  constexpr std::size_t size_bytes() const { return size() * sizeof(T); }
  /// Returns true if the elements are contiguous in C order. Axes of extent 1 do not matter; views
  /// without elements are contiguous.
  constexpr bool is_c_contiguous() const { return layout::is_c_contiguous(shape_, strides_); }
  /// Returns true if the elements are contiguous in F order.
  constexpr bool is_f_contiguous() const { return layout::is_f_contiguous(shape_, strides_); }
  /// Returns the range [low, high) of offsets from data(), in elements, that the view spans.
  constexpr layout::element_range_t element_range() const {
    return layout::element_range(shape_, strides_);
  }
  /// Returns -1: host memory belongs to no device.
  static constexpr int device_ordinal() noexcept { return -1; }
  /// Returns this view, for code that takes arrays and views.
  constexpr host_view view() const noexcept { return *this; }
  ///@}

  /// @name Elements and regions
  ///@{

  /// Returns an element, for one integer per axis; negative integers count from the end. Throws
  /// shape_error if an index is out of bounds.
  template <layout::integer_index... I>
    requires(sizeof...(I) == N)
  constexpr T& operator()(I... index) const {
    return data_[layout::index(detail::mapping_of(*this), index...).offset];
  }
  /// Returns a view of a region, for integers, roc::slice, roc::all, roc::newaxis and
  /// roc::ellipsis. Throws shape_error if an index is out of bounds. The wrong number of
  /// expressions does not compile.
  template <layout::index_expression... E>
    requires(layout::indexable_with<N, E...> && !(layout::integer_index<E> && ...))
  constexpr host_view<T, layout::index_rank<N, E...>> operator()(E... expressions) const {
    return region(expressions...);
  }
  /// Returns a view of a region as operator() does, but of a single element a view of rank 0.
  template <layout::index_expression... E>
    requires layout::indexable_with<N, E...>
  constexpr host_view<T, layout::index_rank<N, E...>> region(E... expressions) const {
    return detail::with_mapping(*this, layout::index(detail::mapping_of(*this), expressions...));
  }
  ///@}

  /// @name Other views of the same memory
  ///@{

  /// Returns a view with other extents and the same elements in C order. One extent may be -1.
  /// Throws shape_error if the sizes differ, and layout_error if it needs a copy: see reshape_copy.
  template <std::integral... E>
  constexpr host_view<T, sizeof...(E)> reshape(E... extents) const {
    return detail::reshaped(*this, detail::signed_extents(extents...), order::c);
  }
  /// Returns a view with other extents and the same elements in the order `o` (numba:
  /// `reshape(shape, order=)`). Throws shape_error if the sizes differ, and layout_error if it
  /// needs a copy: see reshape_copy.
  template <std::size_t M>
  constexpr host_view<T, M> reshape(roc::shape<M> const& extents, order o = order::c,
                                    detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return detail::reshaped(*this, layout::detail::exact_extents(extents), o);
  }
  /// Returns a view of rank 1 of all elements in the order `o`. Throws layout_error if it needs a
  /// copy: see ravel_copy.
  constexpr host_view<T, 1> ravel(order o = order::c,
                                  detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return detail::reshaped(*this, layout::signed_shape<1>{-1}, o);
  }
  /// Returns a view without the given axes. Throws shape_error if the extent of one is not 1.
  template <std::size_t... Axes>
    requires(sizeof...(Axes) > 0)
  constexpr auto squeeze(detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return detail::with_mapping(*this, layout::squeeze<Axes...>(detail::mapping_of(*this)));
  }
  /// Returns a view without any axis of extent 1 (numba: `squeeze()`). Throws shape_error if the
  /// number of other axes is not M.
  template <std::size_t M>
    requires(M <= N)
  constexpr host_view<T, M> squeeze_to(detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return detail::with_mapping(*this, layout::squeeze_to<M>(detail::mapping_of(*this)));
  }
  /// Returns a view with the axes in reverse order.
  constexpr host_view transpose(detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return transpose(layout::reversed_axes<N>());
  }
  /// Returns a view whose axis i is axis axes[i]. Throws layout_error if `axes` is no permutation.
  constexpr host_view transpose(std::array<std::size_t, N> const& axes,
                                detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return detail::with_mapping(*this, layout::transpose(detail::mapping_of(*this), axes));
  }
  /// Returns views of sections of `section` indices along an axis; the last one may be shorter
  /// (numba: `split`). Throws shape_error if `section` is 0 or `axis` is not less than the rank.
  std::vector<host_view> split(std::size_t section, std::size_t axis = 0,
                               detail::caller at = std::source_location::current()) const
    requires(N > 0)
  {
    detail::call_scope const call(__func__, at);
    return detail::split_view(*this, section, axis);
  }
  /// Returns a view of the same bytes as elements of type U (numba: `view`). The extent of the axis
  /// of stride 1 changes with the size of the elements. Throws layout_error if there is no such
  /// axis, or if sizes, strides or the address do not fit, and shape_error if the extent does not.
  template <class U>
    requires(std::is_trivially_copyable_v<U> && !std::is_const_v<U>)
  host_view<detail::with_const_of<T, U>, N> as(
      detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return detail::reinterpret_view<U>(*this);
  }
  /// Returns a view of one member of every record (numba: `record_array[field]`). Throws
  /// layout_error if the member's size does not divide the record's: see field_copy.
  template <class U, class Record>
    requires std::derived_from<value_type, Record>
  host_view<detail::with_const_of<T, U>, N> field(
      U Record::*member, detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return detail::field_view(*this, member);
  }
  ///@}

  /// @name New arrays
  /// These return a compact array in pageable host memory. They work for any layout, are complete
  /// on return, and throw what roc::copy throws, and out_of_memory.
  ///@{

  /// Returns the elements in C order with other extents; one may be -1. Throws shape_error if the
  /// sizes differ.
  template <std::integral... E>
  host_array<value_type, sizeof...(E)> reshape_copy(E... extents) const {
    return detail::reshaped_copy(*this, detail::signed_extents(extents...), order::c);
  }
  /// Returns the elements in the order `o` with other extents. Throws shape_error if the sizes
  /// differ.
  template <std::size_t M>
  host_array<value_type, M> reshape_copy(
      roc::shape<M> const& extents, order o = order::c,
      detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return detail::reshaped_copy(*this, layout::detail::exact_extents(extents), o);
  }
  /// Returns all elements in the order `o`, with rank 1.
  host_array<value_type, 1> ravel_copy(order o = order::c,
                                       detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return detail::reshaped_copy(*this, layout::signed_shape<1>{-1}, o);
  }
  /// Returns the bytes of the elements, in C order, as elements of type U. Throws shape_error if
  /// the extent of the last axis does not fit.
  template <class U>
  host_array<U, N> as_copy(detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return detail::duplicate(*this, order::c).template as<U>();
  }
  /// Returns one member of every record, in C order. The member may have any size.
  template <class U, class Record>
    requires std::derived_from<value_type, Record>
  host_array<U, N> field_copy(U Record::*member,
                              detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return detail::field_copy(*this, member);
  }
  ///@}

  /// @name Fills
  /// Gaps are not touched. Without a stream: ordered after all work enqueued earlier, and complete
  /// on return. With a stream: enqueued there; the memory must live until the stream has been
  /// synchronized. They throw lifetime_error (null with elements) and roc::error.
  ///@{

  /// Writes zero bytes to every element.
  void zero(detail::caller at = std::source_location::current()) const
    requires(!std::is_const_v<T>)
  {
    detail::call_scope const call(__func__, at);
    detail::zero_view(*this, nullptr);
  }
  /// Enqueues zero().
  void zero(stream_ref stream, detail::caller at = std::source_location::current()) const
    requires(!std::is_const_v<T>)
  {
    detail::call_scope const call(__func__, at);
    detail::zero_view(*this, &stream);
  }
  /// Writes `value` to every element, of 1 to 16 bytes.
  void fill(std::type_identity_t<T> const& value,
            detail::caller at = std::source_location::current()) const
    requires detail::correct_use<detail::fill_misuse<T>>
  {
    detail::call_scope const call(__func__, at);
    detail::fill_view(*this, value, nullptr);
  }
  /// Enqueues fill(value). The value has been read on return.
  void fill(std::type_identity_t<T> const& value, stream_ref stream,
            detail::caller at = std::source_location::current()) const
    requires detail::correct_use<detail::fill_misuse<T>>
  {
    detail::call_scope const call(__func__, at);
    detail::fill_view(*this, value, &stream);
  }
  ///@}

  /// Deleted: the reason is in the compiler's message.
  ///@{
  template <detail::incorrect_use Reason = detail::write_misuse<T>>
  void zero() const = delete;
  template <detail::incorrect_use Reason = detail::write_misuse<T>>
  void zero(stream_ref stream) const = delete;
  template <detail::incorrect_use Reason = detail::fill_misuse<T>>
  void fill(std::type_identity_t<T> const& value) const = delete;
  template <detail::incorrect_use Reason = detail::fill_misuse<T>>
  void fill(std::type_identity_t<T> const& value, stream_ref stream) const = delete;
  ///@}

 private:
  T* data_ = nullptr;
  roc::shape<N> shape_{};
  roc::strides<N> strides_{};
};

/// Deduces element type and rank.
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
