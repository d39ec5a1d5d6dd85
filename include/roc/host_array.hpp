// SPDX-License-Identifier: MIT
// Owned host memory: pageable, or pinned for copies at link speed.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>
#include <vector>

#include <roc/config.hpp>
#include <roc/detail/allocation_bytes.hpp>
#include <roc/detail/argument_traits.hpp>
#include <roc/detail/call_scope.hpp>
#include <roc/detail/host_storage.hpp>
#include <roc/detail/misuse.hpp>
#include <roc/detail/throw.hpp>
#include <roc/host_view.hpp>
#include <roc/layout/index.hpp>
#include <roc/layout/padding.hpp>
#include <roc/layout/shape.hpp>
#include <roc/memory/host_memory.hpp>
#include <roc/memory/memory_resource.hpp>
#include <roc/stream.hpp>

namespace roc {

/// An array in host memory that the library allocated, of any rank and layout. Elements are not
/// initialized. Move-only. An array without elements has a null pointer.
///
/// kind() returns whether the memory is pageable, pinned, mapped or managed, and require(kind)
/// demands it: `h.require(roc::host_memory::pinned)`. Freed memory is kept for later arrays: see
/// pageable_cache and pinned_cache.
///
/// The library tracks the asynchronous copies that use the array. The destructor blocks until these
/// copies, and the work enqueued before them on the same streams, have finished. If the array is
/// default-constructed or moved from, size() and size_bytes() return 0, it can be destroyed or
/// assigned to, and any other use throws lifetime_error.
template <class T, std::size_t N = 1>
class host_array {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>,
                "rocarray: the element type must be trivially copyable and not const");

 public:
  using element_type = T;                 ///< as in std::mdspan
  using value_type = T;                   ///< as in std::mdspan
  static constexpr std::size_t rank = N;  ///< the number of axes

  /// @name Construction
  /// `kind` is the kind of memory; `flags` apply to pinned and mapped memory. The constructors
  /// throw shape_error (the size overflows), out_of_memory and roc::error (not_supported: managed
  /// memory on a device without it).
  ///@{
  host_array() = default;  ///< Creates an array that owns nothing, as if moved from.
  /// Creates a compact array in C or F order.
  explicit host_array(roc::shape<N> const& shape, order o = order::c,
                      host_memory kind = host_memory::pageable,
                      host_flags flags = host_flags::portable,
                      detail::caller at = std::source_location::current())
      : host_array(shape, (detail::call_scope("host_array", at), layout::compact_strides(shape, o)),
                   kind, flags) {}
  /// Creates an array of rank 1 with this many elements. Throws shape_error if `extent` is
  /// negative.
  template <std::integral I>
    requires(N == 1)
  explicit host_array(I extent, host_memory kind = host_memory::pageable,
                      host_flags flags = host_flags::portable,
                      detail::caller at = std::source_location::current())
      : host_array(
            (detail::call_scope("host_array", at), roc::shape<1>{detail::checked_extent(extent)}),
            order::c, kind, flags) {}
  /// Creates an array of rank 1 from an extent in braces. Without this overload, the braces could
  /// also stand for a host_array.
  template <std::integral I>
    requires(N == 1)
  explicit host_array(I const (&extent)[1], detail::caller at = std::source_location::current())
      : host_array(extent[0], host_memory::pageable, host_flags::portable, at) {}
  /// Creates an array with strides, in elements. Throws layout_error if a stride is negative or two
  /// indices refer to the same element.
  host_array(roc::shape<N> const& shape, roc::strides<N> const& strides,
             host_memory kind = host_memory::pageable, host_flags flags = host_flags::portable,
             detail::caller at = std::source_location::current())
      : memory_((detail::call_scope("host_array", at),
                 detail::host_storage(detail::allocation_bytes(shape, strides, sizeof(T)), kind,
                                      flags))),
        data_(static_cast<T*>(memory_.data())),
        shape_(shape),
        strides_(strides),
        has_value_(true) {}
  /// Creates a compact array with memory from `resource`, which must outlive the array; kind() is
  /// that of the resource. Throws roc::error if it allocates device memory.
  host_array(roc::shape<N> const& shape, memory_resource& resource, order o = order::c,
             detail::caller at = std::source_location::current())
      : host_array(shape, resource, host_memory::pageable, o, at) {}
  /// Creates an array with padding, which padded_view() includes: see roc::padding. Throws
  /// layout_error if the demands contradict each other.
  template <std::same_as<padded<N>> P>
  host_array(roc::shape<N> const& shape, P const& padding, order o = order::c,
             host_memory kind = host_memory::pageable, host_flags flags = host_flags::portable,
             detail::caller at = std::source_location::current())
      : host_array((detail::call_scope("host_array", at),
                    detail::padded_extents(shape, padding, sizeof(T))),
                   o, kind, flags) {
    padded_shape_ = shape_;
    shape_ = shape;
  }
  /// Takes over the memory of `other`, which then owns nothing.
  host_array(host_array&& other) noexcept { swap(other); }
  /// Frees the current memory as the destructor does, which blocks, and takes over that of `other`.
  host_array& operator=(host_array&& other) noexcept {
    host_array(std::move(other)).swap(*this);
    return *this;
  }
  /// Exchanges memory and shape. Views keep referring to the same memory.
  void swap(host_array& other) noexcept;
  ///@}

