// SPDX-License-Identifier: MIT
// Address ranges, and ordered maps of entries that each cover one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <map>
#include <string>

namespace roc::base {

/// A half-open range of addresses, [begin, end).
struct byte_range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  /// Returns the range of `bytes` bytes from `data` on.
  static byte_range of(void const* data, std::size_t bytes) {
    auto const begin = reinterpret_cast<std::uintptr_t>(data);
    return {begin, begin + bytes};
  }
  void* data() const noexcept { return reinterpret_cast<void*>(begin); }
  std::size_t bytes() const noexcept { return end - begin; }
  bool contains(byte_range other) const noexcept {
    return begin <= other.begin && other.end <= end;
  }
  bool overlaps(byte_range other) const noexcept { return begin < other.end && other.begin < end; }
  friend bool operator==(byte_range const&, byte_range const&) = default;
};

/// Returns the smallest range that contains `a` and `b`.
inline byte_range bounding_range(byte_range a, byte_range b) noexcept {
  return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

/// Returns the range in the form "[0x1000, 0x2000)", for messages.
inline std::string to_string(byte_range range) {
  char text[64];
  std::snprintf(text, sizeof text, "[0x%zx, 0x%zx)", static_cast<std::size_t>(range.begin),
                static_cast<std::size_t>(range.end));
  return text;
}

/// Maps the first address of a range to its entry. An entry holds its range in the member `range`;
/// the ranges of two entries must not overlap.
template <class Entry>
using byte_range_map = std::map<std::uintptr_t, Entry>;

/// Calls f(entry) for each entry of a byte_range_map that overlaps `range`, in ascending order.
template <class Map, class F>
void for_each_overlap(Map& entries, byte_range range, F f) {
  auto next = entries.upper_bound(range.begin);
  if (next != entries.begin() && std::prev(next)->second.range.overlaps(range)) --next;
  for (; next != entries.end() && next->second.range.overlaps(range); ++next) f(next->second);
}

/// Returns the first entry of a byte_range_map that overlaps `range`, or null if there is none.
template <class Map>
auto* find_overlap(Map& entries, byte_range range) {
  using entry = decltype(&entries.begin()->second);
  auto next = entries.upper_bound(range.begin);
  if (next != entries.begin()) {
    auto const previous = std::prev(next);
    if (previous->second.range.overlaps(range)) return entry(&previous->second);
  }
  if (next != entries.end() && next->second.range.overlaps(range)) return entry(&next->second);
  return entry(nullptr);
}

}  // namespace roc::base
