// SPDX-License-Identifier: MIT
// Waits by polling, with a time limit.
#pragma once

#include <chrono>
#include <thread>

namespace roc::detail {

/// One wait of a thread that polls, or several that share a limit.
class timed_wait {
 public:
  using duration = std::chrono::steady_clock::duration;

  /// Begins to measure the time.
  /// @param limit 0: none
  explicit timed_wait(std::chrono::milliseconds limit) : limit_(limit) {}

  /// Blocks until `is_done()` returns true. Returns false if the limit is over before. Throws what
  /// `is_done` throws.
  template <class F>
  bool until(F is_done) const {
    while (!is_done()) {
      if (!pause()) return false;
    }
    return true;
  }
  /// Pauses between two polls. Returns false, without a pause, if the limit is over.
  bool pause() const {
    duration const waited = std::chrono::steady_clock::now() - begin_;
    if (is_over(waited, limit_)) return false;
    pause_after(waited);
    return true;
  }

  /// Returns true if a wait has lasted as long as its limit, unless that is 0.
  static bool is_over(duration waited, std::chrono::milliseconds limit) {
    // In milliseconds, because a limit of years would overflow in nanoseconds.
    return limit.count() != 0 &&
           std::chrono::duration_cast<std::chrono::milliseconds>(waited) >= limit;
  }
  /// Pauses a thread that has polled for the time `waited`: yields for the first millisecond, then
  /// sleeps.
  static void pause_after(duration waited) {
    if (waited < std::chrono::milliseconds(1)) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

 private:
  std::chrono::milliseconds limit_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace roc::detail
