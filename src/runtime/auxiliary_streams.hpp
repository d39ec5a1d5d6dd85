// SPDX-License-Identifier: MIT
// Pairs of internal streams for operations on a user's stream that need further streams: staged
// copies, whose steps overlap, and copies between devices.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <roc/event.hpp>
#include <roc/stream.hpp>

#include "runtime/internal_stream.hpp"
#include "runtime/stream_id.hpp"

namespace roc::runtime {

/// Numbers in pinned memory with which the device and the CPU tell each other how far the
/// operations on a pair of streams are. They only grow, so that operations never reset them. On
/// cache lines of their own, because one side writes and the other side polls.
struct progress_counters {
  alignas(128) std::uint64_t device = 0;         // written by the device, in the order of `first`
  alignas(128) std::uint64_t second_device = 0;  // the same for `second`
  alignas(128) std::uint64_t cpu = 0;            // written by the CPU; both streams wait for it
};

/// Two streams and the events that order their steps with each other and with the user's stream.
///
/// A pair serves the operations of one user's stream at a time, until all their work is done: work
/// that waits for one user's stream must not delay another user's. Each operation makes the user's
/// stream wait for its work on the pair, so the next operation of that stream may use the pair at
/// once. A copy without a stream holds a pair until it is complete. Pairs are never destroyed.
struct auxiliary_streams {
  /// The largest number of memory slots that an operation may cycle through.
  static constexpr std::size_t max_slots = 3;

  stream_ref first;
  stream_ref second;
  event input_ready;  // on the user's stream: its earlier work is done
  event step_done;    // on `first` or `second`: the other one waits for it
  event done;         // on `first` or `second`: the operation is done
  std::array<event, max_slots> slot_free;        // on `second`: the last use of a slot is done
  progress_counters* counters = nullptr;         // null until progress_counters_of was called
  progress_counters* device_counters = nullptr;  // their address on the device
  // The largest value of the counters that an operation has used; the next operation uses larger
  // ones. Only for the thread that holds the pair.
  std::uint64_t last_value = 0;
  stream_id user;                   // of the last operation; guarded by the lock of the guards
  std::atomic<bool> in_use = true;  // an auxiliary_streams_guard holds the pair
  bool is_abandoned = false;        // see auxiliary_streams_guard::abandon; guarded by in_use
};

/// Holds a pair of auxiliary streams for the scope in which an operation is enqueued there. After
/// the scope the pair is reused by operations of the same user's stream, and by others once its
/// event `done` has been reached.
class auxiliary_streams_guard {
 public:
  /// Acquires a pair on the current device for an operation on `user`, a stream of any device, and
  /// creates one if none is free. Holds nothing if 16 pairs of the device are in use. Does not
  /// block; calls HIP under a process-wide lock. Throws roc::error, std::bad_alloc.
  explicit auxiliary_streams_guard(stream_ref user);
  ~auxiliary_streams_guard() { release(); }
  auxiliary_streams_guard(auxiliary_streams_guard const&) = delete;
  auxiliary_streams_guard& operator=(auxiliary_streams_guard const&) = delete;

  /// Returns true if this holds a pair.
  explicit operator bool() const noexcept { return pair_ != nullptr; }
  auxiliary_streams& operator*() const noexcept { return *pair_; }
  /// Keeps the pair from being used again while has_abandoned_work() returns true: work may be
  /// pending there for ever. Precondition: a wait for that work has failed and was counted in
  /// abandoned_waits. This then holds nothing.
  void abandon() noexcept {
    if (pair_ != nullptr) pair_->is_abandoned = true;
    release();
    pair_ = nullptr;
  }

 private:
  void release() noexcept {
    if (pair_ != nullptr) pair_->in_use.store(false, std::memory_order_release);
  }

  auxiliary_streams* pair_ = nullptr;
};

/// Returns the counters of a pair of the current device, which the caller holds; the first call
/// for a device allocates them. Returns null if its streams cannot wait for 64-bit values and write
/// them. Calls HIP under a process-wide lock. Throws roc::error, out_of_memory, std::bad_alloc.
progress_counters* progress_counters_of(auxiliary_streams& pair);

}  // namespace roc::runtime
