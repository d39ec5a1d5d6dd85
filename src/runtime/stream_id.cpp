// SPDX-License-Identifier: MIT
#include "runtime/stream_id.hpp"

#include <cstddef>
#include <map>
#include <mutex>
#include <unordered_map>

#include <roc/error.hpp>

#include "base/lookup_cache.hpp"
#include "base/no_destructor.hpp"
#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/stream_handle.hpp"

namespace roc::runtime {
namespace {

// On AMD, an event must not be used after the stream that recorded it was destroyed. The host
// platform follows the stricter rule.
#if ROCARRAY_PLATFORM_NVIDIA
constexpr bool events_outlive_streams = true;
#else
constexpr bool events_outlive_streams = false;
#endif

constexpr std::uint64_t ended = 1;            // added to the generation of a stream that has ended
constexpr std::uint64_t destroyed = 2;        // added if its native stream was destroyed too
constexpr std::uint64_t generation_step = 4;  // between streams

// The number of retired streams that are checked when a stream is created or destroyed.
constexpr std::size_t checks_per_call = 4;

// A list of slots, linked by their member `next`: adding to it does not allocate.
class slot_list {
 public:
  void push_back(stream_slot& slot) noexcept {
    slot.next = nullptr;
    (last_ == nullptr ? first_ : last_->next) = &slot;
    last_ = &slot;
  }
  void push_front(stream_slot& slot) noexcept {
    slot.next = first_;
    first_ = &slot;
    if (last_ == nullptr) last_ = &slot;
  }
  // Removes and returns the first slot, or null.
  stream_slot* pop_front() noexcept {
    stream_slot* const slot = first_;
    if (slot == nullptr) return nullptr;
    first_ = slot->next;
    if (first_ == nullptr) last_ = nullptr;
    return slot;
  }