  /// @name Observers
  ///@{
  T* data() { return checked(data_); }              ///< Returns the address of the first element.
  T const* data() const { return checked(data_); }  ///< Returns the address of the first element.
  /// Returns the number of elements along each axis, without padding.
  roc::shape<N> const& shape() const { return checked(shape_); }
  /// Returns the strides in elements.
  roc::strides<N> const& strides() const { return checked(strides_); }
  /// Returns the number of elements along one axis, which must be less than the rank.
  std::size_t extent(std::size_t axis) const { return shape()[axis]; }
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
  ///@}

  /// @name Kind of memory
  ///@{

  /// Returns the kind of memory that the array was created with; pageable if it owns nothing.
  /// (torch: `is_pinned`)
  host_memory kind() const noexcept { return memory_.kind(); }
  /// Demands a kind of memory, in functions that depend on it:
  /// `h.require(roc::host_memory::pinned)` makes sure that an asynchronous copy does not go through
  /// staging memory. Throws registration_error, which names both kinds, if the array is of another
  /// kind. Mapped memory is pinned too, and every kind satisfies `pageable`.
  void require(host_memory needed, detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    static_cast<void>(data());
    memory_.require(needed);
  }
  /// Returns the flags of pinned memory that HIP reports (hipHostGetFlags), which may be more than
  /// the requested ones; default_flags for other kinds and for arrays without elements. Throws
  /// roc::error.
  host_flags flags() const {
    static_cast<void>(data());
    return memory_.flags();
  }
  ///@}

  /// @name Views of the whole array
  /// The array must outlive the views, so these do not compile for a temporary. A const array has
  /// views of const elements.
  ///@{
  host_view<T, N> view() & { return {data(), shape_, strides_}; }  ///< Returns a view.
  /// Returns a view of const elements.
  host_view<T const, N> view() const& { return {data(), shape_, strides_}; }
  template <detail::incorrect_use Reason = detail::view_of_temporary_misuse>
  host_view<T, N> view() const&& = delete;
  operator host_view<T, N>() & { return view(); }             ///< Converts implicitly, as view().
  operator host_view<T const, N>() const& { return view(); }  ///< Converts implicitly, as view().
  operator host_view<T, N>() const&& = delete;
  operator host_view<T const, N>() const&& = delete;
  /// Returns a view of the array with its padding; view() if there is none.
  host_view<T, N> padded_view() & { return {data(), padded_shape(), strides_}; }
  /// Returns a view of const elements with their padding.
  host_view<T const, N> padded_view() const& { return {data(), padded_shape(), strides_}; }
  template <detail::incorrect_use Reason = detail::view_of_temporary_misuse>
  host_view<T, N> padded_view() const&& = delete;
  /// Returns a mapped or managed array as kernels and copies of the current device access it,
  /// without a copy (hipHostGetDevicePointer). The address may differ from data(). Throws
  /// registration_error for other kinds of memory. *Lifetime:* the array must outlive the work that
  /// uses the view. Needs roc/memory/mapped_view.hpp, which roc/device_array.hpp includes.
  roc::device_view<T, N> device_view() & { return device_view_of(view()); }
  /// Returns a device view of const elements.
  roc::device_view<T const, N> device_view() const& { return device_view_of(view()); }
  template <detail::incorrect_use Reason = detail::view_of_temporary_misuse>
  roc::device_view<T, N> device_view() const&& = delete;
  ///@}

