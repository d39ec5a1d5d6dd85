// SPDX-License-Identifier: MIT
// The calling thread's device, and work done on another one.
#pragma once

#include "platform/call.hpp"

namespace roc::runtime {

/// Throws roc::error where there is no device.
inline int current_device() {
  int ordinal = 0;
  ROCARRAY_HIP(hipGetDevice, &ordinal);
  return ordinal;
}

/// Whether there is one device alone, which is then always current. Asked once; throws roc::error.
bool has_one_device();

/// Makes `ordinal` current for a scope; calls HIP only where another device is.
class on_device {
 public:
  explicit on_device(int ordinal) : before_(current_device()), changed_(before_ != ordinal) {
    if (changed_) ROCARRAY_HIP(hipSetDevice, ordinal);
  }
  ~on_device() {
    if (changed_) ROCARRAY_HIP_QUIET(hipSetDevice, before_);
  }
  on_device(on_device const&) = delete;
  on_device& operator=(on_device const&) = delete;

 private:
  int before_;
  bool changed_;
};

}  // namespace roc::runtime
