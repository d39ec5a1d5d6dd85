// SPDX-License-Identifier: MIT
// What the table of host memory knows. registered_ranges.cpp enters what is registered there,
// stream_uses.cpp is what every copy asks.
#include "memory/host/host_table.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include <roc/error.hpp>

#include "base/sort_ranges.hpp"
#include "platform/call.hpp"

namespace roc::memory {

void host_table::add_allocation(base::byte_range where, host_memory kind, bool mapped) {
  std::lock_guard const lock(mutex_);
  changes();
  allocations_.emplace(where.begin, allocation{where, kind, mapped, {}});
}

pending_uses host_table::remove_allocation(base::byte_range where) {
  std::lock_guard const lock(mutex_);
  changes();
  forget_device_addresses(where);
  auto node = allocations_.extract(where.begin);
  return node.empty() ? pending_uses() : std::move(node.mapped().pending);
}

std::optional<base::byte_range> host_table::managed_array_of(base::byte_range where) const {
  std::lock_guard const lock(mutex_);
  auto const* const own = find_overlap(allocations_, where);
  if (own == nullptr || own->kind != host_memory::managed) return std::nullopt;
  return own->where.contains(where) ? std::optional(own->where) : std::nullopt;
}

void host_table::check_writable(base::byte_range where, char const* what) const {
  std::lock_guard const lock(mutex_);
  check_writable(find_overlap(registrations_, where), where, what);
}

bool host_table::is_read_only(registered const& known) noexcept {
  return (known.flags & hipHostRegisterReadOnly) != 0;
}

// Holding the lock.
void host_table::check_writable(registered const* known, base::byte_range where, char const* what) const {
  if (known == nullptr || !is_read_only(*known)) return;
  throw registration_error(std::string(what) + " " + to_string(where) + " within " +
                           to_string(known->where) +
                           ", which is registered for reading only: deregister it, or register it "
                           "without read_only");
}

std::uintptr_t host_table::end_of_piece(base::byte_range where) const {
  if (!has_pieces()) return where.end;
  std::lock_guard const lock(mutex_);
  auto const* const known = find_overlap(registrations_, where);
  if (known == nullptr) return where.end;
  for (base::byte_range const piece : known->pieces) {
    if (piece.begin <= where.begin && where.begin < piece.end) return piece.end;
  }
  return where.end;
}

void* host_table::device_address(base::byte_range where) {
  std::lock_guard const lock(mutex_);
  base::byte_range host;
  if (auto const* const own = find_overlap(allocations_, where);
      own != nullptr && own->where.contains(where)) {
    if (own->kind == host_memory::managed) return where.data();
    if (own->mapped) host = own->where;
  }
  if (auto const* const known = find_overlap(registrations_, where);
      known != nullptr && known->usable && known->where.contains(where)) {
    if (known->adopted || (known->flags & hipHostRegisterMapped) != 0) host = known->where;
  }
  if (host.bytes() == 0) {
    throw registration_error("device view of " + to_string(where) +
                             ", which no device can reach: make it with mapped_array, or register "
                             "it with the option mapped");
  }
  // By its beginning: not every runtime looks up addresses within.
  void* first = nullptr;
  ROCARRAY_HIP(hipHostGetDevicePointer, &first, host.data(), 0);
  base::byte_range const device = base::byte_range::of(first, host.bytes());
  device_aliases_.insert_or_assign(device.begin, device_alias{device, host});
  aliases_.store(device_aliases_.size(), std::memory_order_relaxed);
  return static_cast<std::byte*>(first) + (where.begin - host.begin);
}

bool host_table::gave_device_addresses(base::byte_range within) const {
  if (!gave_device_addresses()) return false;
  std::lock_guard const lock(mutex_);
  return find_overlap(device_aliases_, within) != nullptr;
}

std::optional<base::byte_range> host_table::behind_device_address(base::byte_range device) const {
  if (!gave_device_addresses()) return std::nullopt;
  std::lock_guard const lock(mutex_);
  auto const* const known = find_overlap(device_aliases_, device);
  if (known == nullptr) return std::nullopt;
  std::uintptr_t const begin = known->host.begin + (device.begin - known->where.begin);
  return base::byte_range{begin, begin + device.bytes()};
}

// Holding the lock.
void host_table::forget_device_addresses(base::byte_range host) {
  std::erase_if(device_aliases_, [&](auto const& entry) { return entry.second.host == host; });
  aliases_.store(device_aliases_.size(), std::memory_order_relaxed);
}

void host_table::record_writes(std::vector<base::byte_range> where, stream_ref stream) {
  if (where.empty()) return;
  auto done = std::make_shared<event>();
  done->record(stream);
  base::sort_ranges(where);
  auto last = where.begin();
  for (auto next = std::next(last); next != where.end(); ++next) {
    if (next->begin <= last->end) {
      last->end = std::max(last->end, next->end);
    } else {
      *++last = *next;
    }
  }
  where.erase(std::next(last), where.end());
  std::lock_guard const lock(writes_mutex_);
  std::erase_if(writes_, [](write const& each) { return each.done->query(); });
  writes_.push_back({std::move(where), std::move(done)});
}

void host_table::wait_for_writes(std::span<base::byte_range const> where) {
  // They stay in the table: another reader has to wait for them too.
  std::vector<std::shared_ptr<event>> overlapping;
  {
    std::lock_guard const lock(writes_mutex_);
    for (write const& each : writes_) {
      bool const any = std::any_of(where.begin(), where.end(), [&](base::byte_range read) {
        auto const next =
            std::upper_bound(each.where.begin(), each.where.end(), read.begin,
                             [](std::uintptr_t at, base::byte_range of) { return at < of.end; });
        return next != each.where.end() && next->overlaps(read);
      });
      if (any) overlapping.push_back(each.done);
    }
  }
  for (auto const& done : overlapping) done->synchronize();
}

}  // namespace roc::memory