  /// @name Elements and regions
  ///@{

  /// Returns a reference to an element, for one integer per axis, or a view of a region: see
  /// host_view. Throws shape_error if an index is out of bounds.
  template <class... E>
    requires layout::indexable_with<N, E...>
  decltype(auto) operator()(E... expressions) & {
    return view()(expressions...);
  }
  /// Returns a reference to a const element, or a view of const elements.
  template <class... E>
    requires layout::indexable_with<N, E...>
  decltype(auto) operator()(E... expressions) const& {
    return view()(expressions...);
  }
  /// Returns the value of an element, or an array of the region that takes over the memory.
  template <class... E>
    requires layout::indexable_with<N, E...>
  auto operator()(E... expressions) && {
    if constexpr ((layout::integer_index<E> && ...)) {
      return T(view()(expressions...));
    } else {
      return std::move(*this).region(expressions...);
    }
  }
  /// Returns a view of a region as operator() does, but of a single element a view of rank 0.
  template <layout::index_expression... E>
    requires layout::indexable_with<N, E...>
  host_view<T, layout::index_rank<N, E...>> region(E... expressions) & {
    return view().region(expressions...);
  }
  /// Returns a view of const elements.
  template <layout::index_expression... E>
    requires layout::indexable_with<N, E...>
  host_view<T const, layout::index_rank<N, E...>> region(E... expressions) const& {
    return view().region(expressions...);
  }
  /// Returns an array of the region that takes over the memory.
  template <layout::index_expression... E>
    requires layout::indexable_with<N, E...>
  host_array<T, layout::index_rank<N, E...>> region(E... expressions) && {
    return take(view().region(expressions...));
  }
  /// Returns an iterator to the first of all elements in the order of memory. Throws layout_error
  /// if there are gaps. It is a random-access but no contiguous iterator, so that std::span does
  /// not accept an array of any layout as a range.
  auto begin() { return iterator_at(first_in_memory()); }
  /// Returns the end iterator.
  auto end() { return iterator_at(first_in_memory() + size()); }
  /// Returns an iterator over const elements.
  auto begin() const { return iterator_at<T const*>(first_in_memory()); }
  /// Returns the end iterator of const elements.
  auto end() const { return iterator_at<T const*>(first_in_memory() + size()); }
  ///@}

  /// @name Fills
  /// Without a stream: ordered after all work enqueued earlier, and complete on return. With a
  /// stream: enqueued there. They throw roc::error.
  ///@{

  /// Writes zero bytes to every element and to the padding.
  void zero(detail::caller at = std::source_location::current()) {
    detail::call_scope const call(__func__, at);
    padded_view().zero();
  }
  /// Enqueues zero().
  void zero(stream_ref stream, detail::caller at = std::source_location::current()) {
    detail::call_scope const call(__func__, at);
    padded_view().zero(stream);
  }
  /// Writes `value` to every element, of 1 to 16 bytes. Padding and gaps are not touched.
  void fill(T const& value, detail::caller at = std::source_location::current())
    requires detail::correct_use<detail::fill_misuse<T>>
  {
    detail::call_scope const call(__func__, at);
    view().fill(value);
  }
  /// Enqueues fill(value). The value has been read on return.
  void fill(T const& value, stream_ref stream, detail::caller at = std::source_location::current())
    requires detail::correct_use<detail::fill_misuse<T>>
  {
    detail::call_scope const call(__func__, at);
    view().fill(value, stream);
  }
  /// Deleted: the reason is in the compiler's message.
  ///@{
  template <detail::incorrect_use Reason = detail::fill_misuse<T>>
  void fill(T const& value) = delete;
  template <detail::incorrect_use Reason = detail::fill_misuse<T>>
  void fill(T const& value, stream_ref stream) = delete;
  ///@}
  ///@}

