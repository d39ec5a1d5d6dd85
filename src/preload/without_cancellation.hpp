// SPDX-License-Identifier: MIT
// Disables pthread_cancel in a scope.
#pragma once

#include <pthread.h>

namespace roc::preload {

/// Protects a scope from pthread_cancel. The scope contains cancellation points, such as msync or
/// those in the vendor's functions. glibc cancels a thread by an exception, which must not leave
/// the noexcept functions called here.
class without_cancellation {
 public:
  without_cancellation() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &previous_); }
  ~without_cancellation() { pthread_setcancelstate(previous_, nullptr); }
  without_cancellation(without_cancellation const&) = delete;
  without_cancellation& operator=(without_cancellation const&) = delete;

 private:
  int previous_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace roc::preload
