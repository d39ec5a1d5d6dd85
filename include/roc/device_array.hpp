// SPDX-License-Identifier: MIT
// Owned arrays in device memory.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>
#include <vector>

#include <roc/bound_view.hpp>
#include <roc/config.hpp>
#include <roc/copy.hpp>
#include <roc/detail/allocation_bytes.hpp>
#include <roc/detail/call_scope.hpp>
#include <roc/detail/device_storage.hpp>
#include <roc/detail/throw.hpp>
#include <roc/device_view.hpp>
#include <roc/host_array.hpp>
#include <roc/layout/index.hpp>
#include <roc/layout/padding.hpp>
#include <roc/layout/shape.hpp>
#include <roc/memory/mapped_view.hpp>
#include <roc/memory/memory_resource.hpp>
#include <roc/stream.hpp>

namespace roc {
namespace detail {
struct array_adoption;  // see memory/adopt.hpp
}  // namespace detail

/// An array in device memory, of any rank and layout (numba: `device_array`). Elements are not
/// initialized. Move-only. An array without elements has a null pointer, and operations on it do
/// nothing.
///
/// The array belongs to the device of the stream that it is created with, or to the current device.
/// Its memory comes from that device's resource (roc::device_resource). Const is shallow, as for a
/// pointer: the elements of a const array can be written.
///
/// Destruction does not block, except for adopted memory and the memory of a hip_memory_resource,
/// whose hipFree waits for the device. The memory is reused only after all work of the array's
/// stream, and of every other stream that used it, has finished. Copies, fills and for_each of the
/// library record the streams that they use; for your own kernels on another stream call
/// record_stream.
///
/// If the array is default-constructed or moved from, size() and size_bytes() return 0, it can be
/// destroyed or assigned to, and any other use throws lifetime_error.
template <class T, std::size_t N = 1>
class device_array {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>,
                "rocarray: the element type must be trivially copyable and not const");

 public:
  using element_type = T;                 ///< as in std::mdspan
  using value_type = T;                   ///< as in std::mdspan
  static constexpr std::size_t rank = N;  ///< the number of axes