  /// @name Other views of the same memory
  /// For an array with a name they return a view that borrows, with the meaning and the errors of
  /// the members of host_view. For a temporary (`std::move(h).ravel()`) they return an array that
  /// takes over the memory; if they throw, the array keeps it. transpose keeps padding; for the
  /// others it becomes a gap.
  ///@{

  /// Changes the extents and keeps the elements in C order. One extent may be -1.
  template <std::integral... E>
  host_view<T, sizeof...(E)> reshape(E... extents) & {
    return view().reshape(extents...);
  }
  /// Returns a view of const elements.
  template <std::integral... E>
  host_view<T const, sizeof...(E)> reshape(E... extents) const& {
    return view().reshape(extents...);
  }
  /// Returns an array that takes over the memory.
  template <std::integral... E>
  host_array<T, sizeof...(E)> reshape(E... extents) && {
    return take(view().reshape(extents...));
  }
  /// Changes the extents and keeps the elements in the order `o`.
  template <std::size_t M>
  host_view<T, M> reshape(roc::shape<M> const& extents, order o = order::c,
                          detail::caller at = std::source_location::current()) & {
    detail::call_scope const call(__func__, at);
    return view().reshape(extents, o);
  }
  /// Returns a view of const elements.
  template <std::size_t M>
  host_view<T const, M> reshape(roc::shape<M> const& extents, order o = order::c,
                                detail::caller at = std::source_location::current()) const& {
    detail::call_scope const call(__func__, at);
    return view().reshape(extents, o);
  }
  /// Returns an array that takes over the memory.
  template <std::size_t M>
  host_array<T, M> reshape(roc::shape<M> const& extents, order o = order::c,
                           detail::caller at = std::source_location::current()) && {
    detail::call_scope const call(__func__, at);
    return take(view().reshape(extents, o));
  }
  /// Changes the rank to 1, with all elements in the order `o`.
  host_view<T, 1> ravel(order o = order::c, detail::caller at = std::source_location::current()) & {
    detail::call_scope const call(__func__, at);
    return view().ravel(o);
  }
  /// Returns a view of const elements.
  host_view<T const, 1> ravel(order o = order::c,
                              detail::caller at = std::source_location::current()) const& {
    detail::call_scope const call(__func__, at);
    return view().ravel(o);
  }
  /// Returns an array that takes over the memory.
  host_array<T, 1> ravel(order o = order::c,
                         detail::caller at = std::source_location::current()) && {
    detail::call_scope const call(__func__, at);
    return take(view().ravel(o));
  }
  /// Removes the given axes, whose extent must be 1.
  template <std::size_t... Axes>
    requires(sizeof...(Axes) > 0)
  auto squeeze(detail::caller at = std::source_location::current()) & {
    detail::call_scope const call(__func__, at);
    return view().template squeeze<Axes...>();
  }
  /// Returns a view of const elements.
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
  host_view<T, M> squeeze_to(detail::caller at = std::source_location::current()) & {
    detail::call_scope const call(__func__, at);
    return view().template squeeze_to<M>();
  }
  /// Returns a view of const elements.
  template <std::size_t M>
  host_view<T const, M> squeeze_to(detail::caller at = std::source_location::current()) const& {
    detail::call_scope const call(__func__, at);
    return view().template squeeze_to<M>();
  }
  /// Returns an array that takes over the memory.
  template <std::size_t M>
  host_array<T, M> squeeze_to(detail::caller at = std::source_location::current()) && {
    detail::call_scope const call(__func__, at);
    return take(view().template squeeze_to<M>());
  }
  /// Reverses the axes.
  host_view<T, N> transpose(detail::caller at = std::source_location::current()) & {
    detail::call_scope const call(__func__, at);
    return view().transpose();
  }
  /// Returns a view of const elements.
  host_view<T const, N> transpose(detail::caller at = std::source_location::current()) const& {
    detail::call_scope const call(__func__, at);
    return view().transpose();
  }
  /// Returns an array that takes over the memory.
  host_array transpose(detail::caller at = std::source_location::current()) && {
    detail::call_scope const call(__func__, at);
    return std::move(*this).transpose(layout::reversed_axes<N>());
  }
  /// Permutes the axes: axis i of the result is axis axes[i].
  host_view<T, N> transpose(std::array<std::size_t, N> const& axes,
                            detail::caller at = std::source_location::current()) & {
    detail::call_scope const call(__func__, at);
    return view().transpose(axes);
  }
  /// Returns a view of const elements.
  host_view<T const, N> transpose(std::array<std::size_t, N> const& axes,
                                  detail::caller at = std::source_location::current()) const& {
    detail::call_scope const call(__func__, at);
    return view().transpose(axes);
  }
  /// Returns an array that takes over the memory.
  host_array transpose(std::array<std::size_t, N> const& axes,
                       detail::caller at = std::source_location::current()) &&;
  /// Interprets the bytes as elements of type U.
  template <class U>
  host_view<U, N> as(detail::caller at = std::source_location::current()) & {
    detail::call_scope const call(__func__, at);
    return view().template as<U>();
  }
  /// Returns a view of const elements.
  template <class U>
  host_view<U const, N> as(detail::caller at = std::source_location::current()) const& {
    detail::call_scope const call(__func__, at);
    return view().template as<U>();
  }
  /// Returns an array that takes over the memory.
  template <class U>
  host_array<U, N> as(detail::caller at = std::source_location::current()) && {
    detail::call_scope const call(__func__, at);
    return take(view().template as<U>());
  }
  /// Selects one member of every record.
  template <class U, class Record>
  host_view<U, N> field(U Record::*member, detail::caller at = std::source_location::current()) & {
    detail::call_scope const call(__func__, at);
    return view().field(member);
  }
  /// Returns a view of const elements.
  template <class U, class Record>
  host_view<U const, N> field(U Record::*member,
                              detail::caller at = std::source_location::current()) const& {
    detail::call_scope const call(__func__, at);
    return view().field(member);
  }
  /// Returns an array that takes over the memory.
  template <class U, class Record>
  host_array<U, N> field(U Record::*member,
                         detail::caller at = std::source_location::current()) && {
    detail::call_scope const call(__func__, at);
    return take(view().field(member));
  }
  /// Splits an axis into views of sections of `section` indices. Not for a temporary: no single
  /// section could own the memory.
  auto split(std::size_t section, std::size_t axis = 0,
             detail::caller at = std::source_location::current()) & {
    detail::call_scope const call(__func__, at);
    return view().split(section, axis);
  }
  /// Returns a view of const elements.
  auto split(std::size_t section, std::size_t axis = 0,
             detail::caller at = std::source_location::current()) const& {
    detail::call_scope const call(__func__, at);
    return view().split(section, axis);
  }
  template <detail::incorrect_use Reason = detail::view_of_temporary_misuse>
  auto split(std::size_t section, std::size_t axis = 0) && = delete;
  ///@}

