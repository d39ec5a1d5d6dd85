// SPDX-License-Identifier: MIT
// The streams that use one device allocation.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include <roc/stream.hpp>

#include "runtime/stream_id.hpp"

namespace roc::memory {

class pool_state;

/// The record of one live device allocation: the streams whose work may still use its memory.
///
/// Members are safe to call from any thread. Each takes the mutex of its record for a short time;
/// several records share one mutex. The fields `pool`, `allocation_stream` and `has_prior_work` are
/// written before the memory is handed out and are constant while it is allocated.
struct allocation_record {
  /// The use of the memory by one stream.
  struct use {
    runtime::stream_id stream;
    /// Recorded after the last use, if the stream is foreign: such a stream may be destroyed
    /// without notice. Null for streams of the library.
    runtime::shared_event done;
  };

  /// The pool that owns the block; null if the memory is from another resource.
  pool_state* pool = nullptr;
  /// The stream that the memory was allocated on.
  runtime::stream_id allocation_stream;
  /// Work enqueued on allocation_stream before the allocation may still use the memory.
  bool has_prior_work = false;
  /// `uses` is not empty.
  std::atomic<bool> used_by_other_streams = false;
  /// The generation of the last stream of the library in `uses` that used the memory; 0 if there is
  /// none. Foreign streams do not change it.
  std::atomic<std::uint64_t> last_use_generation = 0;
  /// Uses by streams other than allocation_stream. Guarded by the mutex of the record.
  std::vector<use> uses;

  /// Returns true if work on `stream` needs no call of begin_use: it is the allocation stream, or
  /// the last stream of the library that used the memory. Lock-free.
  bool has_tracked(runtime::stream_id const& stream) const noexcept {
    return stream == allocation_stream || stream.generation() == last_use_generation.load();
  }
  /// Records that work about to be enqueued on `stream` uses the memory, and makes `stream` wait
  /// for prior work. Does not block; may call HIP, with the mutex of the record held.
  /// Returns true if the stream is foreign: the caller must call finish_use after it has enqueued
  /// the work. Throws roc::error.
  bool begin_use(runtime::stream_id const& stream);
  /// Records an event on the foreign `stream`, after the work for which begin_use was called. Does
  /// not block; calls HIP. Throws roc::error; the use then remains without an event.
  void finish_use(runtime::stream_id stream);
  /// Records a use by a stream on which the caller cannot enqueue work, because it has been
  /// destroyed or belongs to another thread. Does not call HIP.
  void record_past_use(runtime::stream_id stream);
  /// Returns one event for each use by streams other than `except` that is not known to have
  /// finished. Does not block; calls HIP. Throws roc::error; the uses are unchanged.
  std::vector<runtime::shared_event> events_of_uses(runtime::stream_id except);
  /// Removes all uses. Does not call HIP.
  void forget_uses() noexcept;
};

}  // namespace roc::memory
