// SPDX-License-Identifier: MIT
// The calling thread's current device.
#pragma once

#include <roc/device.hpp>

#include "platform/call.hpp"

namespace roc::runtime {

/// Returns the ordinal of the calling thread's current device. Throws roc::error if there is no
/// device.
inline int current_device() {
  int ordinal = 0;
  ROCARRAY_HIP(hipGetDevice, &ordinal);
  return ordinal;
}

/// Returns `device`, or the current device if it is negative. Throws roc::error if there is no such
/// device.
inline int checked_device(int device) {
  return roc::device(device >= 0 ? device : current_device()).ordinal();
}

/// Returns true if the process has exactly one device, which is always current then. Calls HIP only
/// the first time. Throws roc::error.
inline bool has_one_device() {
  static bool const result = device::count() == 1;
  return result;
}

/// How often restore_current_device has failed on this thread. The wrong device is current then.
inline constinit thread_local unsigned failed_restores = 0;

/// Makes a device current again at the end of a scope. Tries twice, because later work would be
/// enqueued on the wrong device. Logs an error, and then returns false.
inline bool restore_current_device(int ordinal) noexcept {
  if (ROCARRAY_HIP_CODE(hipSetDevice, ordinal) == hipSuccess) return true;
  if (ROCARRAY_HIP_QUIET(hipSetDevice, ordinal)) return true;
  ++failed_restores;
  return false;
}

/// Makes a device current for a scope, and restores the previous one at its end. Each end calls
/// hipSetDevice only if another device was current. The constructor throws roc::error; an error in
/// the destructor is logged.
class on_device {
 public:
  explicit on_device(int ordinal)
      : ordinal_(ordinal), previous_(current_device()), changed_(previous_ != ordinal) {
    if (changed_) ROCARRAY_HIP(hipSetDevice, ordinal);
  }
  ~on_device() {
    if (changed_) restore_current_device(previous_);
  }
  on_device(on_device const&) = delete;
  on_device& operator=(on_device const&) = delete;

  /// Makes the device current again if another scope within this one could not restore it. Throws
  /// roc::error.
  void repair() {
    if (failed_restores == seen_failures_) return;
    ROCARRAY_HIP(hipSetDevice, ordinal_);
    seen_failures_ = failed_restores;
  }

 private:
  int ordinal_;
  int previous_;
  bool changed_;
  unsigned seen_failures_ = failed_restores;
};

}  // namespace roc::runtime
