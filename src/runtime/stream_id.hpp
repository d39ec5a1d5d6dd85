// SPDX-License-Identifier: MIT
// The identity and the lifetime of streams. A native stream that the library has created is never
// destroyed: after the end of its stream, and once it is idle, a later stream of the same device,
// kind and priority uses it. So its events stay valid, and no destructor calls hipStreamDestroy,
// which on AMD blocks until the stream is idle and until no host function of any stream runs. A
// stream_id is never reused. This is the only code that deals with reused handles.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include <roc/event.hpp>
#include <roc/stream.hpp>

#include "base/lookup_cache.hpp"
#include "platform/hip.hpp"
#include "runtime/stream_handle.hpp"

namespace roc::runtime {

class slot_list;

/// The record of a native stream and of the stream that uses it. Slots are never freed, so that a
/// stream_id can always be checked. `device`, `stream`, `is_foreign`, `kept` and `end` do not
/// change.
struct stream_slot {
  /// The state of the stream that uses the native stream: even while it is live, and unique in the
  /// process; incremented when the stream ends. Numbers of later streams are greater. 0 if the
  /// native stream was foreign and its handle now belongs to another one.
  std::atomic<std::uint64_t> generation = 0;
  int device = -1;
  stream_ref stream;
  bool is_foreign = false;  ///< not created by the library: its end is noticed late or never
  /// For streams of the library: the list of native streams without a stream that it may be in, and
  /// an event that is recorded at the end of each stream.
  slot_list* kept = nullptr;
  hipEvent_t end = nullptr;
  bool is_end_recorded = false;  ///< for the one thread that ends or begins the stream
  /// For foreign streams; see record. Created by the first use, never destroyed.
  std::atomic<detail::native_stream*> relay = nullptr;
  stream_slot* next = nullptr;  ///< in a list; the mutex of the table guards its lists
};

/// The identity of one stream. A value: it holds copies of the slot's members.
class stream_id {
 public:
  /// An empty identity: no stream.
  stream_id() = default;
  /// The identity of the stream that has the slot. The caller holds the table's mutex.
  explicit stream_id(stream_slot& slot) noexcept
      : slot_(&slot),
        generation_(slot.generation.load(std::memory_order_acquire)),
        stream_(slot.stream),
        device_(slot.device),
        is_foreign_(slot.is_foreign) {}

  bool is_empty() const noexcept { return slot_ == nullptr; }
  stream_slot* slot() const noexcept { return slot_; }
  /// Returns the generation of the slot: a number that no other stream has or had; 0 if empty.
  std::uint64_t generation() const noexcept { return generation_; }
  /// Returns false once the library knows that the stream has ended. Must not be empty.
  bool is_live() const noexcept {
    return slot_->generation.load(std::memory_order_acquire) == generation_;
  }
  /// Returns true once a later stream uses the native stream. All work of this one is done then,
  /// and so is the work of the default stream for which this one waited. Another thread may cause
  /// it at any time after the end of this stream: work that is enqueued on native() nevertheless is
  /// ordered with that of the later stream. Must not be empty.
  bool is_replaced() const noexcept {
    auto const generation = slot_->generation.load(std::memory_order_acquire);
    return generation != generation_ && generation != generation_ + 1;
  }
  bool is_default() const noexcept { return stream_.handle() == nullptr; }
  bool is_blocking() const noexcept { return stream_.kind() != detail::stream_kind::non_blocking; }
  /// Returns true if the library did not create the stream, so that its end is noticed late or
  /// never.
  bool is_foreign() const noexcept { return is_foreign_; }
  int device() const noexcept { return device_; }
  /// Returns the stream. Functions that check a stream_ref throw if it has ended.
  stream_ref stream() const noexcept { return stream_; }
  hipStream_t native() const noexcept { return reinterpret_cast<hipStream_t>(stream_.handle()); }

  friend bool operator==(stream_id const& a, stream_id const& b) noexcept {
    return a.generation_ == b.generation_;
  }

