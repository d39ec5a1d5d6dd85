// SPDX-License-Identifier: MIT
// Failures and counts of operator new. A program that uses this header also compiles
// failing_new.cpp.
#pragma once

#include <new>

#include <roc/error.hpp>

namespace roc::test {

/// Makes the n-th operator new of the calling thread (counted from 1) throw std::bad_alloc once,
/// during the scope of the object.
class failing_new {
 public:
  explicit failing_new(long nth) noexcept;
  ~failing_new();
  failing_new(failing_new const&) = delete;
  failing_new& operator=(failing_new const&) = delete;

  /// Returns true if an allocation has failed.
  bool has_failed() const noexcept;
};

/// Calls f(); in the n-th call its n-th allocation fails. Returns the number of failures once there
/// was none. Catches std::bad_alloc, and roc::out_of_memory of HIP on the CPU.
template <class F>
long fail_each_new(F f) {
  for (long nth = 1;; ++nth) {
    failing_new const failure(nth);
    try {
      f();
    } catch (std::bad_alloc const&) {
    } catch (out_of_memory const&) {
    }
    if (!failure.has_failed()) return nth - 1;
  }
}

/// Counts the operator new of all threads from now on, beginning at 0. The n-th (counted from 1)
/// throws std::bad_alloc, and if `all_later` every one after it too; none if `nth` is 0.
void fail_new_of_all_threads(long nth, bool all_later = false) noexcept;
/// Returns true if an allocation has failed since fail_new_of_all_threads.
bool has_new_failed() noexcept;
/// Makes operator new work again. Returns the number of allocations since fail_new_of_all_threads.
long stop_failing_new() noexcept;
/// Returns the number of allocations that exist.
long live_allocations() noexcept;

}  // namespace roc::test
