// SPDX-License-Identifier: MIT
// An axis in parts, and the same bytes as elements of another size or as a member of each record.
// Never a copy.
#pragma once

#include <array>
#include <cstddef>

#include <roc/layout/shape.hpp>

namespace roc::layout {

namespace detail {

template <std::size_t N>
constexpr void check_section(mapping<N> const& from, std::size_t axis, std::size_t section) {
  if (axis < N && section != 0) return;
  std::ptrdiff_t const asked[2] = {static_cast<std::ptrdiff_t>(axis),
                                   static_cast<std::ptrdiff_t>(section)};
  std::array<std::ptrdiff_t, N> has{};
  for (std::size_t i = 0; i < N; ++i) has[i] = static_cast<std::ptrdiff_t>(from.shape[i]);
  roc::detail::throw_shape_error("split of shape ", {has.data(), N}, " by (axis, section) ",
                                 {asked, 2}, ": name an axis, and a section of 1 or more");
}

}  // namespace detail

/// How many parts of `section` indices an axis has; the last may be shorter, an empty axis has
/// none. Throws shape_error for a section of zero or an axis that is not there.
template <std::size_t N>
constexpr std::size_t split_count(mapping<N> const& from, std::size_t axis, std::size_t section) {
  detail::check_section(from, axis, section);
  std::size_t const extent = from.shape[axis];
  return extent == 0 ? 0 : (extent - 1) / section + 1;
}

/// Part `number` of an axis that is split into parts of `section` indices; throws shape_error as
/// split_count does, and for a part that is not there.
template <std::size_t N>
constexpr mapping<N> split_part(mapping<N> const& from, std::size_t axis, std::size_t section,
                                std::size_t number) {
  std::size_t const count = split_count(from, axis, section);
  if (number >= count) {
    auto const asked = static_cast<std::ptrdiff_t>(number);
    auto const has = static_cast<std::ptrdiff_t>(count);
    roc::detail::throw_shape_error("split has no part ", {&asked, 1}, ", parts ", {&has, 1},
                                   ": use 0 to parts - 1");
  }
  mapping<N> result = from;
  std::size_t const first = number * section;
  std::size_t const left = from.shape[axis] - first;
  result.shape[axis] = section < left ? section : left;
  if (!detail::is_empty(from.shape)) result.offset += detail::steps(from.strides[axis], first);
  return result;
}

namespace detail {

// The axis whose elements lie side by side: the last of stride 1 that is longer than 1; where no
// axis is, the last. N where there is none.
template <std::size_t N>
constexpr std::size_t unit_axis(mapping<N> const& from) {
  bool all_short = true;
  for (std::size_t i = N; i-- > 0;) {
    if (from.shape[i] == 1) continue;
    if (from.strides[i] == 1) return i;
    all_short = false;
  }
  return all_short && N != 0 ? N - 1 : N;
}

[[noreturn]] inline void throw_sizes(std::size_t from_bytes, std::size_t to_bytes,
                                     char const* advice) {
  std::ptrdiff_t const sizes[2] = {static_cast<std::ptrdiff_t>(from_bytes),
                                   static_cast<std::ptrdiff_t>(to_bytes)};
  roc::detail::throw_layout_error("elements of bytes (from, to) ", {sizes, 2}, "", {}, advice);
}

}  // namespace detail

/// The same bytes as elements of `to_bytes` in place of `from_bytes` each: the extent of the axis
/// of stride 1 changes, and every stride with it; strides and offset are in new elements. Throws
/// layout_error where neither size divides the other, no axis has stride 1, or strides or offset
/// are no whole number of new elements; shape_error where the extent is none.
template <std::size_t N>
constexpr mapping<N> reinterpret(mapping<N> const& from, std::size_t from_bytes,
                                 std::size_t to_bytes) {
  if (from_bytes == to_bytes) return from;
  if (from_bytes % to_bytes != 0 && to_bytes % from_bytes != 0) {
    detail::throw_sizes(from_bytes, to_bytes, ": use a size that divides the other");
  }
  std::size_t const unit = detail::unit_axis(from);
  if (unit == N) {
    detail::throw_sizes(from_bytes, to_bytes, ": an axis of stride 1 is needed: copy it first");
  }
  mapping<N> result = from;
  bool const shrink = from_bytes > to_bytes;
  auto const by = static_cast<std::ptrdiff_t>(shrink ? from_bytes / to_bytes
                                                     : to_bytes / from_bytes);
  // Then strides are never walked.
  bool const empty = detail::is_empty(from.shape);
  auto const scale = [&](std::ptrdiff_t& value) {
    bool const fails = shrink ? __builtin_mul_overflow(value, by, &value) : value % by != 0;
    if (fails && !empty) {
      detail::throw_sizes(from_bytes, to_bytes,
                          ": strides and offset must be whole numbers of new elements");
    }
    if (!shrink) value /= by;
  };
  auto const factor = static_cast<std::size_t>(by);
  if (!shrink && from.shape[unit] % factor != 0) {
    detail::throw_shape("shape ", from.shape,
                        " has no whole number of larger elements: slice its axis of stride 1");
  }
  result.shape[unit] = shrink ? from.shape[unit] * factor : from.shape[unit] / factor;
  for (std::size_t i = 0; i < N; ++i) {
    if (i == unit) {
      result.strides[i] = 1;
    } else if (from.shape[i] == 1) {
      result.strides[i] = 1;  // never walked either
    } else {
      scale(result.strides[i]);
    }
  }
  scale(result.offset);
  return result;
}

/// One member of every record: `field_bytes` at `field_offset` in each `record_bytes`. Strides and
/// offset are in members, counted from the member of the record at place 0: the pointer itself
/// moves by field_offset bytes. Throws layout_error where the member does not lie in the record,
/// its size does not divide the record's, or strides or offset overflow.
template <std::size_t N>
constexpr mapping<N> field(mapping<N> const& from, std::size_t record_bytes,
                           std::size_t field_offset, std::size_t field_bytes) {
  auto const refuse = [&](char const* advice) {
    std::ptrdiff_t const member[2] = {static_cast<std::ptrdiff_t>(field_offset),
                                      static_cast<std::ptrdiff_t>(field_bytes)};
    auto const record = static_cast<std::ptrdiff_t>(record_bytes);
    roc::detail::throw_layout_error("field of bytes (offset, size) ", {member, 2},
                                    " in records of bytes ", {&record, 1}, advice);
  };
  if (field_bytes > record_bytes || field_offset > record_bytes - field_bytes) {
    refuse(": use a member that lies in the record");
  }
  if (field_bytes == 0 || record_bytes % field_bytes != 0) {
    refuse(": use a member whose size divides the record's");
  }
  auto const by = static_cast<std::ptrdiff_t>(record_bytes / field_bytes);
  mapping<N> result = from;
  bool const empty = detail::is_empty(from.shape);
  auto const scale = [&](std::ptrdiff_t& value, bool walked) {
    if (__builtin_mul_overflow(value, by, &value) && walked) {
      refuse(": strides or offset overflow, use smaller strides");
    }
  };
  for (std::size_t i = 0; i < N; ++i) scale(result.strides[i], !empty && from.shape[i] != 1);
  scale(result.offset, !empty);
  return result;
}

}  // namespace roc::layout
