// SPDX-License-Identifier: MIT
#include "memory/host_table.hpp"

#include <cstdio>
#include <exception>
#include <string>
#include <utility>

#include <roc/error.hpp>

#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/stream.hpp"

namespace roc::memory {
namespace {

// The entry that overlaps the range and begins first; null if none does.
template <class Map>
auto* find_overlap(Map& entries, range where) {
  using entry = decltype(&entries.begin()->second);
  auto next = entries.upper_bound(where.begin);
  if (next != entries.begin()) {
    auto const before = std::prev(next);
    if (before->second.where.overlaps(where)) return entry(&before->second);
  }
  if (next != entries.end() && next->second.where.overlaps(where)) return entry(&next->second);
  return entry(nullptr);
}

std::string to_string(range where) {
  char text[64];
  std::snprintf(text, sizeof text, "[0x%zx, 0x%zx)", static_cast<std::size_t>(where.begin),
                static_cast<std::size_t>(where.end));
  return text;
}

[[noreturn]] void throw_overlap(range asked, range known, char const* what) {
  throw registration_error("register_host: " + to_string(asked) + " overlaps " + what + " " +
                           to_string(known) + ": deregister that range first, or register the same");
}

}  // namespace

void pending_uses::note(stream_ref stream) {
  int const device = runtime::device_of(stream, runtime::current_device());
  runtime::on_device const guard(device);
  stream_ref const key(stream.handle(), device, stream.kind());
  for (use& known : uses_) {
    if (known.stream == key) {
      // A destroyed stream's handle may come back: its last work is not this stream's yet.
      if (!known.done.query()) stream.wait(known.done);
      known.done.record(stream);
      return;
    }
  }
  uses_.push_back({key, event()});
  uses_.back().done.record(stream);
}

void pending_uses::wait() const {
  std::exception_ptr failure;
  for (use const& each : uses_) {
    try {
      each.done.synchronize();
    } catch (...) {
      if (!failure) failure = std::current_exception();  // the others still use it
    }
  }
  if (failure) std::rethrow_exception(failure);
}

// Leaked on purpose: arrays with static lifetime are freed after every other static object.
host_table& host_table::instance() {
  static auto* const table = new host_table;
  return *table;
}

void host_table::add_allocation(range where, bool pinned) {
  std::lock_guard const lock(mutex_);
  allocations_.emplace(where.begin, allocation{where, pinned, {}});
}

pending_uses host_table::remove_allocation(range where) {
  std::lock_guard const lock(mutex_);
  auto node = allocations_.extract(where.begin);
  return node.empty() ? pending_uses() : std::move(node.mapped().pending);
}

void host_table::register_range(range where, unsigned flags) {
  std::lock_guard const lock(mutex_);
  if (auto* const known = find_overlap(registrations_, where); known != nullptr) {
    if (known->where != where) throw_overlap(where, known->where, "the registered range");
    if (known->flags != flags) {
      throw registration_error("register_host: " + to_string(where) +
                               " is registered with other options: deregister it first, or "
                               "register it with the same");
    }
    ++known->count;
    return;
  }
  if (auto const* const own = find_overlap(allocations_, where); own != nullptr && own->pinned) {
    throw_overlap(where, own->where, "the pinned array");
  }
  // Held across the call: the table and the runtime must not disagree for another thread.
  auto const place = registrations_.emplace(where.begin, registered{where, flags, 1, {}}).first;
  try {
    ROC_HIP(hipHostRegister, reinterpret_cast<void*>(where.begin), where.bytes(), flags);
  } catch (...) {
    registrations_.erase(place);
    throw;
  }
}

// Holding the lock.
host_table::entries<host_table::registered>::iterator host_table::find_registered(range where) {
  auto const place = registrations_.find(where.begin);
  if (place == registrations_.end() || place->second.where != where) {
    auto const* const known = find_overlap(registrations_, where);
    std::string const problem =
        known == nullptr ? " is not registered"
                         : " is not the registered range " + to_string(known->where);
    throw registration_error("deregister: " + to_string(where) + problem +
                             ": give the range that was registered");
  }
  return place;
}

void host_table::check_registered(range where) {
  std::lock_guard const lock(mutex_);
  static_cast<void>(find_registered(where));
}

void host_table::deregister(range where) {
  std::unique_lock lock(mutex_);
  if (auto const place = find_registered(where); place->second.count == 1) {
    // Copies of other threads go on while this waits; it is looked up again afterwards.
    auto const pending = std::exchange(place->second.pending, {});
    lock.unlock();
    pending.wait();
    lock.lock();
  }
  auto const place = find_registered(where);
  if (place->second.count > 1) {
    --place->second.count;
    return;
  }
  place->second.pending.wait();  // of copies that began meanwhile
  ROC_HIP(hipHostUnregister, reinterpret_cast<void*>(where.begin));
  registrations_.erase(place);
}

bool host_table::is_pinned(range where, bool for_writing) const {
  std::lock_guard const lock(mutex_);
  if (auto const* const own = find_overlap(allocations_, where); own != nullptr) {
    if (own->pinned && own->where.contains(where)) return true;
  }
  auto const* const known = find_overlap(registrations_, where);
  if (known == nullptr || !known->where.contains(where)) return false;
  return !for_writing || (known->flags & hipHostRegisterReadOnly) == 0;
}

void host_table::note_write(range where, stream_ref stream) {
  auto done = std::make_shared<event>();
  done->record(stream);
  std::lock_guard const lock(writes_mutex_);
  std::erase_if(writes_, [](write const& each) { return each.done->query(); });
  writes_.push_back({where, std::move(done)});
}

void host_table::wait_for_writes(range where) {
  // They stay in the table: another reader has to wait for them too.
  std::vector<std::shared_ptr<event>> overlapping;
  {
    std::lock_guard const lock(writes_mutex_);
    for (write const& each : writes_) {
      if (each.where.overlaps(where)) overlapping.push_back(each.done);
    }
  }
  for (auto const& done : overlapping) done->synchronize();
}

void host_table::note_use(range where, stream_ref stream) {
  std::lock_guard const lock(mutex_);
  if (auto* const own = find_overlap(allocations_, where); own != nullptr) {
    own->pending.note(stream);
  }
  if (auto* const known = find_overlap(registrations_, where); known != nullptr) {
    known->pending.note(stream);
  }
}

}  // namespace roc::memory
