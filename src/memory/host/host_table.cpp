// SPDX-License-Identifier: MIT
#include "memory/host/host_table.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#include <roc/error.hpp>

#include "runtime/stream_id.hpp"

namespace roc::memory {
namespace {

// The part of a map around a range: one entry that contains the range, or the gap between two
// entries. Empty if the range is only partly in an entry.
template <class Entry>
struct neighborhood {
  Entry const* found = nullptr;
  base::byte_range range;
};

template <class Entry>
neighborhood<Entry> find_neighborhood(base::byte_range_map<Entry> const& entries,
                                      base::byte_range range) {
  auto const next = entries.upper_bound(range.begin);
  base::byte_range gap{0, std::numeric_limits<std::uintptr_t>::max()};
  if (next != entries.end()) gap.end = next->first;
  if (next != entries.begin()) {
    Entry const& previous = std::prev(next)->second;
    if (previous.range.contains(range)) return {&previous, previous.range};
    gap.begin = previous.range.end;
  }
  if (!gap.contains(range)) return {};
  return {nullptr, gap};
}

}  // namespace

// Entries

void host_table::add_allocation(base::byte_range range, host_memory kind, bool mapped) {
  entry added{.range = range, .kind = kind, .is_mapped = mapped || kind == host_memory::managed};
  std::lock_guard const lock(mutex_);
  // Only a resource that takes its memory from other arrays returns such memory.
  if (entry const* const other = find_overlap(allocations_, range)) {
    throw error(std::make_error_code(std::errc::invalid_argument),
                "a memory resource has returned " + to_string(range) +
                    ", which overlaps the host memory in use at " + to_string(other->range) +
                    "; use a resource whose memory is not that of another host array");
  }
  invalidate_queries_locked();
  allocations_.emplace(range.begin, std::move(added));
}

std::shared_ptr<host_uses> host_table::remove_allocation(base::byte_range range) noexcept {
  std::lock_guard const lock(mutex_);
  invalidate_queries_locked();
  auto const node = allocations_.extract(range.begin);
  return node.empty() ? nullptr : std::move(node.mapped().uses);
}

std::shared_ptr<host_uses> host_table::add_registration(base::byte_range range, bool mapped,
                                                        bool read_only) {
  entry added{.range = range, .is_mapped = mapped, .is_read_only = read_only, .is_usable = false};
  auto uses = added.uses;
  std::lock_guard const lock(mutex_);
  invalidate_queries_locked();
  registrations_.emplace(range.begin, std::move(added));
  return uses;
}

void host_table::set_usable(base::byte_range range, bool usable) noexcept {
  std::lock_guard const lock(mutex_);
  invalidate_queries_locked();
  registrations_.find(range.begin)->second.is_usable = usable;
}

void host_table::remove_registration(base::byte_range range) noexcept {
  std::lock_guard const lock(mutex_);
  invalidate_queries_locked();
  registrations_.erase(range.begin);
}

std::optional<host_table::block> host_table::find_pinned_array(base::byte_range range) const {
  std::optional<block> result;
  std::lock_guard const lock(mutex_);
  for_each_overlap(allocations_, range, [&](entry const& array) {
    if (array.is_pinned() && !result) result = {array.range, array.kind};
  });
  return result;
}

std::optional<host_table::block> host_table::find_mapped(base::byte_range range) const {
  std::lock_guard const lock(mutex_);
  for (entry_map const* const entries : {&registrations_, &allocations_}) {
    entry const* const found = find_neighborhood(*entries, range).found;
    if (found != nullptr && found->is_mapped && found->is_usable) {
      return block{found->range, found->kind};
    }
  }
  return std::nullopt;
}

std::optional<base::byte_range> host_table::managed_array_of(base::byte_range range) const {
  auto const found = find_mapped(range);
  if (!found || found->kind != host_memory::managed) return std::nullopt;
  return found->range;
}

// Properties that copies need

void host_table::invalidate_queries_locked() noexcept { version_.store(next_version.fetch_add(1)); }

host_table::query host_table::make_query_locked(base::byte_range range) const {
  auto const array = find_neighborhood(allocations_, range);
  auto const registered = find_neighborhood(registrations_, range);
  query result;
  result.range = {std::max(array.range.begin, registered.range.begin),
                  std::min(array.range.end, registered.range.end)};
  if (!result.range.contains(range)) return {};
  result.version = version_.load(std::memory_order_relaxed);
  result.properties = properties_locked(range, false);
  result.has_entries = array.found != nullptr || registered.found != nullptr;
  return result;
}

host_table::query& host_table::find_query(base::byte_range range) const {
  query& cached = query_slot(range);
  if (!cached.covers(range, version_.load())) {
    std::lock_guard const lock(mutex_);
    cached = make_query_locked(range);
  }
  return cached;
}

host_table::host_memory_properties host_table::properties_locked(base::byte_range range,
                                                                 bool written) const {
  host_memory_properties result;
  auto const add = [&](entry const& item) {
    result.read_only = result.read_only || item.is_read_only;
    if (!item.is_pinned()) return;
    if (item.is_usable && item.range.contains(range)) {
      result.pinned = true;
      result.managed = item.kind == host_memory::managed;
    } else {
      result.partly_pinned = true;
    }
  };
  for_each_overlap(registrations_, range, add);
  for_each_overlap(allocations_, range, add);
  if (result.pinned) result.partly_pinned = false;
  if (written && result.read_only) check_writable_locked(range);
  return result;
}

[[gnu::noinline]] host_table::host_memory_properties host_table::query_properties(
    query& cached, base::byte_range range, bool written) const {
  std::lock_guard const lock(mutex_);
  if (!cached.covers(range, version_.load())) cached = make_query_locked(range);
  bool const is_known = cached.range.contains(range) && cached.allows(written);
  return is_known ? cached.properties : properties_locked(range, written);
}

std::vector<host_table::host_memory_properties> host_table::query_access(
    std::span<base::byte_range const> ranges, bool written) const {
  std::vector<host_memory_properties> results;
  results.reserve(ranges.size());
  std::lock_guard const lock(mutex_);
  // Most ranges are in the same array, or in the same gap between arrays, as the one before.
  query last;
  for (base::byte_range const range : ranges) {
    if (!last.range.contains(range)) last = make_query_locked(range);
    bool const is_known = last.range.contains(range) && last.allows(written);
    results.push_back(is_known ? last.properties : properties_locked(range, written));
  }
  return results;
}

std::optional<host_table::host_memory_properties> host_table::query_uniform_access(
    base::byte_range whole, bool written) const {
  query const& found = find_query(whole);
  if (!found.range.contains(whole) || !found.allows(written)) return std::nullopt;
  return found.properties;
}

void host_table::check_writable(base::byte_range range) const {
  std::lock_guard const lock(mutex_);
  check_writable_locked(range);
}

void host_table::check_writable_locked(base::byte_range range) const {
  for_each_overlap(registrations_, range, [&](entry const& item) {
    if (!item.is_read_only) return;
    throw registration_error(to_string(range) + " cannot be written: " + to_string(item.range) +
                             " is registered as read-only; deregister it, or register it without "
                             "read_only");
  });
}

// Pending uses

std::vector<std::shared_ptr<host_uses>> host_table::uses_of(
    std::span<base::byte_range const> ranges, bool only_pinned) const {
  std::vector<std::shared_ptr<host_uses>> result;
  auto const add = [&](entry const& item) {
    if (item.is_pinned() || !only_pinned) result.push_back(item.uses);
  };
  {
    std::lock_guard const lock(mutex_);
    query last;
    for (base::byte_range const range : ranges) {
      if (last.range.contains(range)) continue;
      if (ranges.size() > 1) last = make_query_locked(range);
      for_each_overlap(registrations_, range, add);
      for_each_overlap(allocations_, range, add);
    }
  }
  if (ranges.size() == 1) return result;
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

[[gnu::noinline]] void host_table::record_new_use(base::byte_range range, stream_ref stream,
                                                  access kind) {
  query& cached = find_query(range);
  bool const is_uniform = cached.range.contains(range);
  if (is_uniform && (!cached.has_entries || cached.has_tracked(stream, kind))) return;
  runtime::stream_id const id = runtime::stream_id_of(stream);
  for (auto const& uses : uses_of({&range, 1}, false)) uses->record(id, kind);
  if (is_uniform) cached.track(id, kind);
}

void host_table::record_uses(std::span<base::byte_range const> ranges, stream_ref stream,
                             access kind) {
  auto const all_uses = uses_of(ranges, false);
  if (all_uses.empty()) return;
  runtime::stream_id const id = runtime::stream_id_of(stream);
  for (auto const& uses : all_uses) uses->record(id, kind);
}

void host_table::record_writes(std::vector<base::byte_range> ranges, stream_ref stream) {
  if (!ranges.empty()) range_writes_.record(std::move(ranges), runtime::stream_id_of(stream));
}

void host_table::record_reads(std::vector<base::byte_range> ranges, stream_ref stream) {
  if (!ranges.empty()) range_reads_.record(std::move(ranges), runtime::stream_id_of(stream));
}

runtime::stream_uses host_table::pending_uses(std::span<base::byte_range const> ranges,
                                              bool only_writes) {
  runtime::stream_uses pending;
  range_writes_.add_overlapping(ranges, pending);
  if (!only_writes) range_reads_.add_overlapping(ranges, pending);
  auto const has_uses = [&] {
    if (ranges.size() != 1) return !ranges.empty();
    query const& known = find_query(ranges.front());
    if (!known.range.contains(ranges.front())) return true;
    // The writes of all other memory, by the CPU or to memory that other code pinned, are recorded
    // by range.
    return only_writes ? known.properties.pinned || known.properties.partly_pinned
                       : known.has_entries;
  };
  if (has_uses()) {
    for (auto const& uses : uses_of(ranges, only_writes)) uses->add_to(pending, only_writes);
  }
  return pending;
}

void host_table::order_after_uses(std::span<base::byte_range const> ranges, stream_ref stream) {
  pending_uses(ranges, false).order_before(runtime::stream_id_of(stream));
}

}  // namespace roc::memory
