// SPDX-License-Identifier: MIT
// Two streams of the library's own beside a user's, for steps of one operation that are to overlap.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include <roc/event.hpp>
#include <roc/stream.hpp>

#include "runtime/internal_stream.hpp"

namespace roc::runtime {

/// What one operation uses. Not shared while work of another one is pending there: what waits for
/// one user's stream must not hold up another's.
struct auxiliary_streams {
  static constexpr std::size_t most_slots = 3;

  stream_ref first;
  stream_ref second;
  event begun;                          // where the user's stream was
  event half;                           // behind a first step
  event done;                           // behind all
  std::array<event, most_slots> freed;  // behind the last use of a slot
  std::atomic<bool> taken = true;
};

/// Holds such a pair while work is enqueued there. Empty where very many are at work.
class side_streams_hold {
 public:
  /// Of the current device. Throws roc::error.
  side_streams_hold();
  ~side_streams_hold() {
    if (pair_ != nullptr) pair_->taken.store(false, std::memory_order_release);
  }
  side_streams_hold(side_streams_hold const&) = delete;
  side_streams_hold& operator=(side_streams_hold const&) = delete;

  explicit operator bool() const noexcept { return pair_ != nullptr; }
  auxiliary_streams& operator*() const noexcept { return *pair_; }

 private:
  auxiliary_streams* pair_ = nullptr;
};

}  // namespace roc::runtime
