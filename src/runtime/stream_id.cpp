// SPDX-License-Identifier: MIT
#include "runtime/stream_id.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>

#include <roc/error.hpp>

#include "base/error.hpp"
#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/stream_handle.hpp"

namespace roc::runtime {
namespace {

struct stream_table {
  std::mutex mutex;  // of all members
  std::unordered_map<detail::native_stream*, stream_slot*> live;
  std::map<int, stream_slot*> default_streams;     // by device
  std::map<int, stream_slot*> per_thread_streams;  // by device, one slot for all threads
  std::deque<stream_slot*> ended;                  // oldest first
  std::uint64_t next_generation = 1;               // odd
};

// Leaked on purpose: static arrays are freed after every other static object.
stream_table& table() {
  static auto* const instance = new stream_table;
  return *instance;
}

// Returns an unused slot: that of the stream that ended first, if all its work is done, else a new
// slot. The caller holds the table's lock.
stream_slot& free_slot_locked(stream_table& streams) {
  if (!streams.ended.empty()) {
    stream_slot& oldest = *streams.ended.front();
    if (oldest.end == nullptr || oldest.end->query()) {
      streams.ended.pop_front();
      oldest.end = nullptr;
      return oldest;
    }
  }
  return *new stream_slot;
}

// Assigns an unused slot to a stream. The caller holds the table's lock.
stream_slot& assign_slot_locked(stream_table& streams, stream_ref stream, int device,
                                bool foreign) {
  stream_slot& slot = free_slot_locked(streams);
  slot.stream = stream;
  slot.device = device;
  slot.foreign = foreign;
  slot.used = false;
  slot.generation.store(streams.next_generation, std::memory_order_release);
  streams.next_generation += 2;
  return slot;
}

// Returns the identity of the stream that has the slot, and marks the slot as used. The caller
// holds the table's lock.
stream_id make_id_locked(stream_slot& slot) {
  slot.used.store(true, std::memory_order_relaxed);
  return stream_id(slot);
}

// Records an event after the last work of a stream that ends. If that fails, blocks until the work
// is done, logs the error and returns null.
shared_event record_end(stream_ref stream, int device) {
  try {
    on_device const guard(device);
    auto last_work = std::make_shared<event>();
    last_work->record(stream);
    return last_work;
  } catch (std::exception const& error) {
    base::log(error.what());
    synchronize_quietly(stream);
    return nullptr;
  }
}

// Returns the identity of a stream, and creates one if it has none. A stream that class stream did
// not create is foreign.
stream_id look_up(stream_ref stream, int device) {
  stream_table& streams = table();
  std::lock_guard const lock(streams.mutex);
  if (stream.handle() == nullptr) {
    stream_slot*& slot = streams.default_streams[device];
    if (slot == nullptr) {
      slot =
          &assign_slot_locked(streams, stream_ref(nullptr, device, stream.kind()), device, false);
    }
    return make_id_locked(*slot);
  }
  if (is_per_thread_handle(stream.handle())) {
    stream_slot*& slot = streams.per_thread_streams[device];
    if (slot == nullptr) {
      slot = &assign_slot_locked(streams, {stream.handle(), device, stream.kind()}, device, true);
    }
    return make_id_locked(*slot);
  }
  auto const [entry, inserted] = streams.live.try_emplace(stream.handle(), nullptr);
  if (inserted) {
    try {
      entry->second = &assign_slot_locked(streams, stream, device, true);
    } catch (...) {
      streams.live.erase(entry);
      throw;
    }
  }
  return make_id_locked(*entry->second);
}

}  // namespace

stream_id const& stream_id_of(stream_ref stream, int device) {
  static_cast<void>(handle(stream));
  device = device_of(stream, device);
  struct cache_entry {
    detail::native_stream* handle;
    int device;
    stream_id id;
  };
  thread_local std::array<cache_entry, 8> cache{};
  auto const bits = reinterpret_cast<std::uintptr_t>(stream.handle());
  cache_entry& entry =
      cache[(bits >> 4 ^ bits >> 9 ^ static_cast<unsigned>(device)) % cache.size()];
  if (!entry.id.is_empty() && entry.handle == stream.handle() && entry.device == device &&
      entry.id.is_live()) {
    return entry.id;
  }
  entry = {stream.handle(), device, look_up(stream, device)};
  return entry.id;
}

shared_event record(stream_id id) {
  stream_keepalive const keepalive(id);
  if (!keepalive) {
    stream_table& streams = table();
    std::lock_guard const lock(streams.mutex);
    // If another stream has the slot by now, the work of the stream of `id` is done.
    return id.slot()->generation.load() == id.generation() + 1 ? id.slot()->end : nullptr;
  }
  on_device const guard(id.device());
  auto reached = std::make_shared<event>();
  // In this thread a per-thread handle may mean a different stream than in the thread that enqueued
  // the work. The event is recorded in the default stream instead, which waits for all per-thread
  // streams.
  reached->record(is_per_thread_handle(id.stream().handle()) ? stream_ref() : id.stream());
  return reached;
}

bool is_finished(stream_id id) {
  if (id.is_live()) return false;
  shared_event const end = record(id);
  return end == nullptr || end->query();
}

void order_after(stream_id later, stream_id earlier) {
  if (later == earlier) return;
  bool const one_is_default = later.is_default() || earlier.is_default();
  bool const ordered = one_is_default && later.is_blocking() && earlier.is_blocking() &&
                       later.device() == earlier.device() && later.is_live() && earlier.is_live();
  if (ordered) return;
  shared_event const reached = record(earlier);
  if (reached == nullptr) return;
  on_device const guard(later.device());
  later.stream().wait(*reached);
}

void begin_identity(stream_ref stream) {
  stream_table& streams = table();
  std::lock_guard const lock(streams.mutex);
  auto const [entry, inserted] = streams.live.try_emplace(stream.handle(), nullptr);
  if (!inserted) {
    // The handle belonged to a foreign stream, which must have been destroyed. No event is needed
    // after its last work: users of foreign streams record an event after each use.
    entry->second->generation.fetch_add(1, std::memory_order_release);
    streams.ended.push_back(entry->second);
    entry->second = nullptr;
  }
  try {
    entry->second = &assign_slot_locked(streams, stream, stream.device_ordinal(), false);
  } catch (...) {
    streams.live.erase(entry);
    throw;
  }
}

void end_identity(stream_ref stream) noexcept {
  try {
    stream_table& streams = table();
    std::unique_lock lock(streams.mutex);
    auto const entry = streams.live.find(stream.handle());
    if (entry == streams.live.end()) return;
    stream_slot& slot = *entry->second;
    streams.live.erase(entry);
    slot.end =
        slot.used.load(std::memory_order_relaxed) ? record_end(stream, slot.device) : nullptr;
    slot.generation.fetch_add(1);
    if (slot.callers.load() != 0) {
      lock.unlock();
      while (slot.callers.load() != 0) std::this_thread::yield();
      lock.lock();
      slot.end = record_end(stream, slot.device);  // the other threads may have enqueued more work
    }
    streams.ended.push_back(&slot);
  } catch (std::exception const& error) {
    base::log(error.what());
  }
}

}  // namespace roc::runtime