 private:
  stream_slot* slot_ = nullptr;
  std::uint64_t generation_ = 0;
  stream_ref stream_;
  int device_ = -1;
  bool is_foreign_ = false;
};

namespace stream_id_detail {

/// A stream that the calling thread has used, and its identity; empty if the slot is unused. 64
/// bytes, so that the address of a slot is computed by a shift.
struct alignas(64) recent_stream {
  detail::native_stream* handle;
  int device;
  detail::stream_kind kind;
  stream_id id;
};
inline constinit thread_local base::lookup_cache<recent_stream> recent_streams;

/// Stores a stream and its identity in a slot of recent_streams; the stream gets an identity if it
/// has none. A stream that the library did not create is foreign. Takes a process-wide lock. Throws
/// lifetime_error for a stream that has ended, and std::bad_alloc.
void look_up(stream_ref stream, int device, recent_stream& slot);

}  // namespace stream_id_detail

/// Returns the identity of a stream; `device` is used for the default stream, which has no device
/// of its own. The reference is valid until the thread's next call. Takes a process-wide lock
/// unless the thread used the stream recently. Throws lifetime_error for a moved-from or destroyed
/// stream, and std::bad_alloc. Inline, because every copy on a stream calls it.
inline stream_id const& stream_id_of(stream_ref stream, int device) {
  static_cast<void>(handle(stream));
  device = device_of(stream, device);
  auto& recent = stream_id_detail::recent_streams.slot_of(
      reinterpret_cast<std::uintptr_t>(stream.handle()), static_cast<unsigned>(device));
  bool const is_known = !recent.id.is_empty() && recent.handle == stream.handle() &&
                        recent.device == device && recent.kind == stream.kind() &&
                        recent.id.is_live();
  if (!is_known) [[unlikely]]
    stream_id_detail::look_up(stream, device, recent);
  return recent.id;
}

/// Returns the identity of a stream on its device, or on the current device if it names none. May
/// call HIP.
stream_id const& stream_id_of(stream_ref stream);

using shared_event = std::shared_ptr<event>;

/// Returns true if an event that is recorded on the stream itself must not be used after the end of
/// the stream, and if the function below can record it on a relay instead. The device of a
/// per-thread stream must be current. May call HIP. Throws roc::error, lifetime_error,
/// std::bad_alloc.
bool needs_relay(stream_ref stream);
/// Records `recorded` after all work enqueued on the stream so far, on a relay: an internal stream
/// that waits for the stream. A per-thread stream is that of the calling thread, which has a relay
/// of its own. needs_relay must have returned true. The event must be of the stream's device. Does
/// not block. Throws roc::error, std::bad_alloc.
void record_on_relay(event_base& recorded, stream_id const& stream);
/// Blocks until the events are reached that record_on_relay has recorded on the calling thread's
/// per-thread stream of the device. To be called when the stream is idle, so that queries of the
/// events return true as they would without a relay. Throws roc::error.
void synchronize_relay_of_thread(int device);
/// Records `recorded` after all work enqueued on the stream so far. If the stream is foreign and
/// events do not outlive streams on this platform, the event is recorded on a relay. For a
/// per-thread stream, of any thread, it waits for the device's other blocking streams too. The
/// stream's device must be current, and be that of the event. Does not block. Throws roc::error.
void record(event_base& recorded, stream_id const& stream);
/// Creates an event, records it as above and returns it. Returns null if all work of the stream is
/// known to be done. If the stream has joined a capture, the event comes after its work from before
/// the capture. Does not block. Throws roc::error.
shared_event record(stream_id const& stream);
/// Returns true if the stream has ended and all its work is done. Does not block. Throws
/// roc::error.
bool is_finished(stream_id const& stream);
/// Makes work enqueued on `later` from now on wait for the event. Does nothing if `later` is a
/// foreign stream that is known to have been destroyed. Does not block. Throws roc::error.
void wait(stream_id const& later, event_base const& earlier);
/// Makes work enqueued on `later` from now on wait for the work enqueued on `earlier` so far. Does
/// nothing if HIP orders them already: they are the same stream, or one is the default stream and
/// both are blocking. Does not block. Throws roc::error.
void order_after(stream_id const& later, stream_id const& earlier);
/// Blocks until the non-blocking streams of a device that the library has created are idle, also
/// those that have ended; for streams that are captured, until their work from before the capture
/// has finished. Throws roc::error, std::bad_alloc.
void synchronize_non_blocking_streams(int device);

/// Returns a stream on the current device with an idle native stream that was kept, or with a new
/// one. A priority outside of the device's range is clamped to it. The caller passes the stream to
/// retire, or keeps it for the life of the process. Throws roc::error, std::bad_alloc.
stream_ref create_stream(detail::stream_kind kind, int priority);
/// Ends a stream that create_stream returned, and keeps its native stream for later ones. Records
/// an event. Does not block and does not allocate. Errors are logged.
void retire(stream_ref stream) noexcept;

}  // namespace roc::runtime