  /// @name Construction
  /// The memory is allocated on the device of `stream`, in the order of that stream. The default is
  /// the default stream of the current device. The constructors throw shape_error (the size
  /// overflows), out_of_memory and roc::error.
  ///@{
  device_array() = default;  ///< Creates an array that owns nothing, as if moved from.
  /// Creates a compact array in C or F order.
  explicit device_array(roc::shape<N> const& shape, order o = order::c, stream_ref stream = {},
                        detail::caller at = std::source_location::current())
      // Braces, because they evaluate their elements in order: only the first one can throw.
      : device_array{(detail::call_scope("device_array", at),
                      detail::device_storage(detail::compact_bytes(shape, sizeof(T)), stream)),
                     0, shape, layout::compact_strides(shape, o), stream} {}
  /// Creates an array of rank 1 with this many elements. Throws shape_error if `extent` is
  /// negative.
  template <std::integral I>
    requires(N == 1)
  explicit device_array(I extent, stream_ref stream = {},
                        detail::caller at = std::source_location::current())
      : device_array(
            (detail::call_scope("device_array", at), roc::shape<1>{detail::checked_extent(extent)}),
            order::c, stream) {}
  /// Creates an array of rank 1 from an extent in braces. Without this overload, the braces could
  /// also stand for a device_array.
  template <std::integral I>
    requires(N == 1)
  explicit device_array(I const (&extent)[1], detail::caller at = std::source_location::current())
      : device_array(extent[0], stream_ref(), at) {}
  /// Creates an array with strides, in elements. Throws layout_error if a stride is negative or two
  /// indices refer to the same element.
  device_array(roc::shape<N> const& shape, roc::strides<N> const& strides, stream_ref stream = {},
               detail::caller at = std::source_location::current())
      : device_array(
            (detail::call_scope("device_array", at),
             detail::device_storage(detail::allocation_bytes(shape, strides, sizeof(T)), stream)),
            0, shape, strides, stream) {}
  /// Creates a compact array with memory from `resource`, which must outlive the array.
  device_array(roc::shape<N> const& shape, memory_resource& resource, order o = order::c,
               stream_ref stream = {}, detail::caller at = std::source_location::current())
      : device_array{
            (detail::call_scope("device_array", at),
             detail::device_storage(detail::compact_bytes(shape, sizeof(T)), stream, resource)),
            0, shape, layout::compact_strides(shape, o), stream} {}
  /// Creates an array with padding (katsdpsigproc: `padded_shape`): see roc::padding. zero() and
  /// padded_view() include the padding; copies and fill() do not. Throws layout_error if the
  /// demands contradict each other.
  template <std::same_as<padded<N>> P>
  device_array(roc::shape<N> const& shape, P const& padding, order o = order::c,
               stream_ref stream = {}, detail::caller at = std::source_location::current())
      : device_array((detail::call_scope("device_array", at),
                      detail::padded_extents(shape, padding, sizeof(T))),
                     o, stream) {
    pad(shape);
  }
  /// Takes over the memory of `other`, which then owns nothing.
  device_array(device_array&& other) noexcept { swap(other); }
  /// Releases the current memory and takes over that of `other`. Does not block.
  device_array& operator=(device_array&& other) noexcept {
    device_array(std::move(other)).swap(*this);
    return *this;
  }
  /// Exchanges memory and shape. Views keep referring to the same memory.
  void swap(device_array& other) noexcept;
  /// Gives up ownership and returns the memory; this array then owns nothing. The caller frees it:
  /// with hipFree, or as an adopted array's memory was to be freed (its finalizer is not called).
  /// Throws lifetime_error if other arrays share the memory, or if it belongs to a pool, which is
  /// so unless the array was created with a hip_memory_resource. Throws layout_error if the memory
  /// does not begin with the array's first element.
  T* release(detail::caller at = std::source_location::current());
  ///@}

  /// @name Observers
  ///@{

  /// Returns the device address of the first element. The host must not dereference it.
  T* data() const { return checked(data_); }
  /// Returns the number of elements along each axis, without padding.
  roc::shape<N> const& shape() const { return checked(shape_); }
  /// Returns the strides in elements.
  roc::strides<N> const& strides() const { return checked(strides_); }
  /// Returns the number of elements along one axis, which must be less than the rank.
  std::size_t extent(std::size_t axis) const { return checked(shape_)[axis]; }
  /// Returns the number of elements; 0 if this array owns nothing.
  std::size_t size() const { return has_value_ ? layout::element_count(shape_) : 0; }
  /// Returns the bytes of the elements, without gaps and padding; 0 if this array owns nothing.
  std::size_t size_bytes() const { return size() * sizeof(T); }
  /// Returns true if the elements are contiguous in C order. Axes of extent 1 do not matter; arrays
  /// without elements are contiguous.
  bool is_c_contiguous() const { return layout::is_c_contiguous(shape(), strides()); }
  /// Returns true if the elements are contiguous in F order.
  bool is_f_contiguous() const { return layout::is_f_contiguous(shape(), strides()); }
  /// Returns the extents of the memory, with padding; shape() if there is no padding.
  roc::shape<N> padded_shape() const {
    roc::shape<N> const& extents = shape();
    return padded_shape_ ? *padded_shape_ : extents;
  }
  /// Returns the ordinal of the device that has the memory.
  int device_ordinal() const {
    static_cast<void>(checked(has_value_));
    return storage_.device();
  }
  /// Returns the stream that the array was created with.
  stream_ref stream() const { return checked(stream_); }
  /// Records that your own kernels on `stream` use the memory, so that it is not reused before they
  /// have finished (torch: `record_stream`). Not needed for the array's own stream.
  ///
  /// Call it once, best before the first kernel: work enqueued later on `stream` then also comes
  /// after earlier uses of the memory. For a stream of another library (from_native), call it once
  /// more after the last kernel. Throws roc::error.
  void record_stream(stream_ref stream, detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    detail::record_stream(data(), storage_.device(), stream);
  }
  ///@}

