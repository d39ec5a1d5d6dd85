// SPDX-License-Identifier: MIT
// Streams by identity. A handle may come back after its stream was destroyed; a mark never does.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include <roc/event.hpp>
#include <roc/stream.hpp>

namespace roc::runtime {

using shared_event = std::shared_ptr<event const>;

/// Where one stream after another is known. Never freed, so that a mark can always be asked.
struct stream_slot {
  std::atomic<std::uint64_t> life = 0;  // odd while a stream lives here, and then of no other one
  std::atomic<bool> used = false;       // somebody has a mark of the stream
  std::atomic<unsigned> callers = 0;    // that call HIP with the stream right now
  int device = -1;
  stream_ref stream;
  bool foreign = false;  // not of class stream: nobody tells us when it is destroyed
  shared_event end;      // after the last work of a stream that has ended; under the table's lock
};

/// One stream, for good. A value, which knows what never changes: the slot may be another's by now.
class stream_id {
 public:
  stream_id() = default;
  /// Of the stream that lives in the slot; its table's lock is held.
  explicit stream_id(stream_slot& slot) noexcept
      : slot_(&slot),
        life_(slot.life.load(std::memory_order_acquire)),
        stream_(slot.stream),
        device_(slot.device),
        foreign_(slot.foreign) {}

  /// No stream.
  bool is_empty() const noexcept { return slot_ == nullptr; }
  stream_slot* slot() const noexcept { return slot_; }
  /// A number that no other stream has or had.
  std::uint64_t life() const noexcept { return life_; }
  /// Whether the stream has not been destroyed, as far as the library is told.
  bool is_live() const noexcept { return slot_->life.load(std::memory_order_acquire) == life_; }
  bool is_default() const noexcept { return stream_.handle() == nullptr; }
  bool is_blocking() const noexcept {
    return stream_.kind() != detail::stream_kind::non_blocking;
  }
  bool is_foreign() const noexcept { return foreign_; }
  int device() const noexcept { return device_; }
  /// To be used only of a stream that lives.
  stream_ref stream() const noexcept { return stream_; }

  friend bool operator==(stream_id const& a, stream_id const& b) noexcept {
    return a.life_ == b.life_;
  }

 private:
  stream_slot* slot_ = nullptr;
  std::uint64_t life_ = 0;
  stream_ref stream_;
  int device_ = -1;
  bool foreign_ = false;
};

/// Keeps a stream from being destroyed for a scope in which HIP is called with it, by a thread that
/// knows of it from a mark alone. False where it has ended.
class stream_use {
 public:
  explicit stream_use(stream_id mark) noexcept : slot_(mark.slot()) {
    slot_->callers.fetch_add(1);
    if (slot_->life.load() != mark.life()) end();
  }
  ~stream_use() { end(); }
  stream_use(stream_use const&) = delete;
  stream_use& operator=(stream_use const&) = delete;
  explicit operator bool() const noexcept { return slot_ != nullptr; }
  void end() noexcept {
    if (slot_ != nullptr) slot_->callers.fetch_sub(1);
    slot_ = nullptr;
  }

 private:
  stream_slot* slot_;
};

/// The mark of a stream; `device` is that of the default stream where the stream names none.
/// Good until the thread asks for another one. Throws lifetime_error for a moved-from stream.
stream_id const& mark_of(stream_ref stream, int device);

/// An event behind all work of the stream so far; null where there is none to wait for. It may lie
/// further back than needed. Throws roc::error.
shared_event record(stream_id mark);
/// Whether the stream has ended and all its work is done.
bool is_over(stream_id mark);
/// Makes work enqueued on `later` from now on come after that of `earlier` so far. Calls HIP only
/// where the default stream's rule does not order them already.
void order_after(stream_id later, stream_id earlier);

/// What class stream tells: a stream of its own begins, and is about to be destroyed.
void stream_begins(stream_ref stream);
void stream_ends(stream_ref stream) noexcept;

}  // namespace roc::runtime
