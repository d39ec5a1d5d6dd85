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

#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "base/error.hpp"
#include "runtime/stream.hpp"

namespace roc::runtime {
namespace {

struct stream_table {
  std::mutex mutex;
  std::unordered_map<detail::native_stream*, stream_slot*> live;
  std::map<int, stream_slot*> defaults;
  std::map<int, stream_slot*> per_thread;  // of each device, all threads' together
  std::deque<stream_slot*> ended;  // oldest first
  std::uint64_t next_life = 1;     // odd
};

// Leaked on purpose: static arrays are freed after every other static object.
stream_table& table() {
  static auto* const instance = new stream_table;
  return *instance;
}

// Holding the lock. One whose last work is known to be done, else a new one.
stream_slot& free_slot(stream_table& all) {
  if (!all.ended.empty()) {
    stream_slot& oldest = *all.ended.front();
    if (oldest.end == nullptr || oldest.end->query()) {
      all.ended.pop_front();
      oldest.end = nullptr;
      return oldest;
    }
  }
  return *new stream_slot;
}

stream_slot& open(stream_table& all, stream_ref stream, int device, bool foreign) {
  stream_slot& slot = free_slot(all);
  slot.stream = stream;
  slot.device = device;
  slot.foreign = foreign;
  slot.used = false;
  slot.life.store(all.next_life, std::memory_order_release);
  all.next_life += 2;
  return slot;
}

stream_id mark_of(stream_slot& slot) {
  slot.used.store(true, std::memory_order_relaxed);
  return stream_id(slot);
}

// Behind the last work of a stream; null once that is done.
shared_event end_of(stream_ref stream, int device) {
  try {
    on_device const guard(device);
    auto made = std::make_shared<event>();
    made->record(stream);
    return made;
  } catch (std::exception const& late) {
    base::log(late.what());
    synchronize_quietly(stream);
    return nullptr;
  }
}

stream_id look_up(stream_ref stream, int device) {
  stream_table& all = table();
  std::lock_guard const lock(all.mutex);
  if (stream.handle() == nullptr) {
    stream_slot*& known = all.defaults[device];
    if (known == nullptr) {
      known = &open(all, stream_ref(nullptr, device, stream.kind()), device, false);
    }
    return mark_of(*known);
  }
  if (is_per_thread(stream.handle())) {
    stream_slot*& known = all.per_thread[device];
    if (known == nullptr) {
      known = &open(all, {stream.handle(), device, stream.kind()}, device, true);
    }
    return mark_of(*known);
  }
  auto const [place, fresh] = all.live.try_emplace(stream.handle(), nullptr);
  if (fresh) {
    try {
      place->second = &open(all, stream, device, true);
    } catch (...) {
      all.live.erase(place);
      throw;
    }
  }
  return mark_of(*place->second);
}

}  // namespace

stream_id const& mark_of(stream_ref stream, int device) {
  static_cast<void>(handle(stream));
  device = device_of(stream, device);
  struct entry {
    detail::native_stream* handle;
    int device;
    stream_id mark;
  };
  thread_local std::array<entry, 8> recent{};
  auto const bits = reinterpret_cast<std::uintptr_t>(stream.handle());
  entry& known = recent[(bits >> 4 ^ bits >> 9 ^ static_cast<unsigned>(device)) % recent.size()];
  if (!known.mark.is_empty() && known.handle == stream.handle() && known.device == device &&
      known.mark.is_live()) {
    return known.mark;
  }
  known = {stream.handle(), device, look_up(stream, device)};
  return known.mark;
}

shared_event record(stream_id mark) {
  stream_use const use(mark);
  if (!use) {
    stream_table& all = table();
    std::lock_guard const lock(all.mutex);
    return mark.slot()->life.load() == mark.life() + 1 ? mark.slot()->end : nullptr;
  }
  on_device const guard(mark.device());
  auto made = std::make_shared<event>();
  // One handle in every thread, but of another stream: the default stream stands for all of them,
  // as its work comes after that of every blocking stream.
  made->record(is_per_thread(mark.stream().handle()) ? stream_ref() : mark.stream());
  return made;
}

bool is_over(stream_id mark) {
  if (mark.is_live()) return false;
  shared_event const end = record(mark);
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

void stream_begins(stream_ref stream) {
  stream_table& all = table();
  std::lock_guard const lock(all.mutex);
  auto const [place, fresh] = all.live.try_emplace(stream.handle(), nullptr);
  if (!fresh) {
    // Of a foreign stream that was destroyed; whoever used it has events of that use.
    place->second->life.fetch_add(1, std::memory_order_release);
    all.ended.push_back(place->second);
    place->second = nullptr;
  }
  try {
    place->second = &open(all, stream, stream.device_ordinal(), false);
  } catch (...) {
    all.live.erase(place);
    throw;
  }
}

void stream_ends(stream_ref stream) noexcept {
  try {
    stream_table& all = table();
    std::unique_lock lock(all.mutex);
    auto const place = all.live.find(stream.handle());
    if (place == all.live.end()) return;
    stream_slot& slot = *place->second;
    all.live.erase(place);
    slot.end = slot.used.load(std::memory_order_relaxed) ? end_of(stream, slot.device) : nullptr;
    slot.life.fetch_add(1);
    if (slot.callers.load() != 0) {
      lock.unlock();
      while (slot.callers.load() != 0) std::this_thread::yield();
      lock.lock();
      slot.end = end_of(stream, slot.device);  // they may have enqueued more
    }
    all.ended.push_back(&slot);
  } catch (std::exception const& late) {
    base::log(late.what());
  }
}

}  // namespace roc::runtime
