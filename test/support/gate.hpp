// SPDX-License-Identifier: MIT
// Holds a stream back until a test lets it go: nothing enqueued behind runs before that.
#pragma once

#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>

#include <roc/native.hpp>

#include "platform/call.hpp"
#include "support/environment.hpp"

namespace roc::test {

// CUDA loads a kernel when it is first launched, and that waits for work on its way: behind a
// closed gate for good. So they are loaded when the first call makes the context.
inline bool const kernels_are_loaded_first = ::setenv("CUDA_MODULE_LOADING", "EAGER", 0) == 0;

/// In mode deferred streams wait by themselves, in mode inline they cannot: there a gate does
/// nothing, and holds() is false for the latter.
class gate {
 public:
  gate() : state_(std::make_shared<state>()) {}
  ~gate() { open(); }
  gate(gate const&) = delete;
  gate& operator=(gate const&) = delete;

  static bool holds() { return run_mode() != mode::inline_; }

  void close(stream_ref stream) {
    if (run_mode() != mode::threaded) return;
    auto* const argument = new std::shared_ptr<state>(state_);
    ROCARRAY_HIP(hipLaunchHostFunc, native(stream), &gate::wait, argument);
  }

  void open() {
    std::lock_guard const lock(state_->mutex);
    state_->open = true;
    state_->changed.notify_all();
  }

 private:
  struct state {
    std::mutex mutex;
    std::condition_variable changed;
    bool open = false;
  };

  static void wait(void* argument) {
    std::unique_ptr<std::shared_ptr<state>> const held(
        static_cast<std::shared_ptr<state>*>(argument));
    std::unique_lock lock((*held)->mutex);
    (*held)->changed.wait(lock, [&] { return (*held)->open; });
  }

  std::shared_ptr<state> state_;
};

}  // namespace roc::test
