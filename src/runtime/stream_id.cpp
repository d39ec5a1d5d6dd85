// SPDX-License-Identifier: MIT
#include "runtime/stream_id.hpp"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <roc/error.hpp>

#include "base/log.hpp"
#include "base/no_destructor.hpp"
#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/stream_capture.hpp"
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

constexpr std::uint64_t generation_step = 2;  // between streams; see stream_slot::generation

// The number of kept streams that are checked before a native stream is created.
constexpr std::size_t checks_per_call = 4;

}  // namespace

// A list of slots, linked by their member `next`: adding to it does not allocate.
class slot_list {
 public:
  void push_back(stream_slot& slot) noexcept {
    slot.next = nullptr;
    (last_ == nullptr ? first_ : last_->next) = &slot;
    last_ = &slot;
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

namespace {

// Streams with equal properties can use one native stream one after the other.
struct stream_properties {
  int device;
  detail::stream_kind kind;
  int priority;
  friend auto operator<=>(stream_properties const&, stream_properties const&) = default;
};

struct stream_table {
  std::mutex mutex;  // of all members
  // Also streams of the library that have ended.
  std::map<detail::native_stream*, stream_slot*> by_handle;
  std::map<int, stream_slot*> default_streams;     // by device
  std::map<int, stream_slot*> per_thread_streams;  // by device, one slot for all threads
  std::map<stream_properties, slot_list> kept;     // native streams without a stream
  slot_list unused;  // slots of destroyed foreign streams, which only leak checkers read
  std::uint64_t next_generation = generation_step;
};

// Never destroyed: static arrays are freed after every other static object.
stream_table& stream_registry() noexcept {
  static base::no_destructor<stream_table> instance;
  return *instance;
}

bool has_ended(stream_slot const& slot) noexcept { return slot.generation.load() % 2 != 0; }

// Begins the life of a stream. The caller holds the table's mutex.
void begin_locked(stream_table& streams, stream_slot& slot) noexcept {
  slot.generation.store(streams.next_generation, std::memory_order_release);
  streams.next_generation += generation_step;
}

// Creates the slot of a stream that the library did not create, or of a default stream. The caller
// holds the table's mutex. Throws std::bad_alloc.
stream_slot& new_slot_locked(stream_table& streams, stream_ref stream, int device,
                             bool is_foreign) {
  auto* const slot = new stream_slot;
  slot->stream = stream;
  slot->device = device;
  slot->is_foreign = is_foreign;
  begin_locked(streams, *slot);
  return *slot;
}

// Records the event at the end of the work of a stream that has ended. A blocking stream thus waits
// for earlier work of the default stream, also if it has no work of its own: memory that it
// allocated may still be used by that.
void record_end(stream_slot& slot) noexcept {
  auto const native = reinterpret_cast<hipStream_t>(slot.stream.handle());
  // While the stream is captured, the event would belong to the capture.
  slot.is_end_recorded =
      !may_be_captured(slot.stream) && ROCARRAY_HIP_QUIET(hipEventRecord, slot.end, native);
}

// Returns true if all work of a stream that has ended is done. After any error it may be pending:
// HIP refuses the calls while a graph is captured.
bool is_idle(stream_slot& slot) noexcept {
  if (!slot.is_end_recorded) record_end(slot);
  return slot.is_end_recorded && ROCARRAY_HIP_CODE(hipEventQuery, slot.end) == hipSuccess;
}

// Takes the slot of an idle native stream out of a list, or returns null. Checks only a few: the
// others are checked by later calls. Calls HIP without the mutex.
stream_slot* take_idle(stream_table& streams, slot_list& kept) noexcept {
  slot_list busy;
  stream_slot* found = nullptr;
  for (std::size_t i = 0; i != checks_per_call && found == nullptr; ++i) {
    stream_slot* slot = nullptr;
    {
      std::lock_guard const lock(streams.mutex);
      slot = kept.pop_front();
    }
    if (slot == nullptr) break;
    if (is_idle(*slot)) {
      found = slot;
    } else {
      busy.push_back(*slot);
    }
  }
  std::lock_guard const lock(streams.mutex);
  while (stream_slot* const slot = busy.pop_front()) kept.push_back(*slot);
  return found;
}

// Returns HIP's priority that is nearest to `priority` on the current device. Throws roc::error.
int clamp_priority(int priority) {
  if (priority == 0) return 0;
  int least = 0;
  int greatest = 0;
  ROCARRAY_HIP(hipDeviceGetStreamPriorityRange, &least, &greatest);
  return std::clamp(priority, greatest, least);
}

// The handle of a foreign stream belongs to another stream now, so that the foreign one must have
// been destroyed. Its uses have events. Its slot is never freed, because stream_ids refer to it;
// the list only keeps it reachable for leak checkers. The caller holds the table's mutex.
void replace_foreign_locked(stream_table& streams, stream_slot& slot) noexcept {
  slot.generation.store(0, std::memory_order_release);
  streams.unused.push_back(slot);
}

// Keeps the relay of a foreign stream that was replaced for other streams. The caller does not hold
// the table's mutex.
void retire_relay(stream_slot& slot) noexcept {
  detail::native_stream* const relay = slot.relay.exchange(nullptr);
  if (relay != nullptr) {
    retire(stream_ref(relay, slot.device, detail::stream_kind::non_blocking));
  }
}

// Creates a native stream on the current device, and its slot. Throws roc::error, std::bad_alloc.
stream_slot& create_native(stream_table& streams, stream_properties const& wanted,
                           slot_list& kept) {
  auto slot = std::make_unique<stream_slot>();
  std::map<detail::native_stream*, stream_slot*> entries{{nullptr, slot.get()}};
  auto entry = entries.extract(nullptr);  // so that nothing throws after the native stream exists
  ROCARRAY_HIP(hipEventCreateWithFlags, &slot->end, hipEventDisableTiming);
  bool const is_blocking = wanted.kind != detail::stream_kind::non_blocking;
  unsigned const flags = is_blocking ? hipStreamDefault : hipStreamNonBlocking;
  hipStream_t native = nullptr;
  try {
    if (wanted.priority == 0) {
      ROCARRAY_HIP(hipStreamCreateWithFlags, &native, flags);
    } else {
      ROCARRAY_HIP(hipStreamCreateWithPriority, &native, flags, wanted.priority);
    }
  } catch (...) {
    ROCARRAY_HIP_QUIET(hipEventDestroy, slot->end);
    throw;
  }
  auto* const handle = reinterpret_cast<detail::native_stream*>(native);
  slot->stream = stream_ref(handle, wanted.device, wanted.kind);
  slot->device = wanted.device;
  slot->kept = &kept;
  entry.key() = handle;
  stream_slot* replaced = nullptr;
  {
    std::lock_guard const lock(streams.mutex);
    if (auto const earlier = streams.by_handle.find(handle); earlier != streams.by_handle.end()) {
      if (earlier->second->is_foreign) {
        replaced = earlier->second;
        replace_foreign_locked(streams, *replaced);
      }
      streams.by_handle.erase(earlier);
    }
    streams.by_handle.insert(std::move(entry));
  }
  if (replaced != nullptr) retire_relay(*replaced);
  return *slot.release();
}

// Returns the identity of a stream, and creates one if it has none. A stream that the library did
// not create is foreign. Throws lifetime_error for a stream that has ended, and std::bad_alloc.
stream_id find_or_create_id(stream_ref stream, int device) {
  stream_table& streams = stream_registry();
  std::unique_lock lock(streams.mutex);
  auto const of_device = [&](std::map<int, stream_slot*>& slots, bool is_foreign) {
    stream_slot*& slot = slots[device];
    if (slot == nullptr) {
      stream_ref const with_device(is_foreign ? stream.handle() : nullptr, device, stream.kind());
      slot = &new_slot_locked(streams, with_device, device, is_foreign);
    }
    return stream_id(*slot);
  };
  if (is_per_thread_handle(stream.handle())) return of_device(streams.per_thread_streams, true);
  if (is_device_relative(stream.handle())) return of_device(streams.default_streams, false);
  auto const known = streams.by_handle.find(stream.handle());
  if (known == streams.by_handle.end()) {
    auto& entry = streams.by_handle[stream.handle()];
    try {
      entry = &new_slot_locked(streams, stream, device, true);
    } catch (...) {
      streams.by_handle.erase(stream.handle());
      throw;
    }
    return stream_id(*entry);
  }
  stream_slot* const slot = known->second;
  if (has_ended(*slot)) throw_destroyed();
  bool const is_other =
      slot->is_foreign && (slot->device != device || slot->stream.kind() != stream.kind());
  if (!is_other) return stream_id(*slot);
  stream_slot& added = new_slot_locked(streams, stream, device, true);
  replace_foreign_locked(streams, *slot);
  known->second = &added;
  stream_id const result(added);
  lock.unlock();
  retire_relay(*slot);
  return result;
}

// Returns the relay of a foreign stream, and creates it if there is none. The device of the stream
// must be current. Throws roc::error, std::bad_alloc.
hipStream_t relay_of(stream_slot& slot) {
  static std::mutex mutex;
  detail::native_stream* relay = slot.relay.load(std::memory_order_acquire);
  if (relay == nullptr) {
    std::lock_guard const lock(mutex);
    relay = slot.relay.load(std::memory_order_relaxed);
    if (relay == nullptr) {
      relay = create_stream(detail::stream_kind::non_blocking, 0).handle();
      slot.relay.store(relay, std::memory_order_release);
    }
  }
  return reinterpret_cast<hipStream_t>(relay);
}

// Static objects may still record events after the thread's objects were destroyed.
constinit thread_local bool is_thread_ended = false;

// The relays for the per-thread streams of one thread, by device. Threads do not share a relay: the
// events of one thread would wait for the work of the others. Relays are blocking streams, as the
// per-thread streams are: after work of the default stream that came later, the events are reached.
struct thread_relays {
  std::map<int, stream_ref> by_device;
  ~thread_relays() {
    is_thread_ended = true;
    for (auto const& [device, relay] : by_device) {
      if (relay.handle() != nullptr) retire(relay);
    }
  }

  static thread_relays& of_thread() {
    thread_local thread_relays instance;
    return instance;
  }
};

// Returns the relay for the calling thread's stream of a device, which must be current, and creates
// it if there is none. Throws roc::error, std::bad_alloc.
hipStream_t relay_of_thread(int device) {
  stream_ref& relay = thread_relays::of_thread().by_device[device];
  if (relay.handle() == nullptr) relay = create_stream(detail::stream_kind::blocking, 0);
  return reinterpret_cast<hipStream_t>(relay.handle());
}

}  // namespace

void stream_id_detail::look_up(stream_ref stream, int device, recent_stream& slot) {
  slot = {stream.handle(), device, stream.kind(), find_or_create_id(stream, device)};
}

stream_id const& stream_id_of(stream_ref stream) {
  int const device = stream.device_ordinal();
  return stream_id_of(stream, device >= 0 ? device : current_device());
}

bool needs_relay(stream_ref stream) {
  if (events_outlive_streams) return false;
  bool const is_per_thread = is_per_thread_handle(stream.handle());
  if (is_per_thread && is_thread_ended) return false;
  if (!is_per_thread && is_device_relative(stream.handle())) return false;
  // In a capture, the relay would join it. The program may have begun the capture.
  return stream_id_of(stream).is_foreign() && !is_captured_by_hip(stream);
}

void record_on_relay(event_base& recorded, stream_id const& stream) {
  refuse_captured(stream.stream(), "ordering other work after the stream");
  on_device const guard(stream.device());
  bool const is_per_thread = is_per_thread_handle(stream.stream().handle());
  hipStream_t const relay =
      is_per_thread ? relay_of_thread(stream.device()) : relay_of(*stream.slot());
  event reached;
  reached.record_on(stream.stream().handle());
  reached.make_wait(reinterpret_cast<detail::native_stream*>(relay));
  recorded.record_on(reinterpret_cast<detail::native_stream*>(relay));
}

void synchronize_relay_of_thread(int device) {
  if (events_outlive_streams || is_thread_ended) return;
  auto const& relays = thread_relays::of_thread().by_device;
  auto const found = relays.find(device);
  if (found == relays.end() || found->second.handle() == nullptr) return;
  auto const relay = reinterpret_cast<hipStream_t>(found->second.handle());
  ROCARRAY_HIP(hipStreamSynchronize, relay);
}

void record(event_base& recorded, stream_id const& stream) {
  refuse_captured(stream.stream(), "ordering other work after the stream");
  // In this thread a per-thread handle may mean a different stream than in the thread that enqueued
  // the work. The event is recorded in the default stream instead, which waits for all per-thread
  // streams.
  bool const is_per_thread = is_per_thread_handle(stream.stream().handle());
  hipStream_t const source = is_per_thread ? nullptr : stream.native();
  if (events_outlive_streams || !stream.is_foreign() || is_per_thread) {
    return recorded.record_on(reinterpret_cast<detail::native_stream*>(source));
  }
  record_on_relay(recorded, stream);
}

shared_event record(stream_id const& stream) {
  if (stream.is_replaced()) return nullptr;
  if (shared_event before = event_before_join(stream.stream())) return before;
  on_device const guard(stream.device());
  auto reached = std::make_shared<event>();
  record(*reached, stream);
  // If the stream has joined a capture meanwhile, the event may belong to the capture.
  if (shared_event before = event_before_join(stream.stream())) return before;
  return reached;
}

bool is_finished(stream_id const& stream) {
  if (stream.is_live()) return false;
  if (stream.is_replaced()) return true;
  if (may_be_captured(stream.stream())) return false;
  hipStream_t const native = stream.native();
  return ROCARRAY_HIP_READY(hipStreamQuery, native);
}

void wait(stream_id const& later, event_base const& earlier) {
  // A native stream of the library exists still, and another thread may be about to use it.
  if (later.is_foreign() && later.is_replaced()) return;
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

void synchronize_non_blocking_streams(int device) {
  std::vector<stream_id> streams;
  {
    std::lock_guard const lock(stream_registry().mutex);
    for (auto const& [handle, slot] : stream_registry().by_handle) {
      bool const is_awaited = !slot->is_foreign && slot->device == device &&
                              slot->stream.kind() == detail::stream_kind::non_blocking;
      if (is_awaited) streams.emplace_back(*slot);
    }
  }
  for (stream_id const& stream : streams) {
    // The stream that a capture began with had no work.
    if (belongs_to_capture(stream.stream()) && event_before_join(stream.stream()) == nullptr) {
      continue;
    }
    if (shared_event const reached = record(stream)) reached->synchronize();
  }
}

stream_ref create_stream(detail::stream_kind kind, int priority) {
  stream_properties const wanted{current_device(), kind, clamp_priority(priority)};
  stream_table& streams = stream_registry();
  slot_list& kept = [&]() -> slot_list& {
    std::lock_guard const lock(streams.mutex);
    return streams.kept[wanted];
  }();
  stream_slot* slot = take_idle(streams, kept);
  if (slot == nullptr) slot = &create_native(streams, wanted, kept);
  base::log_line(base::log_level::debug, "stream %p, priority %d%s",
                 static_cast<void*>(slot->stream.handle()), wanted.priority,
                 kind == detail::stream_kind::non_blocking ? ", non-blocking" : "");
  mark_handle_alive(slot->stream.handle());
  std::lock_guard const lock(streams.mutex);
  begin_locked(streams, *slot);
  return slot->stream;
}

void retire(stream_ref stream) noexcept {
  base::log_line(base::log_level::debug, "stream %p is destroyed",
                 static_cast<void*>(stream.handle()));
  mark_handle_destroyed(stream.handle());
  stream_table& streams = stream_registry();
  stream_slot& slot = [&]() -> stream_slot& {
    std::lock_guard const lock(streams.mutex);
    return *streams.by_handle.find(stream.handle())->second;
  }();
  // In this order, so that the event covers what another thread enqueued before it saw the end.
  slot.generation.fetch_add(1);
  record_end(slot);
  std::lock_guard const lock(streams.mutex);
  slot.kept->push_back(slot);
}

}  // namespace roc::runtime
