// SPDX-License-Identifier: MIT
// A borrowed view of device memory, for copies and for kernels.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <source_location>
#include <type_traits>
#include <vector>

#include <roc/config.hpp>
#include <roc/copy.hpp>
#include <roc/detail/argument_traits.hpp>
#include <roc/detail/call_scope.hpp>
#include <roc/detail/copy_operand.hpp>
#include <roc/detail/kernel_support.hpp>
#include <roc/detail/view_functions.hpp>
#include <roc/host_array.hpp>
#include <roc/layout/index.hpp>
#include <roc/layout/shape.hpp>
#include <roc/stream.hpp>

namespace roc {

/// A view of device memory in any strided layout. It borrows: the memory must outlive it, the views
/// that its members return, and the work enqueued with them. Trivially copyable, so it is passed to
/// kernels by value. Const is shallow, as for a pointer: for read-only elements use
/// device_view<T const, N>.
///
/// Strides are signed and count elements. Kernels may call the members that are marked
/// ROCARRAY_HOST_DEVICE.
template <class T, std::size_t N = 1>
class device_view {
  static_assert(std::is_trivially_copyable_v<T>,
                "rocarray: the element type must be trivially copyable");

 public:
  using element_type = T;                  ///< with const, as in std::mdspan
  using value_type = std::remove_cv_t<T>;  ///< without const, as in std::mdspan
  static constexpr std::size_t rank = N;   ///< the number of axes

  /// @name Construction
  ///@{
  device_view() = default;  ///< Creates an empty view: null, all extents 0.
  /// Creates a view of contiguous device memory. `device` is the ordinal of its device; -1 is the
  /// device that is current at the time of use. Throws shape_error if the size in bytes overflows.
  device_view(T* data, roc::shape<N> const& shape, order o = order::c, int device = -1)
      : device_view(data, shape, layout::compact_strides(shape, o), device) {}
  /// Creates a view with strides, in elements, which may be negative or 0. `data` is the element at
  /// index 0 of every axis. Throws shape_error if the size in bytes overflows.
  device_view(T* data, roc::shape<N> const& shape, roc::strides<N> const& strides, int device = -1)
      : data_(data), shape_(shape), strides_(strides), device_(device) {
    layout::check_size(shape, sizeof(T));
  }
  /// Converts to a view of const elements.
  template <class U>
    requires(std::is_const_v<T> && std::same_as<U, value_type>)
  ROCARRAY_HOST_DEVICE device_view(
      device_view<U, N> const& other)  // NOLINT: implicit, as for pointers
      : data_(other.data_),
        shape_(other.shape_),
        strides_(other.strides_),
        device_(other.device_) {}
  ///@}

  /// @name Observers
  ///@{

  /// Returns the device address of the element at index 0 of every axis. The host must not
  /// dereference it.
  ROCARRAY_HOST_DEVICE T* data() const noexcept { return data_; }
  /// Returns the number of elements along each axis. For host code; kernels call extent.
  roc::shape<N> shape() const noexcept { return shape_.to_array(); }
  /// Returns the strides: signed, in elements. For host code; kernels call stride.
  roc::strides<N> strides() const noexcept { return strides_.to_array(); }
  /// Returns the number of elements along one axis, which must be less than the rank.
  ROCARRAY_HOST_DEVICE std::size_t extent(std::size_t axis) const noexcept { return shape_[axis]; }
  /// Returns the distance in elements from one index of an axis to the next.
  ROCARRAY_HOST_DEVICE std::ptrdiff_t stride(std::size_t axis) const noexcept {
    return strides_[axis];
  }
  /// Returns the number of elements.
  ROCARRAY_HOST_DEVICE std::size_t size() const noexcept {
    std::size_t count = 1;
    for (std::size_t i = 0; i != N; ++i) count *= shape_[i];
    return count;
  }
  /// Returns the bytes of the elements, without gaps.
  std::size_t size_bytes() const { return size() * sizeof(T); }
  /// Returns true if the elements are contiguous in C order. Axes of extent 1 do not matter; views
  /// without elements are contiguous.
  bool is_c_contiguous() const { return layout::is_c_contiguous(shape(), strides()); }
  /// Returns true if the elements are contiguous in F order.
  bool is_f_contiguous() const { return layout::is_f_contiguous(shape(), strides()); }
  /// Returns the ordinal of the device that has the memory; -1 is the device that is current at the
  /// time of use.
  int device_ordinal() const noexcept { return device_; }
  /// Returns this view, for code that takes arrays and views.
  device_view view() const noexcept { return *this; }
  ///@}

