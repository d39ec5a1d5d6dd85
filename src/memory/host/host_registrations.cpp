// SPDX-License-Identifier: MIT
#include "memory/host/host_registrations.hpp"

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

#include <roc/error.hpp>

#include "base/options.hpp"
#include "memory/host/device_aliases.hpp"
#include "memory/host/host_table.hpp"
#include "platform/call.hpp"
#include "platform/pointer.hpp"

namespace roc::memory {
namespace {

using native_detail::memory_kind;

[[noreturn]] void throw_overlap(base::byte_range range, base::byte_range other,
                                char const* description) {
  throw registration_error(to_string(range) + " overlaps " + description + " " + to_string(other) +
                           "; deregister that range first, or register exactly the same");
}

[[noreturn]] void throw_pinned(base::byte_range range) {
  throw registration_error(to_string(range) +
                           " is already pinned, at least in part, but not by this library; use "
                           "adopt_registered, or leave the pinning to this library");
}

platform::pointer_information query(std::uintptr_t address) {
  return platform::query_pointer(reinterpret_cast<void const*>(address));
}

// Throws registration_error if the first or the last byte of the range is already pinned. Old
// versions of ROCm would register it twice and lose one registration.
void check_not_pinned(base::byte_range range) {
  if (query(range.begin).kind != memory_kind::unregistered ||
      query(range.end - 1).kind != memory_kind::unregistered) {
    throw_pinned(range);
  }
}

// Throws registration_error if the range is not in one allocation or registration of pinned host
// memory.
void check_pinned(base::byte_range range) {
  auto const first = query(range.begin);
  auto const last = query(range.end - 1);
  bool const are_pinned = first.kind == memory_kind::host && last.kind == memory_kind::host;
  // If the runtime does not tell the bounds, adjacent blocks cannot be told from one block.
  auto const block = platform::query_block(range.begin);
  bool const is_one_block = block ? block->contains(range)
                                  : last.device_address - first.device_address == range.bytes() - 1;
  if (!are_pinned || !is_one_block) {
    throw registration_error(to_string(range) +
                             " is not one range of pinned host memory; use register_host");
  }
}

// Returns the end of the segment that begins at `begin`. Mapped memory is one segment, because it
// needs one device address.
std::uintptr_t segment_end(std::uintptr_t begin, base::byte_range range, unsigned flags) {
  std::size_t const segment_bytes = base::options().register_chunk;
  if ((flags & hipHostRegisterMapped) != 0 || range.bytes() <= segment_bytes) return range.end;
  return std::min((begin / segment_bytes + 1) * segment_bytes, range.end);
}

// Calls hipHostRegister for one segment. An error names `whole`.
void register_segment(base::byte_range segment, base::byte_range whole, unsigned flags) {
  hipError_t const result =
      ROCARRAY_HIP_CODE(hipHostRegister, segment.data(), segment.bytes(), flags);
  if (result == hipSuccess) return;
  if (result == hipErrorHostMemoryAlreadyRegistered) throw_pinned(whole);
  platform::detail::fail(platform::call::call_hipHostRegister, result,
                         std::source_location::current());
}

// Registers the range and returns the segments that it was registered in, in order. The setting
// ROCARRAY_REGISTER_CHUNK is the size of a segment. Boundaries between segments are multiples of
// this size, so that no page belongs to two segments. Nothing remains registered if it throws.
std::vector<base::byte_range> register_segments(base::byte_range range, unsigned flags) {
  std::vector<base::byte_range> segments;
  std::size_t registered = 0;
  try {
    for (std::uintptr_t begin = range.begin; begin != range.end; begin = segments.back().end) {
      base::byte_range const segment{begin, segment_end(begin, range, flags)};
      segments.push_back(segment);
      register_segment(segment, range, flags);
      ++registered;
    }
  } catch (...) {
    while (registered-- != 0) ROCARRAY_HIP_QUIET(hipHostUnregister, segments[registered].data());
    throw;
  }
  return segments;
}

}  // namespace

bool host_registrations::increment_count_locked(base::byte_range range, unsigned flags,
                                                table_lock& lock) {
  for (;;) {
    auto* const entry = find_overlap(registrations_, range);
    if (entry == nullptr) break;
    if (entry->range != range) throw_overlap(range, entry->range, "the registered range");
    if (entry->is_busy) {
      entry_ready_.wait(lock);
      continue;
    }
    if (entry->flags != flags) {
      throw registration_error(to_string(range) +
                               " is registered with other options; deregister it first, or "
                               "register it with the same options");
    }
    ++entry->count;
    return true;
  }
  if (auto const array = host_table::instance().find_pinned_array(range)) {
    throw_overlap(range, array->range,
                  array->kind == host_memory::managed ? "the managed array" : "the pinned array");
  }
  return false;
}

template <class F>
void host_registrations::add(base::byte_range range, unsigned flags, bool mapped, F pin) {
  table_lock lock(mutex_);
  if (increment_count_locked(range, flags, lock)) return;
  auto const added =
      registrations_.emplace(range.begin, registered{.range = range, .flags = flags}).first;
  lock.unlock();
  // No other thread removes a busy entry, so that the reference remains valid without the mutex.
  registered& entry = added->second;
  auto& table = host_table::instance();
  try {
    entry.uses = table.add_registration(range, mapped, (flags & hipHostRegisterReadOnly) != 0);
    auto segments = pin();
    lock.lock();
    entry.segments = std::move(segments);
  } catch (...) {
    table.remove_registration(range);
    lock.lock();
    registrations_.erase(added);
    entry_ready_.notify_all();
    throw;
  }
  entry.pinned_segments = entry.segments.size();
  if (entry.segments.size() > 1) ++segmented_ranges_;
  entry.is_busy = false;
  table.set_usable(range, true);
  entry_ready_.notify_all();
}

void host_registrations::register_range(base::byte_range range, unsigned flags) {
  add(range, flags, (flags & hipHostRegisterMapped) != 0, [&] {
    check_not_pinned(range);
    return register_segments(range, flags);
  });
}

void host_registrations::adopt(base::byte_range range) {
  add(range, hipHostRegisterDefault, true, [&] {
    check_pinned(range);
    return std::vector<base::byte_range>();
  });
}

host_registrations::registered& host_registrations::find_locked(base::byte_range range,
                                                                table_lock& lock) {
  for (;;) {
    auto const found = registrations_.find(range.begin);
    if (found == registrations_.end() || found->second.range != range) {
      auto const* const other = find_overlap(registrations_, range);
      std::string const problem = other == nullptr
                                      ? " is not registered"
                                      : " is not the registered range " + to_string(other->range);
      throw registration_error(to_string(range) + problem +
                               "; use exactly the range that was registered");
    }
    if (!found->second.is_busy) return found->second;
    entry_ready_.wait(lock);
  }
}

void host_registrations::check_registered(base::byte_range range) {
  table_lock lock(mutex_);
  static_cast<void>(find_locked(range, lock));
}

void host_registrations::deregister(base::byte_range range) {
  table_lock lock(mutex_);
  registered& entry = find_locked(range, lock);
  if (entry.count > 1) {
    --entry.count;
    return;
  }
  entry.is_busy = true;
  lock.unlock();
  auto& table = host_table::instance();
  table.set_usable(range, false);
  try {
    if (!entry.uses->wait_quietly()) {
      throw error(std::make_error_code(std::errc::device_or_resource_busy),
                  "cannot wait for the copies that use " + to_string(range) +
                      "; see the errors logged before, and deregister it again");
    }
    for (; entry.pinned_segments != 0; --entry.pinned_segments) {
      ROCARRAY_HIP(hipHostUnregister, entry.segments[entry.pinned_segments - 1].data());
    }
  } catch (...) {
    // If all segments are still registered, the range can be used as before.
    table.set_usable(range, entry.pinned_segments == entry.segments.size());
    lock.lock();
    entry.is_busy = false;
    entry_ready_.notify_all();
    throw;
  }
  device_aliases::instance().remove(range);
  table.remove_registration(range);
  lock.lock();
  if (entry.segments.size() > 1) --segmented_ranges_;
  registrations_.erase(range.begin);
  entry_ready_.notify_all();
}

std::uintptr_t host_registrations::end_of_segment(base::byte_range range) const {
  if (!has_segmented_ranges()) return range.end;
  std::lock_guard const lock(mutex_);
  auto const* const entry = find_overlap(registrations_, range);
  if (entry == nullptr) return range.end;
  for (base::byte_range const segment : entry->segments) {
    if (segment.begin <= range.begin && range.begin < segment.end) return segment.end;
  }
  return range.end;
}

}  // namespace roc::memory
