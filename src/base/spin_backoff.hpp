// SPDX-License-Identifier: MIT
// Busy waiting for another thread. Waking a sleeping thread takes long compared with a copy of a
// few MiB.
#pragma once

#include <mutex>
#include <thread>

namespace roc::base {

/// Counts and performs the pauses of one busy-waiting loop.
class spin_backoff {
 public:
  /// Pauses the processor for a few cycles. Every 64th call yields it to other threads: there may
  /// be more threads than processors.
  void pause() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
    if (++pauses_ % 64 == 0) std::this_thread::yield();
  }

 private:
  unsigned pauses_ = 0;
};

/// Locks a lock that other threads hold only briefly: for a few HIP calls at most. Spins for
/// about a millisecond before it blocks.
template <class Lock>
void spin_then_lock(Lock& lock) {
  spin_backoff backoff;
  for (int i = 0; i < 20'000; ++i) {  // about a millisecond
    if (lock.try_lock()) return;
    backoff.pause();
  }
  lock.lock();
}
/// Locks a mutex as spin_then_lock does for a lock, and returns the lock.
[[nodiscard]] inline std::unique_lock<std::mutex> spin_then_lock(std::mutex& mutex) {
  std::unique_lock lock(mutex, std::defer_lock);
  spin_then_lock(lock);
  return lock;
}

}  // namespace roc::base