  /// @name Elements and regions
  /// Integers may be negative: they count from the end. In host code, which includes kernels of the
  /// host platform, an index out of bounds throws shape_error. Device code does not check, unless
  /// ROCARRAY_CHECK_BOUNDS is 1.
  ///@{

  /// Returns one element, for one integer per axis: see element.
  template <bool Checked = detail::check_bounds, layout::integer_index... I>
    requires(sizeof...(I) == N)
  ROCARRAY_HOST_DEVICE element<T> operator()(I... index) const {
    [[maybe_unused]] std::size_t axis = 0;
    std::ptrdiff_t offset = 0;
    ((offset += layout::detail::resolve_index<Checked>(index, axis, shape_[axis]) * strides_[axis],
      ++axis),
     ...);
    return element<T>(device_view<T, 0>(data_ + offset, device_));
  }
  /// Returns a view of a region, for integers, roc::slice, roc::all, roc::newaxis and
  /// roc::ellipsis. The wrong number of expressions does not compile.
  template <bool Checked = detail::check_bounds, layout::index_expression... E>
    requires(layout::indexable_with<N, E...> && !(layout::integer_index<E> && ...))
  ROCARRAY_HOST_DEVICE auto operator()(E... expressions) const {
    auto const mapping = layout::detail::index<Checked>(
        layout::detail::kernel_mapping<N>{shape_, strides_, 0}, expressions...);
    return device_view<T, layout::index_rank<N, E...>>(
        data_ == nullptr ? nullptr : data_ + mapping.offset, mapping, device_);
  }
  /// Returns a view of a region as operator() does, of a single element a view of rank 0. For host
  /// code.
  template <layout::index_expression... E>
    requires layout::indexable_with<N, E...>
  device_view<T, layout::index_rank<N, E...>> region(E... expressions) const {
    return detail::with_mapping(*this, layout::index(detail::mapping_of(*this), expressions...));
  }
  ///@}

  /// @name Copies
  /// Without a stream: ordered after all work enqueued earlier on the device through the library,
  /// and complete on return. With a stream: enqueued there; lifetimes are as for
  /// roc::copy(from, to, stream). They throw what roc::copy throws.
  ///@{

