// SPDX-License-Identifier: MIT
// Host functions of streams for the library's own work.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "platform/call.hpp"

namespace roc::transfer {

/// Enqueues a call of `f` on `stream`. `f` runs on a thread of the runtime, is destroyed there, and
/// must neither call HIP nor throw nor wait for a thread that calls HIP: a call such as hipFree on
/// another thread may hold a lock of the runtime until `f` returns. Throws roc::error and
/// std::bad_alloc; `f` is then not called.
template <class F>
  requires std::is_nothrow_invocable_v<F&>
void enqueue_host_function(hipStream_t stream, F f) {
  auto function = std::make_unique<F>(std::move(f));
  hipHostFn_t const run = [](void* argument) {
    std::unique_ptr<F> const owned(static_cast<F*>(argument));
    (*owned)();
  };
  ROCARRAY_HIP(hipLaunchHostFunc, stream, run, function.get());
  static_cast<void>(function.release());  // `run` deletes it
}

}  // namespace roc::transfer
