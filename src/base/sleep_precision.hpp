// SPDX-License-Identifier: MIT
// The precision of short sleeps.
#pragma once

#if defined(__linux__)
#include <sys/prctl.h>
#endif

namespace roc::base {

/// Makes waits of the calling thread end at their time. By default Linux lets them end up to 50 us
/// later, in order to wake several threads at once. Threads that the calling thread starts inherit
/// this. Does nothing on other systems.
inline void set_precise_sleep() noexcept {
#if defined(__linux__)
  prctl(PR_SET_TIMERSLACK, 1UL);  // nanoseconds; 0 would mean the default
#endif
}

}  // namespace roc::base