  /// Returns a new pageable host array with the same shape and order of axes (numba:
  /// `copy_to_host`). Throws also out_of_memory.
  host_array<value_type, N> copy_to_host(detail::caller at = std::source_location::current()) const;
  /// Enqueues the copy to a new host array, which is complete after synchronization. The array's
  /// destructor blocks until the copy has finished.
  host_array<value_type, N> copy_to_host(stream_ref stream,
                                         detail::caller at = std::source_location::current()) const;
  /// Copies the elements into existing host memory: array, view or contiguous range.
  template <detail::host_argument H>
    requires detail::copyable_to<device_view&, H>
  void copy_to_host(H&& to, detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at, "device to host");
    copy(*this, detail::view_of(to));
  }
  /// Enqueues a copy into existing host memory. A pageable destination is complete after
  /// synchronization.
  template <detail::host_argument H>
    requires detail::async_copyable_to<device_view&, H>
  void copy_to_host(H&& to, stream_ref stream,
                    detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at, "device to host");
    copy(*this, detail::view_of(to), stream);
  }
  /// Copies host or device memory into this view (numba: `copy_to_device`).
  template <detail::copy_argument S>
    requires detail::copyable_to<S, device_view&>
  void copy_to_device(S&& from, detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at, detail::direction_to_device<S>);
    copy(detail::view_of(from), *this);
  }
  /// Enqueues a copy into this view.
  template <detail::copy_argument S>
    requires detail::async_copyable_to<S, device_view&>
  void copy_to_device(S&& from, stream_ref stream,
                      detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at, detail::direction_to_device<S>);
    copy(detail::view_of(from), *this, stream);
  }
  /// Enqueues a copy into this view. The source must live, and must not change, until the stream
  /// has been synchronized.
  template <detail::copy_argument S>
    requires detail::async_copyable_to<S, device_view&>
  void copy_to_device(S&& from, stream_ref stream, borrow_source_t,
                      detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at, detail::direction_to_device<S>);
    copy(detail::view_of(from), *this, stream, borrow_source);
  }
  /// Returns the value of the one element of a view of rank 0 (numba: `array[i]`).
  value_type get(detail::caller at = std::source_location::current()) const
    requires(N == 0);
  /// Sets the value of the one element of a view of rank 0 (numba: `array[i] = value`).
  void set(std::type_identity_t<T> const& value,
           detail::caller at = std::source_location::current()) const
    requires(N == 0 && !std::is_const_v<T>);
  /// Enqueues set(value). The value has been read on return.
  void set(std::type_identity_t<T> const& value, stream_ref stream,
           detail::caller at = std::source_location::current()) const
    requires(N == 0 && !std::is_const_v<T>);
  /// Returns this view with a default stream, on which its operations are then enqueued (numba:
  /// `bind`).
  bound_view<T, N> bind(stream_ref stream) const { return {*this, stream}; }
  bound_view<T, N> bind(class stream&&) const = delete;  // the stream would be destroyed
  ///@}

  /// @name Fills
  /// Gaps are not touched. Without a stream: ordered after all work enqueued earlier on the device,
  /// and complete on return. With a stream: enqueued there. They throw lifetime_error (null with
  /// elements) and roc::error.
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

  /// @name Other views of the same memory
  ///@{

  /// Returns a view with other extents and the same elements in C order. One extent may be -1.
  /// Throws shape_error if the sizes differ, and layout_error if it needs a copy: see reshape_copy.
  template <std::integral... E>
  device_view<T, sizeof...(E)> reshape(E... extents) const {
    return detail::reshaped(*this, detail::signed_extents(extents...), order::c);
  }
  /// Returns a view with other extents and the same elements in the order `o` (numba:
  /// `reshape(shape, order=)`). Throws shape_error if the sizes differ, and layout_error if it
  /// needs a copy: see reshape_copy.
  template <std::size_t M>
  device_view<T, M> reshape(roc::shape<M> const& extents, order o = order::c,
                            detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return detail::reshaped(*this, layout::detail::exact_extents(extents), o);
  }
  /// Returns a view of rank 1 of all elements in the order `o`. Throws layout_error if it needs a
  /// copy: see ravel_copy.
  device_view<T, 1> ravel(order o = order::c,
                          detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return detail::reshaped(*this, layout::signed_shape<1>{-1}, o);
  }
  /// Returns a view without the given axes. Throws shape_error if the extent of one is not 1.
  template <std::size_t... Axes>
    requires(sizeof...(Axes) > 0)
  auto squeeze(detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return detail::with_mapping(*this, layout::squeeze<Axes...>(detail::mapping_of(*this)));
  }
  /// Returns a view without any axis of extent 1 (numba: `squeeze()`). Throws shape_error if the
  /// number of other axes is not M.
  template <std::size_t M>
    requires(M <= N)
  device_view<T, M> squeeze_to(detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return detail::with_mapping(*this, layout::squeeze_to<M>(detail::mapping_of(*this)));
  }
  /// Returns a view with the axes in reverse order.
  device_view transpose(detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return transpose(layout::reversed_axes<N>());
  }
  /// Returns a view whose axis i is axis axes[i]. Throws layout_error if `axes` is no permutation.
  device_view transpose(std::array<std::size_t, N> const& axes,
                        detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return detail::with_mapping(*this, layout::transpose(detail::mapping_of(*this), axes));
  }
  /// Returns views of sections of `section` indices along an axis; the last one may be shorter
  /// (numba: `split`). Throws shape_error if `section` is 0 or `axis` is not less than the rank.
  std::vector<device_view> split(std::size_t section, std::size_t axis = 0,
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
  device_view<detail::with_const_of<T, U>, N> as(
      detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return detail::reinterpret_view<U>(*this);
  }
  /// Returns a view of one member of every record (numba: `record_array[field]`). Throws
  /// layout_error if the member's size does not divide the record's: see field_copy.
  template <class U, class Record>
    requires std::derived_from<value_type, Record>
  device_view<detail::with_const_of<T, U>, N> field(
      U Record::*member, detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return detail::field_view(*this, member);
  }
  ///@}

  /// @name New arrays
  /// These return a compact array on the same device. They work for any layout, are complete on
  /// return, and throw what roc::copy throws, and out_of_memory. They need roc/device_array.hpp.
  ///@{

  /// Returns the elements in C order with other extents; one may be -1. Throws shape_error if the
  /// sizes differ.
  template <std::integral... E>
  device_array<value_type, sizeof...(E)> reshape_copy(E... extents) const {
    return detail::reshaped_copy(*this, detail::signed_extents(extents...), order::c);
  }
  /// Returns the elements in the order `o` with other extents. Throws shape_error if the sizes
  /// differ.
  template <std::size_t M>
  device_array<value_type, M> reshape_copy(
      roc::shape<M> const& extents, order o = order::c,
      detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return detail::reshaped_copy(*this, layout::detail::exact_extents(extents), o);
  }
  /// Returns all elements in the order `o`, with rank 1.
  device_array<value_type, 1> ravel_copy(
      order o = order::c, detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return detail::reshaped_copy(*this, layout::signed_shape<1>{-1}, o);
  }
  /// Returns the bytes of the elements, in C order, as elements of type U. Throws shape_error if
  /// the extent of the last axis does not fit.
  template <class U>
  device_array<U, N> as_copy(detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return detail::duplicate(*this, order::c).template as<U>();
  }
  /// Returns one member of every record, in C order. The member may have any size.
  template <class U, class Record>
    requires std::derived_from<value_type, Record>
  device_array<U, N> field_copy(U Record::*member,
                                detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return detail::field_copy(*this, member);
  }
  ///@}

  /// Deleted: the reason is in the compiler's message.
  ///@{
  template <class H, detail::incorrect_use Reason = detail::first_misuse<
                         detail::host_misuse<H>, detail::copy_misuse<device_view&, H>>>
    requires(!std::convertible_to<H, stream_ref>)
  void copy_to_host(H&& to) const = delete;
  template <class H, detail::incorrect_use Reason = detail::first_misuse<
                         detail::host_misuse<H>, detail::async_copy_misuse<device_view&, H>>>
  void copy_to_host(H&& to, stream_ref stream) const = delete;
  template <class S, detail::incorrect_use Reason = detail::copy_misuse<S, device_view&>>
  void copy_to_device(S&& from) const = delete;
  template <class S, detail::incorrect_use Reason = detail::async_copy_misuse<S, device_view&>>
  void copy_to_device(S&& from, stream_ref stream) const = delete;
  template <class S, detail::incorrect_use Reason = detail::async_copy_misuse<S, device_view&>>
  void copy_to_device(S&& from, stream_ref stream, borrow_source_t) const = delete;
  template <class H, class X,
            detail::incorrect_use Reason =
                detail::first_misuse<detail::host_misuse<H>, detail::copy_misuse<device_view&, H>,
                                     detail::stream_misuse<X>>>
    requires(!std::convertible_to<X, stream_ref>)
  void copy_to_host(H&& to, X&& stream) const = delete;
  template <class S, class X,
            detail::incorrect_use Reason = detail::first_misuse<
                detail::copy_misuse<S, device_view&>, detail::stream_misuse<X>>>
    requires(!std::convertible_to<X, stream_ref>)
  void copy_to_device(S&& from, X&& stream) const = delete;
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
  template <class, std::size_t>
  friend class device_view;

  ROCARRAY_HOST_DEVICE device_view(T* data, layout::detail::kernel_mapping<N> const& mapping,
                                   int device)
      : data_(data), shape_(mapping.shape), strides_(mapping.strides), device_(device) {}
  ROCARRAY_HOST_DEVICE device_view(T* data, int device)
    requires(N == 0)
      : data_(data), device_(device) {}

  T* data_ = nullptr;
  detail::kernel_array<std::size_t, N> shape_;
  detail::kernel_array<std::ptrdiff_t, N> strides_;
  int device_ = -1;
};

