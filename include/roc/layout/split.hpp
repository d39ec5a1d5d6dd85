// SPDX-License-Identifier: MIT
// Views of parts of an array: sections of an axis, the same bytes as elements of another size, one
// member of every record. Never copies.
#pragma once

#include <array>
#include <cstddef>

#include <roc/layout/shape.hpp>

namespace roc::layout {

namespace detail {

/// Throws shape_error if the section is 0 or the axis does not exist.
template <std::size_t N>
constexpr void check_section(mapping<N> const& from, std::size_t axis, std::size_t section) {
  if (axis < N && section != 0) return;
  roc::detail::throw_shape_error(
      "cannot split axis {} of shape {} into sections of {}; use an "
      "existing axis and a section of 1 or more",
      axis, from.shape, section);
}

}  // namespace detail

/// Returns the number of parts if an axis is split into parts of `section` indices. The last part
/// may be shorter; an axis of extent 0 has no parts.
/// @throws shape_error if the section is 0 or the axis does not exist
template <std::size_t N>
constexpr std::size_t split_count(mapping<N> const& from, std::size_t axis, std::size_t section) {
  detail::check_section(from, axis, section);
  std::size_t const extent = from.shape[axis];
  return extent == 0 ? 0 : (extent - 1) / section + 1;
}

/// Returns part `number` of an axis that is split into parts of `section` indices.
/// @throws shape_error as split_count does, and if `number` is not less than the number of parts
template <std::size_t N>
constexpr mapping<N> split_part(mapping<N> const& from, std::size_t axis, std::size_t section,
                                std::size_t number) {
  std::size_t const count = split_count(from, axis, section);
  if (number >= count) {
    roc::detail::throw_shape_error("part {} is out of bounds for a split into {} parts", number,
                                   count);
  }
  mapping<N> result = from;
  std::size_t const first = number * section;
  std::size_t const remaining = from.shape[axis] - first;
  result.shape[axis] = section < remaining ? section : remaining;
  if (!detail::is_empty(from.shape))
    result.offset += detail::stride_times(from.strides[axis], first);
  return result;
}

namespace detail {

/// Returns the axis whose elements are adjacent in memory: the last axis longer than 1 that has
/// stride 1. If all axes have extent 1, returns the last axis. Returns N if there is no such axis.
template <std::size_t N>
constexpr std::size_t unit_stride_axis(mapping<N> const& from) {
  bool all_have_extent_1 = true;
  for (std::size_t i = N; i-- > 0;) {
    if (from.shape[i] == 1) continue;
    if (from.strides[i] == 1) return i;
    all_have_extent_1 = false;
  }
  return all_have_extent_1 && N != 0 ? N - 1 : N;
}

}  // namespace detail

/// Returns the mapping of the same bytes as elements of another size. The extent of the axis of
/// stride 1 changes; strides and offset count new elements.
/// @param from_bytes size of an element of `from`
/// @param to_bytes size of an element of the result
/// @throws layout_error if neither size divides the other, if no axis has stride 1, or if a stride
///   or the offset overflows or is not a whole number of new elements
/// @throws shape_error if the axis of stride 1 is not a whole number of new elements long
template <std::size_t N>
constexpr mapping<N> reinterpret(mapping<N> const& from, std::size_t from_bytes,
                                 std::size_t to_bytes) {
  if (from_bytes == to_bytes) return from;
  if (from_bytes % to_bytes != 0 && to_bytes % from_bytes != 0) {
    roc::detail::throw_layout_error(
        "cannot view elements of {} bytes as elements of {} bytes; use a "
        "size that divides the other",
        from_bytes, to_bytes);
  }
  std::size_t const unit_axis = detail::unit_stride_axis(from);
  if (unit_axis == N) {
    roc::detail::throw_layout_error(
        "cannot view elements of {} bytes as elements of {} bytes: no "
        "axis has stride 1; copy the array first",
        from_bytes, to_bytes);
  }
  mapping<N> result = from;
  bool const shrinks = from_bytes > to_bytes;
  std::size_t const factor = shrinks ? from_bytes / to_bytes : to_bytes / from_bytes;
  bool const is_empty = detail::is_empty(from.shape);  // then strides are never applied
  auto const rescale = [&](std::ptrdiff_t& value) {
    auto const divisor = static_cast<std::ptrdiff_t>(factor);
    bool const fails =
        shrinks ? __builtin_mul_overflow(value, divisor, &value) : value % divisor != 0;
    if (fails && !is_empty) {
      roc::detail::throw_layout_error(
          "cannot view elements of {} bytes as elements of {} bytes: "
          "strides and offset must be whole numbers of new elements",
          from_bytes, to_bytes);
    }
    if (!shrinks) value /= divisor;
  };
  if (!shrinks && from.shape[unit_axis] % factor != 0) {
    roc::detail::throw_shape_error(
        "cannot view elements of {} bytes as elements of {} bytes: extent "
        "{} of the axis of stride 1 is not a multiple of {}; slice it",
        from_bytes, to_bytes, from.shape[unit_axis], factor);
  }
  result.shape[unit_axis] =
      shrinks ? from.shape[unit_axis] * factor : from.shape[unit_axis] / factor;
  for (std::size_t i = 0; i < N; ++i) {
    if (i == unit_axis || from.shape[i] == 1) {
      result.strides[i] = 1;  // the stride of an axis of extent 1 is never applied
    } else {
      rescale(result.strides[i]);
    }
  }
  rescale(result.offset);
  return result;
}

/// Returns the mapping of one member of every record. Strides and offset count members. They are
/// relative to the member of the record at position 0: the caller moves the pointer by
/// `field_offset` bytes.
/// @param record_bytes size of a record
/// @param field_offset of the member in the record, in bytes
/// @param field_bytes size of the member
/// @throws layout_error if the member is not inside the record, if its size does not divide the
///   record's, or if strides or offset overflow
template <std::size_t N>
constexpr mapping<N> field(mapping<N> const& from, std::size_t record_bytes,
                           std::size_t field_offset, std::size_t field_bytes) {
  auto const fail = [&](char const* format) {
    roc::detail::throw_layout_error(format, field_bytes, field_offset, record_bytes);
  };
  if (field_bytes > record_bytes || field_offset > record_bytes - field_bytes) {
    fail("field of {} bytes at offset {} is not inside records of {} bytes");
  }
  if (field_bytes == 0 || record_bytes % field_bytes != 0) {
    fail(
        "cannot view field of {} bytes at offset {} in records of {} bytes: its size does not "
        "divide the record's; use field_copy");
  }
  auto const factor = static_cast<std::ptrdiff_t>(record_bytes / field_bytes);
  mapping<N> result = from;
  bool const is_empty = detail::is_empty(from.shape);
  auto const rescale = [&](std::ptrdiff_t& value, bool is_used) {
    if (__builtin_mul_overflow(value, factor, &value) && is_used) {
      fail(
          "strides or offset overflow for field of {} bytes at offset {} in records of {} bytes; "
          "use smaller strides");
    }
  };
  for (std::size_t i = 0; i < N; ++i) rescale(result.strides[i], !is_empty && from.shape[i] != 1);
  rescale(result.offset, !is_empty);
  return result;
}

}  // namespace roc::layout
