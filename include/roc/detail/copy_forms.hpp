// SPDX-License-Identifier: MIT
// The forms that make a new array where a view of the same memory cannot be.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <roc/detail/field_offset.hpp>
#include <roc/detail/region.hpp>
#include <roc/layout/reshape.hpp>
#include <roc/layout/shape.hpp>
#include <roc/stream.hpp>

namespace roc {

template <class T, std::size_t N>
class device_array;
template <class T, std::size_t N>
class host_array;

namespace detail {

/// What the forms make of arrays and views at this place.
template <place Where, class T, std::size_t N>
using new_array = std::conditional_t<Where == place::device, device_array<T, N>, host_array<T, N>>;

/// Base of arrays and views. All make a new array, on the device of this one or in pageable host
/// memory, copy, and are done on return. They throw what roc::copy throws, and out_of_memory.
template <class Self, class T, std::size_t N>
class copy_forms {
  using plain = std::remove_cv_t<T>;

 public:
  /// As reshape, of any layout: the elements in the order `o`. Throws shape_error (sizes differ).
  template <std::size_t M>
  auto reshape_copy(roc::shape<M> const& extents, order o = order::c) const {
    return reshaped_copy(layout::detail::exactly(extents), o);
  }
  /// In C order; one extent may be -1.
  template <std::integral... E>
  auto reshape_copy(E... extents) const {
    return reshaped_copy(
        layout::signed_shape<sizeof...(E)>{layout::detail::extent_of(extents)...}, order::c);
  }
  /// As ravel, of any layout.
  auto ravel_copy(order o = order::c) const {
    return reshaped_copy(layout::signed_shape<1>{-1}, o);
  }
  /// As `as`, of any layout: of a compact copy in C order.
  template <class U>
  auto as_copy() const {
    return duplicate(order::c).template as<U>();
  }
  /// As field, of a member of any size: a compact array in C order.
  template <class U, class Record>
    requires std::derived_from<plain, Record>
  auto field_copy(U Record::*member) const {
    auto const& from = self().view();
    auto result = empty<U>(from.shape(), order::c, from.device_ordinal());
    // Members as bytes along one more axis: so their size need not divide the record's.
    auto const shape = with_last(from.shape(), sizeof(U));
    auto const source = in_bytes(from.strides(), sizeof(T));
    auto const target = in_bytes(result.strides(), sizeof(U));
    auto const first = reinterpret_cast<std::uintptr_t>(from.data()) + field_offset<U, plain>(member);
    copy(side_region(reinterpret_cast<void*>(first), shape, source, from.device_ordinal()),
         side_region(result.data(), shape, target, from.device_ordinal()), nullptr);
    return result;
  }

 private:
  Self const& self() const { return static_cast<Self const&>(*this); }

  template <class U>
  auto empty(roc::shape<N> const& shape, order o, [[maybe_unused]] int device) const {
    constexpr place where = std::remove_cvref_t<decltype(self().view())>::memory_place;
    if constexpr (where == place::device) {
      stream_ref const there(nullptr, device, stream_kind::default_stream);
      return new_array<where, U, N>(shape, o, there);
    } else {
      return new_array<where, U, N>(shape, o);
    }
  }

  auto duplicate(order o) const {
    auto const& from = self().view();
    auto result = empty<plain>(from.shape(), o, from.device_ordinal());
    copy(from, result);
    return result;
  }

  template <std::size_t M>
  auto reshaped_copy(layout::signed_shape<M> const& extents, order o) const {
    auto const complete = layout::complete_shape(self().shape(), extents);
    return duplicate(o).reshape(complete, o);
  }

  static roc::shape<N + 1> with_last(roc::shape<N> const& shape, std::size_t bytes) {
    roc::shape<N + 1> result{};
    for (std::size_t i = 0; i < N; ++i) result[i] = shape[i];
    result[N] = bytes;
    return result;
  }
  static roc::strides<N + 1> in_bytes(roc::strides<N> const& strides, std::size_t element) {
    roc::strides<N + 1> result{};
    for (std::size_t i = 0; i < N; ++i) result[i] = layout::detail::steps(strides[i], element);
    result[N] = 1;
    return result;
  }
  static region side_region(void* data, roc::shape<N + 1> const& shape,
                            roc::strides<N + 1> const& strides, int device) {
    return {data, 1, N + 1, shape.data(), strides.data(),
            std::remove_cvref_t<decltype(std::declval<Self const&>().view())>::memory_place, device};
  }
};

}  // namespace detail
}  // namespace roc