/// One element of a device view, returned by `view(i, j)`. In a kernel it is a reference: it
/// converts to `T&`, can be assigned to, and `&view(i)` is the element's address. On the host it is
/// the element's view of rank 0 (`get`, `set`, `copy_to_host`, `copy_to_device`); the host must not
/// read it as a value, because the memory is the device's.
template <class T>
class element : public device_view<T, 0> {
 public:
  /// Refers to the element of a view of rank 0.
  ROCARRAY_HOST_DEVICE explicit element(device_view<T, 0> const& view) : device_view<T, 0>(view) {}
  /// Refers to the same element.
  ROCARRAY_HOST_DEVICE element(element const& other) : device_view<T, 0>(other) {}

  /// Returns the element. For kernels.
  ROCARRAY_HOST_DEVICE operator T&() const { return *this->data(); }
  /// Returns the element's address in device memory.
  ROCARRAY_HOST_DEVICE T* operator&() const { return this->data(); }
  /// Accesses a member of the element. For kernels.
  ROCARRAY_HOST_DEVICE T* operator->() const { return this->data(); }

  /// Assigns to the element. For kernels.
  ROCARRAY_HOST_DEVICE T& operator=(T const& value) const { return *this->data() = value; }
  /// Assigns the value of another element, as a reference does. For kernels.
  ROCARRAY_HOST_DEVICE element const& operator=(element const& other) const {
    *this->data() = *other.data();
    return *this;
  }

#define ROCARRAY_ELEMENT_ASSIGNMENT(op) \
  ROCARRAY_HOST_DEVICE T& operator op(T const& value) const { return *this->data() op value; }
  ROCARRAY_ELEMENT_ASSIGNMENT(+=)
  ROCARRAY_ELEMENT_ASSIGNMENT(-=)
  ROCARRAY_ELEMENT_ASSIGNMENT(*=)
  ROCARRAY_ELEMENT_ASSIGNMENT(/=)
  ROCARRAY_ELEMENT_ASSIGNMENT(%=)
  ROCARRAY_ELEMENT_ASSIGNMENT(&=)
  ROCARRAY_ELEMENT_ASSIGNMENT(|=)
  ROCARRAY_ELEMENT_ASSIGNMENT(^=)
  ROCARRAY_ELEMENT_ASSIGNMENT(<<=)
  ROCARRAY_ELEMENT_ASSIGNMENT(>>=)
#undef ROCARRAY_ELEMENT_ASSIGNMENT
  ROCARRAY_HOST_DEVICE T& operator++() const { return ++*this->data(); }  ///< For kernels.
  ROCARRAY_HOST_DEVICE T& operator--() const { return --*this->data(); }  ///< For kernels.
};

