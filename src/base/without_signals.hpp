// SPDX-License-Identifier: MIT
// The signal mask of the library's threads.
#pragma once

#include <signal.h>

namespace roc::base {

/// Blocks the signals that are sent to the process, for a scope: a thread that is created there
/// inherits the mask, and so takes no signal that the program waits for or handles in a thread of
/// its own. Signals of faults stay, because a blocked one ends the process without its handler.
class without_signals {
 public:
  without_signals() noexcept {
    sigset_t blocked;
    sigfillset(&blocked);
    for (int const fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) sigdelset(&blocked, fault);
    pthread_sigmask(SIG_BLOCK, &blocked, &previous_);
  }
  ~without_signals() { pthread_sigmask(SIG_SETMASK, &previous_, nullptr); }
  without_signals(without_signals const&) = delete;
  without_signals& operator=(without_signals const&) = delete;

 private:
  sigset_t previous_;
};

}  // namespace roc::base
