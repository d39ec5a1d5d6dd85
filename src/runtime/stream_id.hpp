// SPDX-License-Identifier: MIT
// The identity of streams. HIP reuses the handle of a destroyed stream for a new one; a stream_id
// is never reused.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include <roc/event.hpp>
#include <roc/stream.hpp>

namespace roc::runtime {

using shared_event = std::shared_ptr<event const>;

/// The record of a stream, reused for another stream after its end. Slots are never freed, so that
/// a stream_id can always be checked. `device`, `stream` and `foreign` do not change while a stream
/// has the slot.
struct stream_slot {
  /// The number of the stream that has the slot: odd, and unique in the process. Incremented, and
  /// so even, once the stream has ended.
  std::atomic<std::uint64_t> generation = 0;
  std::atomic<bool> used = false;     ///< a stream_id of the stream has been handed out
  std::atomic<unsigned> callers = 0;  ///< the number of stream_keepalive objects
  int device = -1;
  stream_ref stream;
  bool foreign = false;  ///< not created by class stream: its end is noticed late or never
  shared_event end;      ///< after the last work of a stream that has ended; under the table's lock
};

/// The identity of one stream. A value: it holds copies of the slot's members, because the slot may
/// meanwhile belong to another stream.
class stream_id {
 public:
  /// An empty identity: no stream.
  stream_id() = default;
  /// The identity of the stream that has the slot. The caller holds the table's lock.
  explicit stream_id(stream_slot& slot) noexcept
      : slot_(&slot),
        generation_(slot.generation.load(std::memory_order_acquire)),
        stream_(slot.stream),
        device_(slot.device),
        foreign_(slot.foreign) {}

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
  /// Returns true if class stream did not create the stream, so that its end is noticed late or
  /// never.
  bool is_foreign() const noexcept { return foreign_; }
  int device() const noexcept { return device_; }
  /// Returns the stream. Use it only while the stream is alive (stream_keepalive).
  stream_ref stream() const noexcept { return stream_; }

  friend bool operator==(stream_id const& a, stream_id const& b) noexcept {
    return a.generation_ == b.generation_;
  }

 private:
  stream_slot* slot_ = nullptr;
  std::uint64_t generation_ = 0;
  stream_ref stream_;
  int device_ = -1;
  bool foreign_ = false;
};

/// Prevents the destruction of a stream for a scope, so that a thread that has only its stream_id
/// can call HIP with it. Converts to false if the stream has ended. Does not block; ~stream waits
/// for the scope's end, so keep it short.
class stream_keepalive {
 public:
  /// Keeps the stream of `id` alive, unless it has ended. `id` must not be empty.
  explicit stream_keepalive(stream_id id) noexcept : slot_(id.slot()) {
    slot_->callers.fetch_add(1);
    if (slot_->generation.load() != id.generation()) end();
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
  stream_slot* slot_;
};

/// Returns the identity of a stream; `device` is used for the default stream, which has no device
/// of its own. The reference is valid until the thread's next call. Takes a process-wide lock
/// unless the thread used the stream recently. Throws lifetime_error for a moved-from or destroyed
/// stream.
stream_id const& stream_id_of(stream_ref stream, int device);

/// Records an event after all work enqueued on the stream so far, and returns it. If the stream has
/// ended, returns the event after its last work, or null if that work is done. For a per-thread
/// stream the event waits for the device's other blocking streams too. Does not block. Throws
/// roc::error.
shared_event record(stream_id id);
/// Returns true if the stream has ended and all its work is done. Does not block. Throws
/// roc::error.
bool is_finished(stream_id id);
/// Makes work enqueued on `later`, which must be alive, from now on wait for the work enqueued on
/// `earlier` so far. Does nothing if HIP orders them already: they are the same stream, or one is
/// the default stream and both are blocking. Does not block. Throws roc::error.
void order_after(stream_id later, stream_id earlier);

/// Begins the identity of a stream that class stream has just created. Throws std::bad_alloc.
void begin_identity(stream_ref stream);
/// Ends the identity of a stream that class stream is about to destroy. Records an event after its
/// last work, and blocks until other threads have destroyed their stream_keepalive objects. Errors
/// are logged.
void end_identity(stream_ref stream) noexcept;

}  // namespace roc::runtime
