// SPDX-License-Identifier: MIT
// What every view can do, on the host and on the device: other views of the same memory, fills.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <roc/config.hpp>
#include <roc/detail/field_offset.hpp>
#include <roc/detail/region.hpp>
#include <roc/layout/index.hpp>
#include <roc/layout/reshape.hpp>
#include <roc/layout/shape.hpp>
#include <roc/layout/split.hpp>
#include <roc/stream.hpp>

namespace roc::detail {

/// Base of device_view and host_view. The functions that return views borrow: the memory must
/// outlive them, and the work enqueued with them.
template <class Self, class T, std::size_t N>
class view_operations {
 public:
  /// Payload: elements times their size, gaps not counted.
  constexpr std::size_t size_bytes() const { return self().size() * sizeof(T); }
  /// Contiguous in C order. Unit axes do not matter; zero-size arrays are.
  constexpr bool is_c_contiguous() const {
    return layout::is_c_contiguous(self().shape(), self().strides());
  }
  /// Contiguous in F order.
  constexpr bool is_f_contiguous() const {
    return layout::is_f_contiguous(self().shape(), self().strides());
  }

  /// As operator(), with a single element as a view of rank 0 too.
  template <layout::index_expression... E>
    requires layout::indexes<N, E...>
  constexpr auto region(E... expressions) const {
    return placed(layout::index(mapping(), expressions...));
  }

  /// Other extents of the same size, one of which may be -1, elements kept in C order. Throws
  /// shape_error (sizes differ), layout_error (only a copy could do it: see reshape_copy).
  template <std::integral... E>
  constexpr auto reshape(E... extents) const {
    return reshaped(layout::signed_shape<sizeof...(E)>{layout::detail::extent_of(extents)...},
                    order::c);
  }
  /// The same with the order in which elements are counted (numba: `reshape(shape, order=)`).
  template <std::size_t M>
  constexpr auto reshape(roc::shape<M> const& extents, order o = order::c) const {
    return reshaped(layout::detail::exactly(extents), o);
  }
  /// Rank 1 over all elements in the given order; layout_error where that needs a copy.
  constexpr auto ravel(order o = order::c) const {
    return reshaped(layout::signed_shape<1>{-1}, o);
  }
  /// Without the named axes, whose extent must be 1 (shape_error).
  template <std::size_t... Axes>
    requires(sizeof...(Axes) > 0)
  constexpr auto squeeze() const {
    return placed(layout::squeeze<Axes...>(mapping()));
  }
  /// Without any axis of extent 1 (numba: `squeeze()`): M are left, else shape_error.
  template <std::size_t M>
    requires(M <= N)
  constexpr auto squeeze_to() const {
    return placed(layout::squeeze_to<M>(mapping()));
  }
  /// The axes in reverse.
  constexpr auto transpose() const { return transpose(layout::reversed_axes<N>()); }
  /// Axis i is axis axes[i]; layout_error where `axes` is no permutation.
  constexpr auto transpose(std::array<std::size_t, N> const& axes) const {
    return placed(layout::transpose(mapping(), axes));
  }

  /// Parts of `section` indices along an axis, the last may be shorter (numba: `split`). Throws
  /// shape_error for a section of zero or an axis that is not there.
  auto split(std::size_t section, std::size_t axis = 0) const
    requires(N > 0)
  {
    std::size_t const count = layout::split_count(mapping(), axis, section);
    std::vector<Self> parts;
    parts.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      parts.push_back(placed(layout::split_part(mapping(), axis, section, i)));
    }
    return parts;
  }