  /// @name Views of the whole array
  /// The array must outlive the views, so these do not compile for a temporary.
  ///@{

  /// Returns a view, for kernels and copies.
  device_view<T, N> view() const& { return {data(), shape_, strides_, storage_.device()}; }
  template <detail::incorrect_use Reason = detail::view_of_temporary_misuse>
  device_view<T, N> view() const&& = delete;
  operator device_view<T, N>() const& { return view(); }        ///< Converts implicitly, as view().
  operator device_view<T const, N>() const& { return view(); }  ///< Converts to const elements.
  operator device_view<T, N>() const&& = delete;
  operator device_view<T const, N>() const&& = delete;
  /// Returns a view of the array with its padding; view() if there is none.
  device_view<T, N> padded_view() const& {
    return {data(), padded_shape(), strides_, storage_.device()};
  }
  template <detail::incorrect_use Reason = detail::view_of_temporary_misuse>
  device_view<T, N> padded_view() const&& = delete;
  /// Returns a view with a default stream, on which its operations are then enqueued (numba:
  /// `bind`). Array and stream must outlive it.
  bound_view<T, N> bind(stream_ref stream) const& { return view().bind(stream); }
  bound_view<T, N> bind(class stream&&) const& = delete;  // the stream would be destroyed
  template <detail::incorrect_use Reason = detail::view_of_temporary_misuse>
  bound_view<T, N> bind(stream_ref) const&& = delete;
  ///@}

  /// @name Regions
  ///@{

  /// Returns a view of a region, of one element a view of rank 0, for integers, roc::slice,
  /// roc::all, roc::newaxis and roc::ellipsis. Throws shape_error if an index is out of bounds. The
  /// wrong number of expressions does not compile.
  template <layout::index_expression... E>
    requires layout::indexable_with<N, E...>
  device_view<T, layout::index_rank<N, E...>> operator()(E... expressions) const& {
    return view().region(expressions...);
  }
  /// Returns an array of the region that takes over the memory.
  template <layout::index_expression... E>
    requires layout::indexable_with<N, E...>
  device_array<T, layout::index_rank<N, E...>> operator()(E... expressions) && {
    return take(view().region(expressions...));
  }
  template <class... E>
  auto operator()(E...) const&& = delete;  // the view would outlive the memory
  /// Returns a view of a region, as operator(); the views have a member of this name too.
  template <layout::index_expression... E>
    requires layout::indexable_with<N, E...>
  device_view<T, layout::index_rank<N, E...>> region(E... expressions) const& {
    return view().region(expressions...);
  }
  /// Returns an array of the region that takes over the memory.
  template <layout::index_expression... E>
    requires layout::indexable_with<N, E...>
  device_array<T, layout::index_rank<N, E...>> region(E... expressions) && {
    return take(view().region(expressions...));
  }
  ///@}

  /// @name Copies
  /// Without a stream: ordered after all work enqueued earlier on the device through the library,
  /// and complete on return. With a stream: enqueued there; lifetimes are as for
  /// roc::copy(from, to, stream), and a temporary array does not compile. They throw what roc::copy
  /// throws.
  ///@{