  /// @name New arrays
  /// These return a compact array in pageable host memory, as the members of host_view with these
  /// names do: for any layout, complete on return.
  ///@{

  /// Copies the elements in C order to other extents; one may be -1.
  template <std::integral... E>
  host_array<T, sizeof...(E)> reshape_copy(E... extents) const {
    return view().reshape_copy(extents...);
  }
  /// Copies the elements in the order `o` to other extents.
  template <std::size_t M>
  host_array<T, M> reshape_copy(roc::shape<M> const& extents, order o = order::c,
                                detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return view().reshape_copy(extents, o);
  }
  /// Copies all elements in the order `o` to rank 1.
  host_array<T, 1> ravel_copy(order o = order::c,
                              detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return view().ravel_copy(o);
  }
  /// Copies the bytes of the elements, in C order, to elements of type U.
  template <class U>
  host_array<U, N> as_copy(detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return view().template as_copy<U>();
  }
  /// Copies one member of every record, of any size.
  template <class U, class Record>
    requires std::derived_from<T, Record>
  host_array<U, N> field_copy(U Record::*member,
                              detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return view().field_copy(member);
  }
  ///@}

 private:
  template <class, std::size_t>
  friend class host_array;
  template <class U, std::size_t M>
  friend host_array<U, M> pinned_array(roc::shape<M> const& shape, memory_resource& resource,
                                       order o, detail::caller at);
  template <class U, std::size_t M>
  friend host_array<U, M> mapped_array(roc::shape<M> const& shape, memory_resource& resource,
                                       order o, detail::caller at);

