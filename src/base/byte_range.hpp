// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <map>
#include <string>

namespace roc::base {

/// A half-open range of addresses.
struct byte_range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  static byte_range of(void const* data, std::size_t bytes) {
    auto const begin = reinterpret_cast<std::uintptr_t>(data);
    return {begin, begin + bytes};
  }
  void* data() const noexcept { return reinterpret_cast<void*>(begin); }
  std::size_t bytes() const noexcept { return end - begin; }
  bool contains(byte_range other) const noexcept { return begin <= other.begin && other.end <= end; }
  bool overlaps(byte_range other) const noexcept { return begin < other.end && other.begin < end; }
  friend bool operator==(byte_range const&, byte_range const&) = default;
};

/// The smallest one that holds both.
inline byte_range around(byte_range a, byte_range b) noexcept {
  return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

inline std::string to_string(byte_range where) {
  char text[64];
  std::snprintf(text, sizeof text, "[0x%zx, 0x%zx)", static_cast<std::size_t>(where.begin),
                static_cast<std::size_t>(where.end));
  return text;
}

/// Entries with a member `where`, by their first address; no two overlap.
template <class Entry>
using byte_range_map = std::map<std::uintptr_t, Entry>;

/// The entry that overlaps the range and begins first; null if none does.
template <class Map>
auto* find_overlap(Map& entries, byte_range where) {
  using entry = decltype(&entries.begin()->second);
  auto next = entries.upper_bound(where.begin);
  if (next != entries.begin()) {
    auto const before = std::prev(next);
    if (before->second.where.overlaps(where)) return entry(&before->second);
  }
  if (next != entries.end() && next->second.where.overlaps(where)) return entry(&next->second);
  return entry(nullptr);
}

}  // namespace roc::base