template <class T, std::size_t N>
host_array<typename device_view<T, N>::value_type, N> device_view<T, N>::copy_to_host(
    detail::caller at) const {
  detail::call_scope const call(__func__, at, "device to host");
  host_array<value_type, N> result(shape(), layout::like_strides(shape(), strides()));
  copy(*this, result);
  return result;
}

template <class T, std::size_t N>
host_array<typename device_view<T, N>::value_type, N> device_view<T, N>::copy_to_host(
    stream_ref stream, detail::caller at) const {
  detail::call_scope const call(__func__, at, "device to host");
  host_array<value_type, N> result(shape(), layout::like_strides(shape(), strides()));
  copy(*this, result, stream);
  return result;
}

template <class T, std::size_t N>
typename device_view<T, N>::value_type device_view<T, N>::get(detail::caller at) const
  requires(N == 0)
{
  detail::call_scope const call(__func__, at, "device to host");
  // The copy begins the lifetime of the value, which may have no default constructor.
  alignas(value_type) std::byte bytes[sizeof(value_type)];
  auto* const result = reinterpret_cast<value_type*>(bytes);
  copy_to_host(host_view<value_type, 0>(result, {}));
  return *result;
}

template <class T, std::size_t N>
void device_view<T, N>::set(std::type_identity_t<T> const& value, detail::caller at) const
  requires(N == 0 && !std::is_const_v<T>)
{
  detail::call_scope const call(__func__, at, "host to device");
  copy_to_device(host_view<T const, 0>(&value, {}));
}

template <class T, std::size_t N>
void device_view<T, N>::set(std::type_identity_t<T> const& value, stream_ref stream,
                            detail::caller at) const
  requires(N == 0 && !std::is_const_v<T>)
{
  detail::call_scope const call(__func__, at, "host to device");
  // `value` itself may be in pinned memory, which the copy would read late.
  T const pageable = value;
  copy_to_device(host_view<T const, 0>(&pageable, {}), stream);
}

}  // namespace roc