  /// Returns a new pageable host array with the same shape and order of axes (numba:
  /// `copy_to_host`). Throws also out_of_memory.
  host_array<T, N> copy_to_host(detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at, "device to host");
    return view().copy_to_host();
  }
  /// Enqueues the copy to a new host array, which is complete after synchronization. The host
  /// array's destructor blocks until the copy has finished.
  host_array<T, N> copy_to_host(stream_ref stream,
                                detail::caller at = std::source_location::current()) const& {
    detail::call_scope const call(__func__, at, "device to host");
    return view().copy_to_host(stream);
  }
  /// Copies the elements into existing host memory: array, view or contiguous range.
  template <detail::host_argument H>
    requires detail::copyable_to<device_array&, H>
  void copy_to_host(H&& to, detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at, "device to host");
    copy(*this, detail::view_of(to));
  }
  /// Enqueues a copy into existing host memory. A pageable destination is complete after
  /// synchronization.
  template <detail::host_argument H>
    requires detail::async_copyable_to<device_array&, H>
  void copy_to_host(H&& to, stream_ref stream,
                    detail::caller at = std::source_location::current()) const& {
    detail::call_scope const call(__func__, at, "device to host");
    copy(*this, detail::view_of(to), stream);
  }
  /// Copies host or device memory into this array (numba: `copy_to_device`).
  template <detail::copy_argument S>
    requires detail::copyable_to<S, device_array&>
  void copy_to_device(S&& from, detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at, detail::direction_to_device<S>);
    copy(detail::view_of(from), *this);
  }
  /// Enqueues a copy into this array.
  template <detail::copy_argument S>
    requires detail::async_copyable_to<S, device_array&>
  void copy_to_device(S&& from, stream_ref stream,
                      detail::caller at = std::source_location::current()) const& {
    detail::call_scope const call(__func__, at, detail::direction_to_device<S>);
    copy(detail::view_of(from), *this, stream);
  }
  /// Enqueues a copy into this array. The source must live, and must not change, until the stream
  /// has been synchronized.
  template <detail::copy_argument S>
    requires detail::async_copyable_to<S, device_array&>
  void copy_to_device(S&& from, stream_ref stream, borrow_source_t,
                      detail::caller at = std::source_location::current()) const& {
    detail::call_scope const call(__func__, at, detail::direction_to_device<S>);
    copy(detail::view_of(from), *this, stream, borrow_source);
  }
  /// Returns the value of the one element of an array of rank 0 (numba: `array[i]`).
  T get(detail::caller at = std::source_location::current()) const
    requires(N == 0)
  {
    detail::call_scope const call(__func__, at, "device to host");
    return view().get();
  }
  /// Sets the value of the one element of an array of rank 0 (numba: `array[i] = value`).
  void set(std::type_identity_t<T> const& value,
           detail::caller at = std::source_location::current()) const
    requires(N == 0)
  {
    detail::call_scope const call(__func__, at, "host to device");
    view().set(value);
  }
  /// Enqueues set(value). The value has been read on return.
  void set(std::type_identity_t<T> const& value, stream_ref stream,
           detail::caller at = std::source_location::current()) const
    requires(N == 0)
  {
    detail::call_scope const call(__func__, at, "host to device");
    view().set(value, stream);
  }
  ///@}

  /// @name Fills
  /// Without a stream: ordered after all work enqueued earlier on the device, and complete on
  /// return. With a stream: enqueued there. They throw roc::error.
  ///@{

  /// Writes zero bytes to every element and to the padding.
  void zero(detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    padded_view().zero();
  }
  /// Enqueues zero().
  void zero(stream_ref stream, detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    padded_view().zero(stream);
  }
  /// Writes `value` to every element, of 1 to 16 bytes. Padding and gaps are not touched.
  void fill(T const& value, detail::caller at = std::source_location::current()) const
    requires detail::correct_use<detail::fill_misuse<T>>
  {
    detail::call_scope const call(__func__, at);
    view().fill(value);
  }
  /// Enqueues fill(value). The value has been read on return.
  void fill(T const& value, stream_ref stream,
            detail::caller at = std::source_location::current()) const
    requires detail::correct_use<detail::fill_misuse<T>>
  {
    detail::call_scope const call(__func__, at);
    view().fill(value, stream);
  }
  ///@}

  /// @name Other views of the same memory
  /// For an array with a name they return a view that borrows, with the meaning and the errors of
  /// the members of device_view. For a temporary (`std::move(d).ravel()`) they return an array that
  /// takes over the memory; if they throw, the array keeps it. transpose keeps padding; for the
  /// others it becomes a gap.
  ///@{

  /// Changes the extents and keeps the elements in C order. One extent may be -1.
  template <std::integral... E>
  device_view<T, sizeof...(E)> reshape(E... extents) const& {
    return view().reshape(extents...);
  }
  /// Returns an array that takes over the memory.
  template <std::integral... E>
  device_array<T, sizeof...(E)> reshape(E... extents) && {
    return take(view().reshape(extents...));
  }
  /// Changes the extents and keeps the elements in the order `o`.
  template <std::size_t M>
  device_view<T, M> reshape(roc::shape<M> const& extents, order o = order::c,
                            detail::caller at = std::source_location::current()) const& {
    detail::call_scope const call(__func__, at);
    return view().reshape(extents, o);
  }
  /// Returns an array that takes over the memory.
  template <std::size_t M>
  device_array<T, M> reshape(roc::shape<M> const& extents, order o = order::c,
                             detail::caller at = std::source_location::current()) && {
    detail::call_scope const call(__func__, at);
    return take(view().reshape(extents, o));
  }
  /// Changes the rank to 1, with all elements in the order `o`.
  device_view<T, 1> ravel(order o = order::c,
                          detail::caller at = std::source_location::current()) const& {
    detail::call_scope const call(__func__, at);
    return view().ravel(o);
  }
  /// Returns an array that takes over the memory.
  device_array<T, 1> ravel(order o = order::c,
                           detail::caller at = std::source_location::current()) && {
    detail::call_scope const call(__func__, at);
    return take(view().ravel(o));
  }
  /// Removes the given axes, whose extent must be 1.
  template <std::size_t... Axes>
    requires(sizeof...(Axes) > 0)
  auto squeeze(detail::caller at = std::source_location::current()) const& {
    detail::call_scope const call(__func__, at);
    return view().template squeeze<Axes...>();
  }
  /// Returns an array that takes over the memory.
  template <std::size_t... Axes>
    requires(sizeof...(Axes) > 0)
  auto squeeze(detail::caller at = std::source_location::current()) && {
    detail::call_scope const call(__func__, at);
    return take(view().template squeeze<Axes...>());
  }
  /// Removes all axes of extent 1, so that M are left.
  template <std::size_t M>
  device_view<T, M> squeeze_to(detail::caller at = std::source_location::current()) const& {
    detail::call_scope const call(__func__, at);
    return view().template squeeze_to<M>();
  }
  /// Returns an array that takes over the memory.
  template <std::size_t M>
  device_array<T, M> squeeze_to(detail::caller at = std::source_location::current()) && {
    detail::call_scope const call(__func__, at);
    return take(view().template squeeze_to<M>());
  }
  /// Reverses the axes.
  device_view<T, N> transpose(detail::caller at = std::source_location::current()) const& {
    detail::call_scope const call(__func__, at);
    return view().transpose();
  }
  /// Returns an array that takes over the memory.
  device_array transpose(detail::caller at = std::source_location::current()) && {
    detail::call_scope const call(__func__, at);
    return std::move(*this).transpose(layout::reversed_axes<N>());
  }
  /// Permutes the axes: axis i of the result is axis axes[i].
  device_view<T, N> transpose(std::array<std::size_t, N> const& axes,
                              detail::caller at = std::source_location::current()) const& {
    detail::call_scope const call(__func__, at);
    return view().transpose(axes);
  }
  /// Returns an array that takes over the memory.
  device_array transpose(std::array<std::size_t, N> const& axes,
                         detail::caller at = std::source_location::current()) &&;
  /// Interprets the bytes as elements of type U.
  template <class U>
  device_view<U, N> as(detail::caller at = std::source_location::current()) const& {
    detail::call_scope const call(__func__, at);
    return view().template as<U>();
  }
  /// Returns an array that takes over the memory.
  template <class U>
  device_array<U, N> as(detail::caller at = std::source_location::current()) && {
    detail::call_scope const call(__func__, at);
    return take(view().template as<U>());
  }
  /// Selects one member of every record.
  template <class U, class Record>
  device_view<U, N> field(U Record::*member,
                          detail::caller at = std::source_location::current()) const& {
    detail::call_scope const call(__func__, at);
    return view().field(member);
  }
  /// Returns an array that takes over the memory.
  template <class U, class Record>
  device_array<U, N> field(U Record::*member,
                           detail::caller at = std::source_location::current()) && {
    detail::call_scope const call(__func__, at);
    return take(view().field(member));
  }
  /// Splits an axis into views of sections of `section` indices. Not for a temporary: no single
  /// section could own the memory.
  std::vector<device_view<T, N>> split(std::size_t section, std::size_t axis = 0,
                                       detail::caller at = std::source_location::current()) const& {
    detail::call_scope const call(__func__, at);
    return view().split(section, axis);
  }
  template <detail::incorrect_use Reason = detail::view_of_temporary_misuse>
  std::vector<device_view<T, N>> split(std::size_t section, std::size_t axis = 0) && = delete;
  ///@}

  /// @name New arrays
  /// These return a compact array on the same device, as the members of device_view with these
  /// names do: for any layout, complete on return.
  ///@{

  /// Copies the elements in C order to other extents; one may be -1.
  template <std::integral... E>
  device_array<T, sizeof...(E)> reshape_copy(E... extents) const {
    return view().reshape_copy(extents...);
  }
  /// Copies the elements in the order `o` to other extents.
  template <std::size_t M>
  device_array<T, M> reshape_copy(roc::shape<M> const& extents, order o = order::c,
                                  detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return view().reshape_copy(extents, o);
  }
  /// Copies all elements in the order `o` to rank 1.
  device_array<T, 1> ravel_copy(order o = order::c,
                                detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return view().ravel_copy(o);
  }
  /// Copies the bytes of the elements, in C order, to elements of type U.
  template <class U>
  device_array<U, N> as_copy(detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return view().template as_copy<U>();
  }
  /// Copies one member of every record, of any size.
  template <class U, class Record>
    requires std::derived_from<T, Record>
  device_array<U, N> field_copy(U Record::*member,
                                detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return view().field_copy(member);
  }
  ///@}

  /// Deleted: the reason is in the compiler's message.
  ///@{
  template <class H, detail::incorrect_use Reason = detail::first_misuse<
                         detail::host_misuse<H>, detail::copy_misuse<device_array&, H>>>
    requires(!std::convertible_to<H, stream_ref>)
  void copy_to_host(H&& to) const = delete;
  template <class H, detail::incorrect_use Reason = detail::first_misuse<
                         detail::host_misuse<H>, detail::async_copy_misuse<device_array&, H>>>
  void copy_to_host(H&& to, stream_ref stream) const& = delete;
  template <class S, detail::incorrect_use Reason = detail::copy_misuse<S, device_array&>>
  void copy_to_device(S&& from) const = delete;
  template <class S, detail::incorrect_use Reason = detail::async_copy_misuse<S, device_array&>>
  void copy_to_device(S&& from, stream_ref stream) const& = delete;
  template <class S, detail::incorrect_use Reason = detail::async_copy_misuse<S, device_array&>>
  void copy_to_device(S&& from, stream_ref stream, borrow_source_t) const& = delete;
  template <class H, class X,
            detail::incorrect_use Reason =
                detail::first_misuse<detail::host_misuse<H>, detail::copy_misuse<device_array&, H>,
                                     detail::stream_misuse<X>>>
    requires(!std::convertible_to<X, stream_ref>)
  void copy_to_host(H&& to, X&& stream) const = delete;
  template <class S, class X,
            detail::incorrect_use Reason = detail::first_misuse<
                detail::copy_misuse<S, device_array&>, detail::stream_misuse<X>>>
    requires(!std::convertible_to<X, stream_ref>)
  void copy_to_device(S&& from, X&& stream) const = delete;
  template <detail::incorrect_use Reason = detail::fill_misuse<T>>
  void fill(T const& value) const = delete;
  template <detail::incorrect_use Reason = detail::fill_misuse<T>>
  void fill(T const& value, stream_ref stream) const = delete;
  // Of a temporary array.
  template <detail::incorrect_use Reason = detail::temporary_array_misuse>
  auto copy_to_host(stream_ref stream) const&& = delete;
  template <class H, detail::incorrect_use Reason = detail::temporary_array_misuse>
  void copy_to_host(H&& to, stream_ref stream) const&& = delete;
  template <class S, detail::incorrect_use Reason = detail::temporary_array_misuse>
  void copy_to_device(S&& from, stream_ref stream) const&& = delete;
  template <class S, detail::incorrect_use Reason = detail::temporary_array_misuse>
  void copy_to_device(S&& from, stream_ref stream, borrow_source_t) const&& = delete;
  ///@}

 private:
  template <class, std::size_t>
  friend class device_array;
  friend class device_allocation;
  friend struct detail::array_adoption;

  /// An array whose first element is `offset_bytes` after the beginning of the storage.
  device_array(detail::device_storage&& storage, std::size_t offset_bytes,
               roc::shape<N> const& shape, roc::strides<N> const& strides, stream_ref stream)
      : storage_(std::move(storage)),
        shape_(shape),
        strides_(strides),
        // A default stream may have been given with a device: that of the array.
        stream_(stream.handle() == nullptr ? stream_ref() : stream),
        has_value_(true) {
    if (!layout::detail::is_empty(shape)) {
      data_ = reinterpret_cast<T*>(static_cast<std::byte*>(storage_.data()) + offset_bytes);
    }
  }

  template <class V>
  V const& checked(V const& value) const {
    if (!has_value_) {
      detail::throw_lifetime_error(
          "use of a device_array that owns nothing: it was moved from or never given a shape");
    }
    return value;
  }

  /// Makes the current extents the padded shape, and `shape` the shape of the array.
  void pad(roc::shape<N> const& shape) {
    padded_shape_ = shape_;
    shape_ = shape;
  }

  /// Returns an array with the memory of this one, which then owns nothing, and the shape and
  /// strides of `view`.
  template <class U, std::size_t M>
  device_array<U, M> take(device_view<U, M> const& view) {
    device_array<U, M> result;
    result.storage_.swap(storage_);
    result.data_ = view.size() == 0 ? nullptr : view.data();
    result.shape_ = view.shape();
    result.strides_ = view.strides();
    result.stream_ = stream_;
    result.has_value_ = std::exchange(has_value_, false);
    return result;
  }

  detail::device_storage storage_;
  T* data_ = nullptr;
  roc::shape<N> shape_{};
  roc::strides<N> strides_{};
  std::optional<roc::shape<N>> padded_shape_;  // of the memory, if the array has padding
  stream_ref stream_;
  bool has_value_ = false;  // false after a move and default construction
};

