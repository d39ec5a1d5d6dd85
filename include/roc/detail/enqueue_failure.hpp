// SPDX-License-Identifier: MIT
// A function that is called before a failed call waits for the work that it has enqueued.
#pragma once

#include <roc/config.hpp>

namespace roc::detail {

/// Calls of the calling thread that fail after they have enqueued work wait for that work before
/// they throw. During the scope of this object they call `before_wait(data)` first. Needed if the
/// work ends only after something else has been aborted, such as a collective operation. Scopes can
/// be nested: the innermost one counts.
class enqueue_failure_scope {
 public:
  ROCARRAY_API enqueue_failure_scope(void (*before_wait)(void* data) noexcept, void* data) noexcept;
  enqueue_failure_scope(enqueue_failure_scope const&) = delete;
  enqueue_failure_scope& operator=(enqueue_failure_scope const&) = delete;
  ROCARRAY_API ~enqueue_failure_scope();

  /// Calls the function of the innermost scope of the calling thread, if there is one.
  static void run_innermost() noexcept;

 private:
  void (*const before_wait_)(void* data) noexcept;
  void* const data_;
  enqueue_failure_scope* const outer_;
};

}  // namespace roc::detail
