// SPDX-License-Identifier: MIT
#include "memory/host/host_table.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#include <roc/error.hpp>

#include "base/sort_ranges.hpp"
#include "memory/host/hip_registration.hpp"
#include "platform/call.hpp"
#include "runtime/stream_id.hpp"

namespace roc::memory {
namespace {

[[noreturn]] void throw_overlap(base::byte_range range, base::byte_range other,
                                char const* description) {
  throw registration_error("register_host: " + to_string(range) + " overlaps " + description + " " +
                           to_string(other) +
                           ": deregister that range first, or register exactly the same");
}

}  // namespace

void host_table::add_allocation(base::byte_range range, host_memory kind, bool mapped) {
  std::lock_guard const lock(mutex_);
  invalidate_queries_locked();
  allocations_.emplace(range.begin, allocation{range, kind, mapped, {}});
}

pending_uses host_table::remove_allocation(base::byte_range range) {
  std::lock_guard const lock(mutex_);
  invalidate_queries_locked();
  forget_aliases_locked(range);
  auto node = allocations_.extract(range.begin);
  return node.empty() ? pending_uses() : std::move(node.mapped().pending);
}

std::optional<base::byte_range> host_table::managed_array_of(base::byte_range range) const {
  std::lock_guard const lock(mutex_);
  auto const* const array = find_overlap(allocations_, range);
  if (array == nullptr || array->kind != host_memory::managed) return std::nullopt;
  return array->range.contains(range) ? std::optional(array->range) : std::nullopt;
}

// Registrations
//
// HIP is called without the mutex: registration takes seconds for gigabytes, and deregistration
// waits for the device. Meanwhile the entry is busy: copies of the memory are staged, and threads
// that want to register or deregister the same range block.

bool host_table::increment_count_locked(base::byte_range range, unsigned flags, table_lock& lock) {
  for (;;) {
    auto* const entry = find_overlap(registrations_, range);
    if (entry == nullptr) break;
    if (entry->range != range) throw_overlap(range, entry->range, "the registered range");
    if (entry->busy) {
      entry_ready_.wait(lock);
      continue;
    }
    if (entry->flags != flags) {
      throw registration_error("register_host: " + to_string(range) +
                               " is registered with other options: deregister it first, or "
                               "register it with the same options");
    }
    ++entry->count;
    return true;
  }
  if (auto const* const array = find_overlap(allocations_, range);
      array != nullptr && array->kind != host_memory::pageable) {
    throw_overlap(range, array->range,
                  array->kind == host_memory::managed ? "the managed array" : "the pinned array");
  }
  return false;
}

void host_table::register_range(base::byte_range range, unsigned flags) {
  table_lock lock(mutex_);
  if (increment_count_locked(range, flags, lock)) return;
  invalidate_queries_locked();
  registrations_.emplace(range.begin, registered{.range = range, .flags = flags});
  lock.unlock();
  std::vector<base::byte_range> segments;
  try {
    check_not_pinned(range);
    segments = register_segments(range, flags);
  } catch (...) {
    lock.lock();
    invalidate_queries_locked();
    registrations_.erase(range.begin);
    entry_ready_.notify_all();
    throw;
  }
  lock.lock();
  invalidate_queries_locked();
  registered& entry = registrations_.find(range.begin)->second;
  entry.segmented = segments.size() > 1;
  if (entry.segmented) ++segmented_ranges_;
  entry.segments = std::move(segments);
  entry.usable = true;
  entry.busy = false;
  entry_ready_.notify_all();
}

void host_table::adopt(base::byte_range range) {
  table_lock lock(mutex_);
  if (increment_count_locked(range, hipHostRegisterDefault, lock)) return;
  check_pinned(range);
  invalidate_queries_locked();
  registrations_.emplace(
      range.begin, registered{.range = range, .adopted = true, .busy = false, .usable = true});
}

host_table::registered& host_table::find_registered_locked(base::byte_range range,
                                                           table_lock& lock) {
  for (;;) {
    auto const found = registrations_.find(range.begin);
    if (found == registrations_.end() || found->second.range != range) {
      auto const* const other = find_overlap(registrations_, range);
      std::string const problem = other == nullptr
                                      ? " is not registered"
                                      : " is not the registered range " + to_string(other->range);
      throw registration_error("deregister: " + to_string(range) + problem +
                               ": use exactly the range that was registered");
    }
    if (!found->second.busy) return found->second;
    entry_ready_.wait(lock);
  }
}

void host_table::check_registered(base::byte_range range) {
  table_lock lock(mutex_);
  static_cast<void>(find_registered_locked(range, lock));
}

void host_table::deregister(base::byte_range range) {
  table_lock lock(mutex_);
  registered& entry = find_registered_locked(range, lock);
  if (entry.count > 1) {
    --entry.count;
    return;
  }
  // No other thread removes a busy entry, so that the reference remains valid without the mutex.
  invalidate_queries_locked();
  entry.busy = true;
  entry.usable = false;
  auto pending = std::exchange(entry.pending, {});
  lock.unlock();
  try {
    pending.wait();
    while (!entry.segments.empty()) {
      ROCARRAY_HIP(hipHostUnregister, entry.segments.back().data());
      lock.lock();
      entry.segments.pop_back();
      lock.unlock();
    }
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    invalidate_queries_locked();
    entry.busy = false;
    // If all segments are still registered, the range can be used as before.
    entry.usable =
        entry.adopted || (!entry.segments.empty() && entry.segments.back().end == entry.range.end);
    entry_ready_.notify_all();
    throw;
  }
  lock.lock();
  invalidate_queries_locked();
  if (entry.segmented) --segmented_ranges_;
  forget_aliases_locked(range);
  registrations_.erase(range.begin);
  entry_ready_.notify_all();
}

void host_table::check_writable(base::byte_range range, char const* operation) const {
  std::lock_guard const lock(mutex_);
  check_writable(find_overlap(registrations_, range), range, operation);
}

bool host_table::is_read_only(registered const& entry) noexcept {
  return (entry.flags & hipHostRegisterReadOnly) != 0;
}

void host_table::check_writable(registered const* entry, base::byte_range range,
                                char const* operation) {
  if (entry == nullptr || !is_read_only(*entry)) return;
  throw registration_error(std::string(operation) + " " + to_string(range) +
                           " is not possible: " + to_string(entry->range) +
                           " is registered as read-only; deregister it, or register it without "
                           "read_only");
}

std::uintptr_t host_table::end_of_segment(base::byte_range range) const {
  if (!has_segmented_ranges()) return range.end;
  std::lock_guard const lock(mutex_);
  auto const* const entry = find_overlap(registrations_, range);
  if (entry == nullptr) return range.end;
  for (base::byte_range const segment : entry->segments) {
    if (segment.begin <= range.begin && range.begin < segment.end) return segment.end;
  }
  return range.end;
}

// Properties that copies need
//
// Most copies use memory that the same thread has used before: its cached query is valid while the
// table has not changed, and costs no lock.

// A query about memory of which all parts have the same properties: one entry that no other entry
// overlaps, or a registered range within one array.
struct host_table::cached_query {
  std::uint64_t version = 0;  // of the table; 0: empty
  base::byte_range range;
  host_memory_properties properties;
  bool read_only = false;
  runtime::stream_id tracked;  // a stream in the pending uses of the memory; may be empty

