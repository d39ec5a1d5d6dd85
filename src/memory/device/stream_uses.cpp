// SPDX-License-Identifier: MIT
// What every copy asks the table of host memory, and notes there. Most copies use memory that the
// same thread has used before: the answer of then is good while the table has not changed, and
// costs no lock.
#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <limits>

#include "memory/host/host_table.hpp"
#include "runtime/stream_id.hpp"

namespace roc::memory {

// About memory of which all parts are alike: one entry that no other one overlaps, or what is
// registered within one array.
struct host_table::recent_use {
  std::uint64_t version = 0;  // of the table; 0: of none
  base::byte_range where;
  use_of_memory memory;
  bool read_only = false;
  runtime::stream_id noted;  // a stream among the pending uses of it, if any

  bool is_about(base::byte_range part, std::uint64_t now) const noexcept {
    return version == now && where.contains(part);
  }
  // Never of a default stream, which has no device of its own.
  bool has_noted(stream_ref stream) const noexcept {
    return !noted.is_empty() && noted.stream().handle() == stream.handle() && noted.is_live();
  }
  // A foreign stream needs an event behind each of its uses.
  void note(stream_ref stream) {
    if (stream.handle() == nullptr || stream.device_ordinal() < 0) return;
    runtime::stream_id const& mark = runtime::mark_of(stream, stream.device_ordinal());
    if (!mark.is_foreign()) noted = mark;
  }
};

host_table::recent_use& host_table::recent(base::byte_range where) noexcept {
  thread_local std::array<recent_use, 8> all;
  return all[(where.begin >> 6 ^ where.begin >> 12) % all.size()];
}

// Holding the lock.
void host_table::remember(base::byte_range where, recent_use& place) const {
  auto const* const own = find_overlap(allocations_, where);
  auto const* const known = find_overlap(registrations_, where);
  place = {};
  if (own == nullptr && known == nullptr) return;
  base::byte_range const whole = known != nullptr ? known->where : own->where;
  bool alike = whole.contains(where);
  if (known == nullptr) {
    alike = alike && find_overlap(registrations_, whole) == nullptr;
  } else if (own == nullptr) {
    alike = alike && find_overlap(allocations_, whole) == nullptr;
  } else {
    alike = alike && own->where.contains(whole);
  }
  if (!alike) return;
  bool const read_only = known != nullptr && is_read_only(*known);
  place = {version_.load(std::memory_order_relaxed), whole, use_of(where, false), read_only, {}};
}

host_table::use_of_memory host_table::about_to_use(base::byte_range where, bool written) const {
  recent_use& known = recent(where);
  if (known.is_about(where, version_.load()) && !(written && known.read_only)) return known.memory;
  std::lock_guard const lock(mutex_);
  remember(where, known);
  return use_of(where, written);
}

// Holding the lock.
bool host_table::knows_any(base::byte_range where) const {
  return find_overlap(registrations_, where) != nullptr ||
         find_overlap(allocations_, where) != nullptr;
}

// Holding the lock. Up to what is known before and behind a range of which nothing is.
base::byte_range host_table::unknown_around(base::byte_range where) const {
  base::byte_range gap{0, std::numeric_limits<std::uintptr_t>::max()};
  auto const narrow = [&](auto const& entries) {
    auto const next = entries.upper_bound(where.begin);
    if (next != entries.end()) gap.end = std::min(gap.end, next->first);
    if (next != entries.begin()) gap.begin = std::max(gap.begin, std::prev(next)->second.where.end);
  };
  narrow(allocations_);
  narrow(registrations_);
  return gap;
}

std::optional<host_table::use_of_memory> host_table::about_to_use_parts(base::byte_range whole,
                                                                        bool written) const {
  recent_use& known = recent(whole);
  auto const is_one_answer = [&] {
    return known.is_about(whole, version_.load()) && !(written && known.read_only);
  };
  if (is_one_answer()) return known.memory;
  std::lock_guard const lock(mutex_);
  if (!knows_any(whole)) return use_of_memory{};
  remember(whole, known);
  return is_one_answer() ? std::optional(known.memory) : std::nullopt;
}

std::vector<host_table::use_of_memory> host_table::about_to_use(std::span<base::byte_range const> where,
                                                                bool written) const {
  std::vector<use_of_memory> uses;
  uses.reserve(where.size());
  std::lock_guard const lock(mutex_);
  // Most are of the array before, or lie between the same two.
  recent_use last;
  for (base::byte_range const each : where) {
    if (!last.where.contains(each)) {
      remember(each, last);
      if (!knows_any(each)) last.where = unknown_around(each);
    }
    bool const answered = last.where.contains(each) && !(written && last.read_only);
    uses.push_back(answered ? last.memory : use_of(each, written));
  }
  return uses;
}

// Holding the lock.
host_table::use_of_memory host_table::use_of(base::byte_range where, bool written) const {
  auto const* const known = find_overlap(registrations_, where);
  if (written) check_writable(known, where, "copy to");
  auto const* const own = find_overlap(allocations_, where);
  if (own != nullptr && own->kind != host_memory::pageable && own->where.contains(where)) {
    return {true, own->kind == host_memory::managed};
  }
  return {known != nullptr && known->usable && known->where.contains(where), false};
}

void host_table::record_use(base::byte_range where, stream_ref stream) {
  recent_use& known = recent(where);
  if (known.is_about(where, version_.load()) && known.has_noted(stream)) return;
  std::lock_guard const lock(mutex_);
  if (auto* const entry = find_overlap(allocations_, where)) entry->pending.note(stream);
  if (auto* const entry = find_overlap(registrations_, where)) entry->pending.note(stream);
  if (!known.is_about(where, version_.load(std::memory_order_relaxed))) remember(where, known);
  if (known.is_about(where, version_.load(std::memory_order_relaxed))) known.note(stream);
}

void host_table::record_uses(std::span<base::byte_range const> where, stream_ref stream) {
  if (where.empty()) return;
  base::byte_range all = where.front();
  for (base::byte_range const each : where) all = around(all, each);
  std::lock_guard const lock(mutex_);
  if (!knows_any(all)) return;
  // Each entry once: of some streams a note is calls of HIP.
  std::vector<pending_uses*> used;
  auto const add = [&](auto& entries, auto*& last, base::byte_range each) {
    if (last != nullptr && last->where.contains(each)) return;
    last = find_overlap(entries, each);
    if (last != nullptr) used.push_back(&last->pending);
  };
  allocation* own = nullptr;
  registered* known = nullptr;
  for (base::byte_range const each : where) {
    add(allocations_, own, each);
    add(registrations_, known, each);
  }
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  for (pending_uses* const each : used) each->note(stream);
}

}  // namespace roc::memory
