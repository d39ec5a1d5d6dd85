// SPDX-License-Identifier: MIT
// The identity and the lifetime of streams. HIP reuses the handle of a destroyed stream for a new
// one; a stream_id is never reused. This is the only code that deals with reused handles.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include <roc/event.hpp>
#include <roc/stream.hpp>

#include "platform/hip.hpp"

namespace roc::runtime {

/// The record of a stream, reused for another stream after its end. Slots are never freed, so that
/// a stream_id can always be checked. `device`, `stream`, `is_foreign` and `is_permanent` do not
/// change while a stream has the slot.
struct stream_slot {
  /// The state of the stream that has the slot. The number of a live stream is unique in the
  /// process. It is incremented once when the stream ends, and again when all work of the stream is
  /// done and its native stream is destroyed. Numbers of later streams are greater.
  std::atomic<std::uint64_t> generation = 0;
  std::atomic<unsigned> callers = 0;  ///< the number of stream_keepalive objects
  int device = -1;
  stream_ref stream;
  bool is_foreign = false;    ///< not created by the library: its end is noticed late or never
  bool is_permanent = false;  ///< an internal stream of the library, which is never destroyed
  /// For foreign streams; see record. Created by the first use, never destroyed.
  std::atomic<detail::native_stream*> relay = nullptr;
  stream_slot* next = nullptr;  ///< in a list of the table; guarded by its mutex
};

/// The identity of one stream. A value: it holds copies of the slot's members, because the slot may
/// meanwhile belong to another stream.
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
        is_foreign_(slot.is_foreign),
        is_permanent_(slot.is_permanent) {}

  bool is_empty() const noexcept { return slot_ == nullptr; }
  stream_slot* slot() const noexcept { return slot_; }
  /// Returns the generation of the slot: a number that no other stream has or had; 0 if empty.
  std::uint64_t generation() const noexcept { return generation_; }
  /// Returns false once the library knows that the stream has been destroyed. Must not be empty.
  bool is_live() const noexcept {
    return slot_->generation.load(std::memory_order_acquire) == generation_;
  }
  bool is_default() const noexcept { return stream_.handle() == nullptr; }
  bool is_blocking() const noexcept { return stream_.kind() != detail::stream_kind::non_blocking; }
  /// Returns true if the library did not create the stream, so that its end is noticed late or
  /// never.
  bool is_foreign() const noexcept { return is_foreign_; }
  /// Returns true for an internal stream, which is never destroyed.
  bool is_permanent() const noexcept { return is_permanent_; }
  int device() const noexcept { return device_; }
  /// Returns the stream. Use it only while the stream is alive (stream_keepalive).
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
  bool is_permanent_ = false;
};

/// Prevents the destruction of a native stream for a scope, so that a thread that has only a
/// stream_id, or an event of the stream, can call HIP. The stream may have been destroyed by the
/// user: its native stream exists until its work is done. Converts to false if it does not exist
/// any more, and so all work of the stream is done. Does not block; ~stream does not wait for it.
class stream_keepalive {
 public:
  /// Keeps the native stream of `id`, which must not be empty.
  explicit stream_keepalive(stream_id const& id) noexcept
      : stream_keepalive(id.slot(), id.generation()) {}
  /// Keeps the native stream that had the slot at this generation.
  stream_keepalive(stream_slot* slot, std::uint64_t generation) noexcept : slot_(slot) {
    slot_->callers.fetch_add(1);
    if (slot_->generation.load() != generation) keep_ended(generation);
  }
  ~stream_keepalive() { end(); }
  stream_keepalive(stream_keepalive const&) = delete;
  stream_keepalive& operator=(stream_keepalive const&) = delete;
  explicit operator bool() const noexcept { return slot_ != nullptr; }
  /// Ends the scope early. The object converts to false afterwards.
  void end() noexcept {
    if (slot_ != nullptr) slot_->callers.fetch_sub(1);
    slot_ = nullptr;
  }

 private:
  /// Completes the construction for a stream that is not live. Takes the table's mutex.
  void keep_ended(std::uint64_t generation) noexcept;

  stream_slot* slot_;
};

/// Returns the identity of a stream; `device` is used for the default stream, which has no device
/// of its own. The reference is valid until the thread's next call. Takes a process-wide lock
/// unless the thread used the stream recently. Throws lifetime_error for a moved-from or destroyed
/// stream, and std::bad_alloc.
stream_id const& stream_id_of(stream_ref stream, int device);

/// Returns the identity of a stream on its device, or on the current device if it names none. May
/// call HIP.
stream_id const& stream_id_of(stream_ref stream);

using shared_event = std::shared_ptr<event>;

/// Records `recorded` after all work enqueued on the stream so far. If the stream is foreign and
/// events do not outlive streams on this platform, the event is recorded on a relay: an internal
/// stream that waits for the foreign one. For a per-thread stream it waits for the device's other
/// blocking streams too. The native stream must be kept alive by the caller, and be of the device
/// on which the event was created. Does not block. Throws roc::error.
void record(event_base& recorded, stream_id const& stream);
/// Creates an event, records it as above and returns it. Returns null if all work of the stream is
/// known to be done, because its native stream was destroyed. Does not block. Throws roc::error.
shared_event record(stream_id const& stream);
/// Returns true if the stream has ended and all its work is done. Does not block. Throws
/// roc::error.
bool is_finished(stream_id const& stream);
/// Makes work enqueued on `later` from now on wait for the event. Does nothing if the native stream
/// of `later` was destroyed. Does not block. Throws roc::error.
void wait(stream_id const& later, event_base const& earlier);
/// Makes work enqueued on `later` from now on wait for the work enqueued on `earlier` so far. Does
/// nothing if HIP orders them already: they are the same stream, or one is the default stream and
/// both are blocking. Does not block. Throws roc::error.
void order_after(stream_id const& later, stream_id const& earlier);

/// Begins the identity of a stream that the library has just created and will never destroy, or
/// will pass to retire. Throws std::bad_alloc; the caller then destroys the native stream.
void begin_identity(stream_ref stream, bool is_permanent = false);
/// Ends the identity of a stream of the library and destroys its native stream: now if it is idle,
/// otherwise in a later call of begin_identity, retire or destroy_idle_streams after its work is
/// done. HIP may block in hipStreamDestroy until the stream is idle (AMD does), and events of a
/// destroyed stream cannot be queried there. Does not block and does not allocate. Errors are
/// logged.
void retire(stream_ref stream) noexcept;
/// Destroys the native streams of ended streams whose work is done. Does not block; errors are
/// logged.
void destroy_idle_streams() noexcept;

}  // namespace roc::runtime