template <class T, std::size_t N>
void device_array<T, N>::swap(device_array& other) noexcept {
  storage_.swap(other.storage_);
  std::swap(data_, other.data_);
  std::swap(shape_, other.shape_);
  std::swap(strides_, other.strides_);
  padded_shape_.swap(other.padded_shape_);
  std::swap(stream_, other.stream_);
  std::swap(has_value_, other.has_value_);
}

template <class T, std::size_t N>
T* device_array<T, N>::release(detail::caller at) {
  detail::call_scope const call(__func__, at);
  T* const data = checked(data_);
  if (storage_.is_shared()) {
    detail::throw_lifetime_error(
        "cannot release an array that shares its allocation with others; copy it to an array of "
        "its own");
  }
  if (data != static_cast<T*>(storage_.data())) {
    detail::throw_layout_error("cannot release a part of an allocation; release the whole array");
  }
  storage_.release();
  device_array().swap(*this);
  return data;
}

template <class T, std::size_t N>
device_array<T, N> device_array<T, N>::transpose(std::array<std::size_t, N> const& axes,
                                                 detail::caller at) && {
  detail::call_scope const call(__func__, at);
  auto const transposed = view().transpose(axes);
  auto const padded = detail::permuted(padded_shape_, axes);
  auto result = take(transposed);
  result.padded_shape_ = padded;
  return result;
}

}  // namespace roc
