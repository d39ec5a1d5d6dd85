// SPDX-License-Identifier: MIT
// The bodies of the members that host_view and device_view have in common. A view `v` is taken by
// reference; the results that are views borrow the same memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <roc/detail/argument_traits.hpp>
#include <roc/detail/strided_region.hpp>
#include <roc/detail/throw.hpp>
#include <roc/layout/index.hpp>
#include <roc/layout/reshape.hpp>
#include <roc/layout/shape.hpp>
#include <roc/layout/split.hpp>
#include <roc/stream.hpp>

namespace roc::detail {

/// Returns a host view of other elements. Throws shape_error if the size overflows.
template <class T, std::size_t N, class U, std::size_t M>
constexpr host_view<U, M> view_like(host_view<T, N> const&, U* data, shape<M> const& extents,
                                    strides<M> const& strides) {
  return {data, extents, strides};
}
/// Returns a device view of other elements on the device of `v`.
template <class T, std::size_t N, class U, std::size_t M>
device_view<U, M> view_like(device_view<T, N> const& v, U* data, shape<M> const& extents,
                            strides<M> const& strides) {
  return {data, extents, strides, v.device_ordinal()};
}

/// Returns the shape and strides of `v` with offset 0.
template <class View>
constexpr layout::mapping<View::rank> mapping_of(View const& v) {
  return {v.shape(), v.strides(), 0};
}

/// Returns a view, in the memory space of `v`, with this mapping of memory that begins at `data`. A
/// null pointer stays null.
template <class View, class U, std::size_t M>
constexpr auto with_mapping(View const& v, U* data, layout::mapping<M> const& mapping) {
  return view_like(v, data == nullptr ? nullptr : data + mapping.offset, mapping.shape,
                   mapping.strides);
}
/// Returns a view with this mapping of the memory of `v`.
template <class View, std::size_t M>
constexpr auto with_mapping(View const& v, layout::mapping<M> const& mapping) {
  return with_mapping(v, v.data(), mapping);
}

/// Returns a view with other extents, one of which may be -1. Throws as the member reshape does.
template <class View, std::size_t M>
constexpr auto reshaped(View const& v, layout::signed_shape<M> const& extents, order o) {
  auto const mapping = mapping_of(v);
  return with_mapping(v,
                      layout::reshape(mapping, layout::complete_shape(mapping.shape, extents), o));
}

/// Returns the extents of a reshape as an array.
template <class... E>
constexpr layout::signed_shape<sizeof...(E)> signed_extents(E... extents) {
  return {layout::detail::signed_extent(extents)...};
}

/// Returns the sections of an axis. Throws as the member split does.
template <class View>
std::vector<View> split_view(View const& v, std::size_t section, std::size_t axis) {
  auto const mapping = mapping_of(v);
  std::size_t const count = layout::split_count(mapping, axis, section);
  std::vector<View> sections;
  sections.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    sections.push_back(with_mapping(v, layout::split_part(mapping, axis, section, i)));
  }
  return sections;
}

/// Returns a view of the same bytes as elements of type U. Throws as the member as() does.
template <class U, class View>
auto reinterpret_view(View const& v) {
  using element = typename View::element_type;
  auto const mapping = layout::reinterpret(mapping_of(v), sizeof(element), sizeof(U));
  if (reinterpret_cast<std::uintptr_t>(v.data()) % alignof(U) != 0) {
    throw_layout_error(
        "address is not aligned to {} bytes, as the new element type requires; begin the view at "
        "another element",
        alignof(U));
  }
  return with_mapping(v, reinterpret_cast<with_const_of<element, U>*>(v.data()), mapping);
}

/// Returns the number of bytes from the beginning of a record to a member.
template <class U, class Record>
std::size_t field_offset(U Record::*member) noexcept {
  // Only the address of a member is formed, so no record has to exist.
  alignas(Record) static std::byte const storage[sizeof(Record)] = {};
  auto const* const record = reinterpret_cast<Record const*>(storage);
  // As a byte, because the member's own type may have an operator&.
  auto const& first_byte = reinterpret_cast<std::byte const volatile&>(record->*member);
  return static_cast<std::size_t>(&first_byte - storage);
}

