// SPDX-License-Identifier: MIT
// The lock of what the preloaded object publishes: call sites, runtimes, the copier. The captures
// have a lock of the same class.
#pragma once

#include <sched.h>

#include <atomic>

namespace roc::preload {

/// A lock that is held for a few assignments, and never while the loader is called: the loader
/// holds a lock of its own while it runs constructors of the program's libraries, and these may
/// copy. A fork does not wait for it: what it guards is complete or not yet published at any
/// instruction, except the captures, which the child clears. The child, which has one thread,
/// unlocks it.
class publication_lock {
 public:
  void lock() noexcept {
    while (is_locked_.test_and_set(std::memory_order_acquire)) sched_yield();
  }
  void unlock() noexcept { is_locked_.clear(std::memory_order_release); }

 private:
  std::atomic_flag is_locked_;
};

inline constinit publication_lock publication;

}  // namespace roc::preload
