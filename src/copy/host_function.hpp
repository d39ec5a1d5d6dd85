// SPDX-License-Identifier: MIT
// Host functions of streams for the library's own work.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include <roc/stream.hpp>

#include "platform/call.hpp"
#include "runtime/stream_capture.hpp"
#include "runtime/stream_handle.hpp"

namespace roc::transfer {

/// Enqueues a call of `f` on `stream`. `f` runs on a thread of the runtime, is destroyed there, and
/// must neither call HIP nor throw nor wait for a thread that calls HIP: a call such as hipFree on
/// another thread may hold a lock of the runtime until `f` returns. Throws roc::error and
/// std::bad_alloc; `f` is then not called. If the stream is captured, `f` runs at each launch of
/// the graph, and is destroyed with it.
template <class F>
  requires std::is_nothrow_invocable_v<F&>
void enqueue_host_function(stream_ref stream, F f) {
  hipStream_t const native = runtime::handle(stream);
  if (runtime::stream_capture* const capture = runtime::capture_of(stream)) {
    auto const kept = std::make_shared<F>(std::move(f));
    capture->keep(kept);
    hipHostFn_t const run = [](void* argument) { (*static_cast<F*>(argument))(); };
    ROCARRAY_HIP(hipLaunchHostFunc, native, run, kept.get());
    return;
  }
  auto function = std::make_unique<F>(std::move(f));
  hipHostFn_t const run = [](void* argument) {
    std::unique_ptr<F> const owned(static_cast<F*>(argument));
    (*owned)();
  };
  ROCARRAY_HIP(hipLaunchHostFunc, native, run, function.get());
  static_cast<void>(function.release());  // `run` deletes it
}

}  // namespace roc::transfer