  bool covers(base::byte_range part, std::uint64_t current_version) const noexcept {
    return version == current_version && range.contains(part);
  }
  // A default stream is never tracked here, because its device is not part of its handle.
  bool has_tracked(stream_ref stream) const noexcept {
    return !tracked.is_empty() && tracked.stream().handle() == stream.handle() && tracked.is_live();
  }
  // Stores `stream` as tracked. Does nothing for a foreign stream, whose every use needs an event,
  // and for a default stream.
  void track(stream_ref stream) {
    if (stream.handle() == nullptr || stream.device_ordinal() < 0) return;
    runtime::stream_id const& id = runtime::stream_id_of(stream, stream.device_ordinal());
    if (!id.is_foreign()) tracked = id;
  }
};

host_table::cached_query& host_table::query_slot(base::byte_range range) noexcept {
  thread_local std::array<cached_query, 8> queries;
  return queries[(range.begin >> 6 ^ range.begin >> 12) % queries.size()];
}

void host_table::fill_query_locked(base::byte_range range, cached_query& query) const {
  auto const* const array = find_overlap(allocations_, range);
  auto const* const entry = find_overlap(registrations_, range);
  query = {};
  if (array == nullptr && entry == nullptr) return;
  base::byte_range const whole = entry != nullptr ? entry->range : array->range;
  bool is_uniform = whole.contains(range);
  if (entry == nullptr) {
    is_uniform = is_uniform && find_overlap(registrations_, whole) == nullptr;
  } else if (array == nullptr) {
    is_uniform = is_uniform && find_overlap(allocations_, whole) == nullptr;
  } else {
    is_uniform = is_uniform && array->range.contains(whole);
  }
  if (!is_uniform) return;
  bool const read_only = entry != nullptr && is_read_only(*entry);
  query = {version_.load(std::memory_order_relaxed),
           whole,
           properties_locked(range, false),
           read_only,
           {}};
}

host_table::host_memory_properties host_table::properties_locked(base::byte_range range,
                                                                 bool written) const {
  auto const* const entry = find_overlap(registrations_, range);
  if (written) check_writable(entry, range, "copy to");
  auto const* const array = find_overlap(allocations_, range);
  if (array != nullptr && array->kind != host_memory::pageable && array->range.contains(range)) {
    return {true, array->kind == host_memory::managed};
  }
  return {entry != nullptr && entry->usable && entry->range.contains(range), false};
}

bool host_table::has_entry_locked(base::byte_range range) const {
  return find_overlap(registrations_, range) != nullptr ||
         find_overlap(allocations_, range) != nullptr;
}

base::byte_range host_table::gap_around_locked(base::byte_range range) const {
  base::byte_range gap{0, std::numeric_limits<std::uintptr_t>::max()};
  auto const narrow = [&](auto const& entries) {
    auto const next = entries.upper_bound(range.begin);
    if (next != entries.end()) gap.end = std::min(gap.end, next->first);
    if (next != entries.begin()) {
      gap.begin = std::max(gap.begin, std::prev(next)->second.range.end);
    }
  };
  narrow(allocations_);
  narrow(registrations_);
  return gap;
}

host_table::host_memory_properties host_table::query_access(base::byte_range range,
                                                            bool written) const {
  cached_query& query = query_slot(range);
  if (query.covers(range, version_.load()) && !(written && query.read_only)) {
    return query.properties;
  }
  std::lock_guard const lock(mutex_);
  fill_query_locked(range, query);
  return properties_locked(range, written);
}

std::vector<host_table::host_memory_properties> host_table::query_access(
    std::span<base::byte_range const> ranges, bool written) const {
  std::vector<host_memory_properties> results;
  results.reserve(ranges.size());
  std::lock_guard const lock(mutex_);
  // Most ranges are in the same array, or in the same gap between arrays, as the one before.
  cached_query last;
  for (base::byte_range const range : ranges) {
    if (!last.range.contains(range)) {
      fill_query_locked(range, last);
      if (!has_entry_locked(range)) last.range = gap_around_locked(range);
    }
    bool const is_cached = last.range.contains(range) && !(written && last.read_only);
    results.push_back(is_cached ? last.properties : properties_locked(range, written));
  }
  return results;
}

std::optional<host_table::host_memory_properties> host_table::query_uniform_access(
    base::byte_range whole, bool written) const {
  cached_query& query = query_slot(whole);
  auto const is_cached = [&] {
    return query.covers(whole, version_.load()) && !(written && query.read_only);
  };
  if (is_cached()) return query.properties;
  std::lock_guard const lock(mutex_);
  if (!has_entry_locked(whole)) return host_memory_properties{};
  fill_query_locked(whole, query);
  return is_cached() ? std::optional(query.properties) : std::nullopt;
}

void* host_table::device_address(base::byte_range range) {
  std::lock_guard const lock(mutex_);
  base::byte_range host;
  if (auto const* const array = find_overlap(allocations_, range);
      array != nullptr && array->range.contains(range)) {
    if (array->kind == host_memory::managed) return range.data();
    if (array->mapped) host = array->range;
  }
  if (auto const* const entry = find_overlap(registrations_, range);
      entry != nullptr && entry->usable && entry->range.contains(range)) {
    if (entry->adopted || (entry->flags & hipHostRegisterMapped) != 0) host = entry->range;
  }
  if (host.bytes() == 0) {
    throw registration_error("device view of " + to_string(range) +
                             " is not possible, because the memory is not mapped: allocate it with "
                             "mapped_array, or register it with the option mapped");
  }
  // Queries the beginning, because not every runtime accepts addresses inside an allocation.
  void* first = nullptr;
  ROCARRAY_HIP(hipHostGetDevicePointer, &first, host.data(), 0);
  base::byte_range const device = base::byte_range::of(first, host.bytes());
  device_aliases_.insert_or_assign(device.begin, device_alias{device, host});
  alias_count_.store(device_aliases_.size(), std::memory_order_relaxed);
  return static_cast<std::byte*>(first) + (range.begin - host.begin);
}

bool host_table::has_device_aliases(base::byte_range device) const {
  if (!has_device_aliases()) return false;
  std::lock_guard const lock(mutex_);
  return find_overlap(device_aliases_, device) != nullptr;
}

std::optional<base::byte_range> host_table::host_range_of_device_address(
    base::byte_range device) const {
  if (!has_device_aliases()) return std::nullopt;
  std::lock_guard const lock(mutex_);
  auto const* const alias = find_overlap(device_aliases_, device);
  if (alias == nullptr) return std::nullopt;
  std::uintptr_t const begin = alias->host.begin + (device.begin - alias->range.begin);
  return base::byte_range{begin, begin + device.bytes()};
}

void host_table::forget_aliases_locked(base::byte_range host) {
  std::erase_if(device_aliases_, [&](auto const& item) { return item.second.host == host; });
  alias_count_.store(device_aliases_.size(), std::memory_order_relaxed);
}

void host_table::record_use(base::byte_range range, stream_ref stream) {
  cached_query& query = query_slot(range);
  if (query.covers(range, version_.load()) && query.has_tracked(stream)) return;
  std::lock_guard const lock(mutex_);
  if (auto* const array = find_overlap(allocations_, range)) array->pending.record_use(stream);
  if (auto* const entry = find_overlap(registrations_, range)) entry->pending.record_use(stream);
  if (!query.covers(range, version_.load(std::memory_order_relaxed))) {
    fill_query_locked(range, query);
  }
  if (query.covers(range, version_.load(std::memory_order_relaxed))) query.track(stream);
}

void host_table::record_uses(std::span<base::byte_range const> ranges, stream_ref stream) {
  if (ranges.empty()) return;
  base::byte_range bounds = ranges.front();
  for (base::byte_range const range : ranges) bounds = bounding_range(bounds, range);
  std::lock_guard const lock(mutex_);
  if (!has_entry_locked(bounds)) return;
  // Each entry is recorded once, because foreign streams cost calls of HIP.
  std::vector<pending_uses*> used;
  auto const add = [&](auto& entries, auto*& last, base::byte_range range) {
    if (last != nullptr && last->range.contains(range)) return;
    last = find_overlap(entries, range);
    if (last != nullptr) used.push_back(&last->pending);
  };
  allocation* array = nullptr;
  registered* entry = nullptr;
  for (base::byte_range const range : ranges) {
    add(allocations_, array, range);
    add(registrations_, entry, range);
  }
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  for (pending_uses* const pending : used) pending->record_use(stream);
}

void host_table::record_writes(std::vector<base::byte_range> ranges, stream_ref stream) {
  if (ranges.empty()) return;
  auto done = std::make_shared<event>();
  done->record(stream);
  base::sort_ranges(ranges);
  auto last = ranges.begin();
  for (auto next = std::next(last); next != ranges.end(); ++next) {
    if (next->begin <= last->end) {
      last->end = std::max(last->end, next->end);
    } else {
      *++last = *next;
    }
  }
  ranges.erase(std::next(last), ranges.end());
  std::lock_guard const lock(writes_mutex_);
  std::erase_if(writes_, [](pending_write const& write) { return write.done->query(); });
  writes_.push_back({std::move(ranges), std::move(done)});
}

void host_table::wait_for_writes(std::span<base::byte_range const> ranges) {
  // The writes remain in the table, because other readers must wait for them too.
  std::vector<std::shared_ptr<event>> overlapping;
  {
    std::lock_guard const lock(writes_mutex_);
    for (pending_write const& write : writes_) {
      bool const overlaps = std::any_of(ranges.begin(), ranges.end(), [&](base::byte_range read) {
        auto const next = std::upper_bound(
            write.ranges.begin(), write.ranges.end(), read.begin,
            [](std::uintptr_t address, base::byte_range range) { return address < range.end; });
        return next != write.ranges.end() && next->overlaps(read);
      });
      if (overlaps) overlapping.push_back(write.done);
    }
  }
  for (auto const& done : overlapping) done->synchronize();
}

}  // namespace roc::memory