  host_array(roc::shape<N> const& shape, memory_resource& resource, host_memory needed, order o,
             detail::caller at)
      : memory_((detail::call_scope("host_array", at),
                 detail::host_storage(detail::compact_bytes(shape, sizeof(T)), resource, needed))),
        data_(static_cast<T*>(memory_.data())),
        shape_(shape),
        strides_(layout::compact_strides(shape, o)),
        has_value_(true) {}

  template <class V>
  V const& checked(V const& value) const {
    if (!has_value_) {
      detail::throw_lifetime_error(
          "use of a host_array that owns nothing: it was moved from or never given a shape");
    }
    return value;
  }

  /// Returns the lowest address of an element. Throws layout_error if there are gaps.
  T* first_in_memory() const {
    auto const range = layout::element_range(checked(shape_), strides_);
    if (static_cast<std::size_t>(range.high - range.low) != size()) {
      detail::throw_layout_error(
          "cannot iterate over an array with gaps: strides {}; index its elements, or use a "
          "contiguous array",
          strides_);
    }
    return data_ + range.low;
  }

  /// Returns a random-access iterator that is not contiguous: reversed twice.
  template <class Pointer>
  static auto iterator_at(Pointer element) {
    using reversed = std::reverse_iterator<Pointer>;
    return std::reverse_iterator<reversed>(reversed(element));
  }

  /// Returns an array with the memory of this one, which then owns nothing, and the shape and
  /// strides of `view`.
  template <class U, std::size_t M>
  host_array<U, M> take(host_view<U, M> const& view) {
    host_array<U, M> result;
    result.memory_ = std::move(memory_);
    result.data_ = view.size() == 0 ? nullptr : view.data();
    result.shape_ = view.shape();
    result.strides_ = view.strides();
    result.has_value_ = std::exchange(has_value_, false);
    return result;
  }

  detail::host_storage memory_;
  T* data_ = nullptr;
  roc::shape<N> shape_{};
  roc::strides<N> strides_{};
  std::optional<roc::shape<N>> padded_shape_;  // of the memory, if the array has padding
  bool has_value_ = false;                     // false after a move and default construction
};

/// Returns a host array in pinned memory (hipHostMalloc; numba.cuda: `pinned_array`; torch:
/// `pin_memory`), portable by default. The memory of such arrays is cached: see pinned_cache.
/// Throws as the constructors of host_array.
template <class T, std::size_t N>
[[nodiscard]] host_array<T, N> pinned_array(shape<N> const& shape, order o = order::c,
                                            detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  return host_array<T, N>(shape, o, host_memory::pinned);
}
/// Returns a host array in pinned memory with these flags.
template <class T, std::size_t N>
[[nodiscard]] host_array<T, N> pinned_array(shape<N> const& shape, host_flags flags,
                                            order o = order::c,
                                            detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  return host_array<T, N>(shape, o, host_memory::pinned, flags);
}
/// Returns a host array in pinned memory from extents in braces: `pinned_array<float>({n, m})`.
template <class T, std::size_t N>
  requires(N >= 2)
[[nodiscard]] host_array<T, N> pinned_array(std::size_t const (&extents)[N], order o = order::c,
                                            detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  return pinned_array<T>(detail::shape_from(extents), o);
}
/// Returns a host array in pinned memory with these flags from extents in braces.
template <class T, std::size_t N>
  requires(N >= 2)
[[nodiscard]] host_array<T, N> pinned_array(std::size_t const (&extents)[N], host_flags flags,
                                            order o = order::c,
                                            detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  return pinned_array<T>(detail::shape_from(extents), flags, o);
}
/// Returns a host array of rank 1 in pinned memory. Throws shape_error if `extent` is negative.
template <class T, std::integral I = std::size_t>
[[nodiscard]] host_array<T, 1> pinned_array(I extent, host_flags flags = host_flags::portable,
                                            detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  return host_array<T, 1>(extent, host_memory::pinned, flags);
}
/// Returns a host array in pinned memory from `resource`, which must outlive the array. Throws
/// registration_error if the resource allocates host memory that is not pinned.
template <class T, std::size_t N>
[[nodiscard]] host_array<T, N> pinned_array(shape<N> const& shape, memory_resource& resource,
                                            order o = order::c,
                                            detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  return host_array<T, N>(shape, resource, host_memory::pinned, o, at);
}

