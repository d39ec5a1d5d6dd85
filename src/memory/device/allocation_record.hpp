// SPDX-License-Identifier: MIT
// Which streams work with a piece of device memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include <roc/stream.hpp>

#include "runtime/stream_id.hpp"

namespace roc::memory {

class pool_state;

/// What is known about one live allocation.
struct allocation_record {
  struct use {
    runtime::stream_id stream;
    runtime::shared_event done;  // of foreign streams, which may be gone when one asks
  };

  pool_state* pool = nullptr;  // whose block it is; null: of another resource
  runtime::stream_id own;    // the stream that it was allocated on
  bool inherits = false;       // earlier work on that stream may still use the memory
  std::atomic<bool> used_elsewhere = false;
  std::atomic<std::uint64_t> last_user = 0;  // the life of one among the uses, not a foreign one
  std::vector<use> uses;  // by other streams; guarded by the record's lock

  /// Whether work on `stream` may be enqueued without another note: it is the memory's own, or the
  /// one that used it last.
  bool has_noted(runtime::stream_id const& stream) const noexcept {
    return stream == own || stream.life() == last_user.load();
  }
  /// Notes that work on `stream`, about to be enqueued, uses the memory. True where finish_use must
  /// follow it. Throws roc::error.
  bool begin_use(runtime::stream_id const& stream);
  /// Notes that the work on a foreign stream is enqueued.
  void finish_use(runtime::stream_id stream);
  /// Notes that work on a stream used it which cannot be enqueued to here: it has ended, or is of
  /// another thread.
  void record_use_of(runtime::stream_id stream);
  /// Events behind the uses by streams other than `except` that are not known to be done. Throws
  /// roc::error.
  std::vector<runtime::shared_event> events_of_uses(runtime::stream_id except);
  void forget_uses() noexcept;
};

/// The record of the allocation that an address lies in; null where the library does not know it.
allocation_record* find_record(void const* address) noexcept;

/// Makes the default stream of `device` wait for what may still use memory that was handed out with
/// earlier work pending; the rest of its uses it waits for by itself.
void synchronize_default_stream(int device, void const* first, void const* second = nullptr);
void synchronize_default_stream(int device, allocation_record const* record);

/// Makes `stream` wait for all uses of an allocation by other streams; forgets them.
void order_after_uses(void const* address, runtime::stream_id stream);

/// Notes, for a scope in which it is enqueued, that work on `stream` uses up to two places. Costs a
/// look-up each, and nothing more on the stream that the memory was allocated on, or used on last.
class device_use {
 public:
  device_use(stream_ref stream, int device, void const* first, void const* second = nullptr);
  ~device_use();
  device_use(device_use const&) = delete;
  device_use& operator=(device_use const&) = delete;

 private:
  runtime::stream_id stream_;
  allocation_record* pending_[2] = {nullptr, nullptr};
};

/// The same of many places.
class device_uses {
 public:
  device_uses(stream_ref stream, int device, std::vector<allocation_record*> const& records);
  ~device_uses();
  device_uses(device_uses const&) = delete;
  device_uses& operator=(device_uses const&) = delete;

 private:
  runtime::stream_id stream_;
  std::vector<allocation_record*> pending_;
};

}  // namespace roc::memory