 private:
  stream_slot* first_ = nullptr;
  stream_slot* last_ = nullptr;
};

struct stream_table {
  std::mutex mutex;  // of all members
  std::unordered_map<detail::native_stream*, stream_slot*> live;
  std::map<int, stream_slot*> default_streams;     // by device
  std::map<int, stream_slot*> per_thread_streams;  // by device, one slot for all threads
  slot_list retired;                               // ended, with a native stream
  slot_list unused;
  std::uint64_t next_generation = 1;
};

// Never destroyed: static arrays are freed after every other static object.
stream_table& table() noexcept {
  static base::no_destructor<stream_table> instance;
  return *instance;
}

// Assigns an unused slot to a stream. The caller holds the table's mutex. Throws std::bad_alloc.
stream_slot& assign_slot_locked(stream_table& streams, stream_ref stream, int device,
                                bool is_foreign, bool is_permanent) {
  stream_slot* slot = streams.unused.pop_front();
  if (slot == nullptr) slot = new stream_slot;
  slot->stream = stream;
  slot->device = device;
  slot->is_foreign = is_foreign;
  slot->is_permanent = is_permanent;
  slot->generation.store(streams.next_generation, std::memory_order_release);
  streams.next_generation += generation_step;
  return *slot;
}

// Returns true if the work of a slot that has ended is done and no other thread uses its native
// stream; marks the stream as destroyed then. The caller holds the table's mutex, so that no other
// thread can begin to use it.
bool mark_destroyed_if_idle_locked(stream_slot& slot) noexcept {
  if (slot.callers.load() != 0) return false;
  auto const native = reinterpret_cast<hipStream_t>(slot.stream.handle());
  // After any error the stream may still be busy: HIP refuses queries while a graph is captured.
  if (ROCARRAY_HIP_CODE(hipStreamQuery, native) != hipSuccess) return false;
  slot.generation.fetch_add(destroyed - ended);
  return true;
}

// Checks up to `max_count` retired streams and destroys the native streams of the idle ones. The
// others are checked again after all other retired streams. Calls hipStreamDestroy without the
// mutex: the runtime may block for other reasons.
void destroy_idle_streams(std::size_t max_count) noexcept {
  stream_table& streams = table();
  slot_list idle;
  slot_list busy;
  {
    std::lock_guard const lock(streams.mutex);
    for (; max_count != 0; --max_count) {
      stream_slot* const slot = streams.retired.pop_front();
      if (slot == nullptr) break;
      (mark_destroyed_if_idle_locked(*slot) ? idle : busy).push_back(*slot);
    }
    while (stream_slot* const slot = busy.pop_front()) streams.retired.push_back(*slot);
  }
  while (stream_slot* const slot = idle.pop_front()) {
    ROCARRAY_HIP_QUIET(hipStreamDestroy, reinterpret_cast<hipStream_t>(slot->stream.handle()));
    std::lock_guard const lock(streams.mutex);
    streams.unused.push_back(*slot);
  }
}

// Returns the identity of a stream, and creates one if it has none. A stream that the library did
// not create is foreign.
stream_id look_up(stream_ref stream, int device) {
  stream_table& streams = table();
  std::lock_guard const lock(streams.mutex);
  auto const of_device = [&](std::map<int, stream_slot*>& slots, bool is_foreign) {
    stream_slot*& slot = slots[device];
    if (slot == nullptr) {
      stream_ref const with_device(is_foreign ? stream.handle() : nullptr, device, stream.kind());
      slot = &assign_slot_locked(streams, with_device, device, is_foreign, !is_foreign);
    }
    return stream_id(*slot);
  };
  if (is_per_thread_handle(stream.handle())) return of_device(streams.per_thread_streams, true);
  if (is_device_relative(stream.handle())) return of_device(streams.default_streams, false);
  auto const [entry, inserted] = streams.live.try_emplace(stream.handle(), nullptr);
  if (inserted) {
    try {
      entry->second = &assign_slot_locked(streams, stream, device, true, false);
    } catch (...) {
      streams.live.erase(entry);
      throw;
    }
  }
  return stream_id(*entry->second);
}

// Returns the relay of a foreign stream, and creates it if there is none. The device of the stream
// must be current. Throws roc::error.
hipStream_t relay_of(stream_slot& slot) {
  detail::native_stream* relay = slot.relay.load(std::memory_order_acquire);
  if (relay == nullptr) {
    hipStream_t created = nullptr;
    ROCARRAY_HIP(hipStreamCreateWithFlags, &created, hipStreamNonBlocking);
    auto* const handle = reinterpret_cast<detail::native_stream*>(created);
    if (slot.relay.compare_exchange_strong(relay, handle)) {
      mark_handle_alive(handle);  // the runtime reuses handles of destroyed streams
      return created;
    }
    ROCARRAY_HIP_QUIET(hipStreamDestroy, created);  // another thread was faster; this one is idle
  }
  return reinterpret_cast<hipStream_t>(relay);
}

}  // namespace

void stream_keepalive::keep_ended(std::uint64_t generation) noexcept {
  slot_->callers.fetch_sub(1);
  std::lock_guard const lock(table().mutex);
  if (slot_->generation.load() == generation + ended) {
    slot_->callers.fetch_add(1);
  } else {
    slot_ = nullptr;
  }
}

stream_id const& stream_id_of(stream_ref stream, int device) {
  static_cast<void>(handle(stream));
  device = device_of(stream, device);
  struct entry {
    detail::native_stream* handle;
    int device;
    stream_id id;
  };
  thread_local base::lookup_cache<entry> cache;
  entry& recent = cache.slot_of(reinterpret_cast<std::uintptr_t>(stream.handle()),
                                static_cast<unsigned>(device));
  if (!recent.id.is_empty() && recent.handle == stream.handle() && recent.device == device &&
      recent.id.is_live()) {
    return recent.id;
  }
  recent = {stream.handle(), device, look_up(stream, device)};
  return recent.id;
}

stream_id const& stream_id_of(stream_ref stream) {
  int const device = stream.device_ordinal();
  return stream_id_of(stream, device >= 0 ? device : current_device());
}

void record(event_base& recorded, stream_id const& stream) {
  // In this thread a per-thread handle may mean a different stream than in the thread that enqueued
  // the work. The event is recorded in the default stream instead, which waits for all per-thread
  // streams.
  bool const is_per_thread = is_per_thread_handle(stream.stream().handle());
  hipStream_t const source = is_per_thread ? nullptr : stream.native();
  if (events_outlive_streams || !stream.is_foreign() || is_per_thread) {
    bool const may_be_destroyed = !stream.is_foreign() && !stream.is_permanent();
    return recorded.record_on(reinterpret_cast<detail::native_stream*>(source),
                              may_be_destroyed ? stream.slot() : nullptr, stream.generation());
  }
  hipStream_t const relay = relay_of(*stream.slot());
  event reached;
  reached.record_on(stream.stream().handle(), nullptr, 0);
  reached.make_wait(reinterpret_cast<detail::native_stream*>(relay));
  recorded.record_on(reinterpret_cast<detail::native_stream*>(relay), nullptr, 0);
}

shared_event record(stream_id const& stream) {
  stream_keepalive const keepalive(stream);
  if (!keepalive) return nullptr;
  on_device const guard(stream.device());
  auto reached = std::make_shared<event>();
  record(*reached, stream);
  return reached;
}

bool is_finished(stream_id const& stream) {
  if (stream.is_live()) return false;
  stream_keepalive const keepalive(stream);
  if (!keepalive) return true;
  hipStream_t const native = stream.native();
  return ROCARRAY_HIP_READY(hipStreamQuery, native);
}

void wait(stream_id const& later, event_base const& earlier) {
  stream_keepalive const keepalive(later);
  if (!keepalive) return;
  on_device const guard(later.device());
  earlier.make_wait(later.stream().handle());
}

void order_after(stream_id const& later, stream_id const& earlier) {
  if (later == earlier) return;
  bool const one_is_default = later.is_default() || earlier.is_default();
  bool const ordered = one_is_default && later.is_blocking() && earlier.is_blocking() &&
                       later.device() == earlier.device() && later.is_live() && earlier.is_live();
  if (ordered) return;
  if (shared_event const reached = record(earlier); reached != nullptr) wait(later, *reached);
}

void begin_identity(stream_ref stream, bool is_permanent) {
  mark_handle_alive(stream.handle());
  destroy_idle_streams(checks_per_call);
  stream_table& streams = table();
  std::lock_guard const lock(streams.mutex);
  auto const [entry, inserted] = streams.live.try_emplace(stream.handle(), nullptr);
  if (!inserted) {
    // The handle belonged to a foreign stream, which must have been destroyed. All its uses have
    // events. The slot is not reused, because its relay may still be waiting.
    entry->second->generation.fetch_add(destroyed, std::memory_order_release);
    entry->second = nullptr;
  }
  try {
    entry->second =
        &assign_slot_locked(streams, stream, stream.device_ordinal(), false, is_permanent);
  } catch (...) {
    streams.live.erase(entry);
    throw;
  }
}

void retire(stream_ref stream) noexcept {
  // Before hipStreamDestroy: another thread's new stream may get the handle right after.
  mark_handle_destroyed(stream.handle());
  {
    stream_table& streams = table();
    std::lock_guard const lock(streams.mutex);
    auto const entry = streams.live.find(stream.handle());
    entry->second->generation.fetch_add(ended);
    streams.retired.push_front(*entry->second);
    streams.live.erase(entry);
  }
  destroy_idle_streams(checks_per_call);
}

void destroy_idle_streams() noexcept { destroy_idle_streams(SIZE_MAX); }

}  // namespace roc::runtime
