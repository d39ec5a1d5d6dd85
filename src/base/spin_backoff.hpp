// SPDX-License-Identifier: MIT
// Waiting for what another thread does in a moment: a thread that sleeps takes long to wake,
// compared with a copy of a few MiB.
#pragma once

#include <thread>

namespace roc::base {

class spin_backoff {
 public:
  /// A moment. Lets others have the processor now and then: there may be more threads than those.
  void pause() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
    if (++pauses_ % 64 == 0) std::this_thread::yield();
  }

 private:
  unsigned pauses_ = 0;
};

/// Takes a lock that others hold for a moment only: some calls of HIP each at most.
template <class Lock>
void spin_then_lock(Lock& held) {
  spin_backoff spin_backoff;
  for (int i = 0; i < 20'000; ++i) {  // a millisecond
    if (held.try_lock()) return;
    spin_backoff.pause();
  }
  held.lock();
}

}  // namespace roc::base