/// Returns a view of one member of every record; it may be a member of a base. Throws as the member
/// field() does.
template <class View, class U, class Record>
auto field_view(View const& v, U Record::*member) {
  using record = typename View::value_type;
  using field = with_const_of<typename View::element_type, U>;
  static_assert(std::is_trivially_copyable_v<U> && !std::is_array_v<U>,
                "rocarray: a field must be trivially copyable and no array");
  std::size_t const offset = field_offset<U, record>(member);
  auto const mapping = layout::field(mapping_of(v), sizeof(record), offset, sizeof(U));
  if (v.data() == nullptr) return with_mapping(v, static_cast<field*>(nullptr), mapping);
  auto const address = reinterpret_cast<std::uintptr_t>(v.data()) + offset;
  return with_mapping(v, reinterpret_cast<field*>(address), mapping);
}

/// Calls f with the region of a view whose elements are written.
template <class View, class F>
void with_region(View const& v, F f) {
  using value = typename View::value_type;
  check_device(v.device_ordinal());
  auto const shape = v.shape();
  auto const strides = v.strides();
  f(strided_region{const_cast<value*>(v.data()), sizeof(value), View::rank, shape.data(),
                   strides.data(), memory_space_of<View>, v.device_ordinal()});
}

/// Writes zero bytes to the elements; `stream` is as for detail::zero.
template <class View>
void zero_view(View const& v, stream_ref const* stream) {
  with_region(v, [&](strided_region const& r) { detail::zero(r, stream); });
}

/// Writes a value to every element; `stream` is as for detail::fill.
template <class View, class Value>
void fill_view(View const& v, Value const& value, stream_ref const* stream) {
  static_assert(sizeof(Value) <= 16, "rocarray: fill takes elements of at most 16 bytes");
  with_region(v, [&](strided_region const& r) { detail::fill(r, &value, stream); });
}

/// Returns a new, uninitialized array: on the device of `v`, or in pageable host memory.
template <class U, class View>
auto new_array_like(View const& v, order o) {
  if constexpr (memory_space_of<View> == memory_space::device) {
    stream_ref const stream(nullptr, v.device_ordinal(), stream_kind::default_stream);
    return device_array<U, View::rank>(v.shape(), o, stream);
  } else {
    return host_array<U, View::rank>(v.shape(), o);
  }
}

/// Returns a compact copy of a view, complete on return. Throws what a copy throws, and
/// out_of_memory.
template <class View>
auto duplicate(View const& v, order o) {
  auto result = new_array_like<typename View::value_type>(v, o);
  copy(v, result);
  return result;
}

/// Returns a compact copy of a view with other extents, one of which may be -1, complete on return.
/// Throws shape_error if the sizes differ, and what a copy throws.
template <class View, std::size_t M>
auto reshaped_copy(View const& v, layout::signed_shape<M> const& extents, order o) {
  auto const shape = layout::complete_shape(v.shape(), extents);
  return duplicate(v, o).reshape(shape, o);
}

/// Returns the shape with one more axis at the end.
template <std::size_t N>
roc::shape<N + 1> with_last_axis(roc::shape<N> const& shape, std::size_t extent) {
  roc::shape<N + 1> result{};
  for (std::size_t i = 0; i < N; ++i) result[i] = shape[i];
  result[N] = extent;
  return result;
}
/// Returns strides that count bytes, with a last axis for the bytes of an element.
template <std::size_t N>
roc::strides<N + 1> strides_in_bytes(roc::strides<N> const& strides, std::size_t element_size) {
  roc::strides<N + 1> result{};
  for (std::size_t i = 0; i < N; ++i) {
    result[i] = layout::detail::stride_times(strides[i], element_size);
  }
  result[N] = 1;
  return result;
}

/// Returns a compact copy of one member of every record, complete on return. The bytes of a member
/// become one more axis, so its size need not divide the record's.
template <class View, class U, class Record>
auto field_copy(View const& v, U Record::*member) {
  using record = typename View::value_type;
  check_device(v.device_ordinal());
  auto result = new_array_like<U>(v, order::c);
  auto const shape = with_last_axis(v.shape(), sizeof(U));
  auto const from_strides = strides_in_bytes(v.strides(), sizeof(record));
  auto const to_strides = strides_in_bytes(result.strides(), sizeof(U));
  auto const address = reinterpret_cast<std::uintptr_t>(v.data()) + field_offset<U, record>(member);
  auto const bytes = [&](void* data, roc::strides<View::rank + 1> const& strides) {
    return strided_region{data,
                          1,
                          View::rank + 1,
                          shape.data(),
                          strides.data(),
                          memory_space_of<View>,
                          v.device_ordinal()};
  };
  copy(bytes(reinterpret_cast<void*>(address), from_strides), bytes(result.data(), to_strides),
       nullptr);
  return result;
}

}  // namespace roc::detail