  /// The same bytes as elements of another type (numba: `view`): the extent of the axis of stride 1
  /// changes with the element's size. Throws layout_error where no such axis is there, sizes,
  /// strides or the address do not fit; shape_error where the extent does not.
  template <class U>
    requires(std::is_trivially_copyable_v<U> && !std::is_const_v<U>)
  auto as() const {
    using element = std::conditional_t<std::is_const_v<T>, U const, U>;
    auto const to = layout::reinterpret(mapping(), sizeof(T), sizeof(U));
    if (reinterpret_cast<std::uintptr_t>(self().data()) % alignof(U) != 0) {
      std::ptrdiff_t const alignment = alignof(U);
      throw_layout_error("elements that need alignment to bytes ", {&alignment, 1}, "", {},
                         " at an address that has not: begin at another element");
    }
    return placed(reinterpret_cast<element*>(self().data()), to);
  }

  /// One member of every record (numba: `record_array[field]`). Throws layout_error where its size
  /// does not divide the record's: see field_copy.
  template <class U, class Record>
    requires std::derived_from<std::remove_cv_t<T>, Record>
  auto field(U Record::*member) const {
    static_assert(std::is_trivially_copyable_v<U> && !std::is_array_v<U>,
                  "rocarray: a field is an element of its own");
    using element = std::conditional_t<std::is_const_v<T>, U const, U>;
    std::size_t const offset = field_offset<U, std::remove_cv_t<T>>(member);
    auto const to = layout::field(mapping(), sizeof(T), offset, sizeof(U));
    if (self().data() == nullptr) return placed(static_cast<element*>(nullptr), to);
    auto const first = reinterpret_cast<std::uintptr_t>(self().data()) + offset;
    return placed(reinterpret_cast<element*>(first), to);
  }

  /// Writes zero bytes to the elements; gaps are not touched. Ordered after all work enqueued
  /// earlier on the device, and done on return. Throws lifetime_error (null), roc::error.
  void zero() const
    requires(!std::is_const_v<T>)
  {
    with_region([](region_t const& r) { detail::zero(r, nullptr); });
  }
  /// Enqueued on `stream`.
  void zero(stream_ref stream) const
    requires(!std::is_const_v<T>)
  {
    with_region([&](region_t const& r) { detail::zero(r, &stream); });
  }
  /// Writes `value` to every element; gaps are not touched. Elements of 1 to 16 bytes. Ordered
  /// after all work enqueued earlier on the device, and done on return. Throws as zero does.
  void fill(std::type_identity_t<T> const& value) const
    requires(!std::is_const_v<T>)
  {
    check_fill();
    with_region([&](region_t const& r) { detail::fill(r, &value, nullptr); });
  }
  /// Enqueued on `stream`; the value has been read on return.
  void fill(std::type_identity_t<T> const& value, stream_ref stream) const
    requires(!std::is_const_v<T>)
  {
    check_fill();
    with_region([&](region_t const& r) { detail::fill(r, &value, &stream); });
  }

 protected:
  constexpr layout::mapping<N> mapping() const { return {self().shape(), self().strides(), 0}; }

 private:
  using region_t = detail::region;

  constexpr Self const& self() const { return static_cast<Self const&>(*this); }

  static constexpr void check_fill() {
    static_assert(sizeof(T) <= 16, "rocarray: fill takes elements of at most 16 bytes");
  }

  template <std::size_t M>
  constexpr auto placed(layout::mapping<M> const& to) const {
    return placed(self().data(), to);
  }
  template <class U, std::size_t M>
  constexpr auto placed(U* data, layout::mapping<M> const& to) const {
    return self().same_memory(data == nullptr ? nullptr : data + to.offset, to.shape, to.strides);
  }

  template <std::size_t M>
  constexpr auto reshaped(layout::signed_shape<M> const& extents, order o) const {
    auto const from = mapping();
    return placed(layout::reshape(from, layout::complete_shape(from.shape, extents), o));
  }

  template <class F>
  void with_region(F f) const {
    auto const shape = self().shape();
    auto const strides = self().strides();
    using plain = std::remove_cv_t<T>;
    f(region_t{const_cast<plain*>(self().data()), sizeof(T), N, shape.data(), strides.data(),
               Self::memory_place, self().device_ordinal()});
  }
};

}  // namespace roc::detail