/// Returns a host array in pinned memory that kernels access through its device_view
/// (hipHostMallocMapped; numba.cuda: `mapped_array`), for data that is read or written once. It is
/// coherent by default. Throws as the constructors of host_array.
template <class T, std::size_t N>
[[nodiscard]] host_array<T, N> mapped_array(shape<N> const& shape,
                                            host_flags flags = host_flags::default_flags,
                                            order o = order::c,
                                            detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  return host_array<T, N>(shape, o, host_memory::mapped, flags);
}
/// Returns a host array in mapped memory from extents in braces.
template <class T, std::size_t N>
  requires(N >= 2)
[[nodiscard]] host_array<T, N> mapped_array(std::size_t const (&extents)[N],
                                            host_flags flags = host_flags::default_flags,
                                            order o = order::c,
                                            detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  return mapped_array<T>(detail::shape_from(extents), flags, o);
}
/// Returns a host array of rank 1 in mapped memory. Throws shape_error if `extent` is negative.
template <class T, std::integral I = std::size_t>
[[nodiscard]] host_array<T, 1> mapped_array(I extent, host_flags flags = host_flags::default_flags,
                                            detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  return host_array<T, 1>(extent, host_memory::mapped, flags);
}
/// Returns a host array in mapped memory from `resource`, which must outlive the array. Throws
/// registration_error if the resource allocates host memory that is not mapped.
template <class T, std::size_t N>
[[nodiscard]] host_array<T, N> mapped_array(shape<N> const& shape, memory_resource& resource,
                                            order o = order::c,
                                            detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  return host_array<T, N>(shape, resource, host_memory::mapped, o, at);
}

/// Returns a host array in managed memory, which host and device access at the same address
/// (hipMallocManaged; numba.cuda: `managed_array`): see roc/memory/managed.hpp. Asynchronous copies
/// treat it as pinned memory. If the device has no ConcurrentManagedAccess, the host may access it
/// only while no work of the device is pending: roc::map waits for that. Throws as the constructors
/// of host_array.
template <class T, std::size_t N>
[[nodiscard]] host_array<T, N> managed_array(shape<N> const& shape, order o = order::c,
                                             detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  return host_array<T, N>(shape, o, host_memory::managed);
}
/// Returns a host array in managed memory from extents in braces.
template <class T, std::size_t N>
  requires(N >= 2)
[[nodiscard]] host_array<T, N> managed_array(std::size_t const (&extents)[N], order o = order::c,
                                             detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  return managed_array<T>(detail::shape_from(extents), o);
}
/// Returns a host array of rank 1 in managed memory. Throws shape_error if `extent` is negative.
template <class T, std::integral I = std::size_t>
[[nodiscard]] host_array<T, 1> managed_array(I extent,
                                             detail::caller at = std::source_location::current()) {
  detail::call_scope const call(__func__, at);
  return host_array<T, 1>(extent, host_memory::managed);
}

template <class T, std::size_t N>
void host_array<T, N>::swap(host_array& other) noexcept {
  memory_.swap(other.memory_);
  std::swap(data_, other.data_);
  std::swap(shape_, other.shape_);
  std::swap(strides_, other.strides_);
  padded_shape_.swap(other.padded_shape_);
  std::swap(has_value_, other.has_value_);
}

template <class T, std::size_t N>
host_array<T, N> host_array<T, N>::transpose(std::array<std::size_t, N> const& axes,
                                             detail::caller at) && {
  detail::call_scope const call(__func__, at);
  auto const transposed = view().transpose(axes);
  auto const padded = detail::permuted(padded_shape_, axes);
  auto result = take(transposed);
  result.padded_shape_ = padded;
  return result;
}

}  // namespace roc
