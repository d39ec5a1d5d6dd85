// SPDX-License-Identifier: MIT
// A gate in a stream: work that is enqueued after it was closed does not run until the test opens
// it.
#pragma once

#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string_view>

#include <roc/native.hpp>

#include "platform/call.hpp"
#include "support/environment.hpp"

namespace roc::test {

// CUDA loads a kernel when it is first launched and waits for pending work then: for ever, if a
// gate is closed. With this setting it loads all kernels when the context is created.
inline bool const kernels_are_loaded_first = ::setenv("CUDA_MODULE_LOADING", "EAGER", 0) == 0;

/// A gate that is open at first. In mode `deferred` it does nothing, because enqueued work does not
/// run until something waits for it; in mode `inline` it cannot hold work back.
class gate {
 public:
  gate() : state_(std::make_shared<state>()) {}
  /// Opens the gate. Does not wait for the stream.
  ~gate() { open(); }
  gate(gate const&) = delete;
  gate& operator=(gate const&) = delete;

  /// Returns true if a closed gate holds work back: not in mode `inline`, where the call that
  /// enqueues work executes it, nor with ROCARRAY_TEST_GATES=open, for tools that make calls wait
  /// for all earlier work.
  static bool holds() {
    static bool const are_open = [] {
      char const* const setting = std::getenv("ROCARRAY_TEST_GATES");
      return setting != nullptr && std::string_view(setting) == "open";
    }();
    return run_mode() != mode::inline_ && !are_open;
  }

  /// Enqueues a host function that blocks the stream until the gate is opened.
  void close(stream_ref stream) {
    if (run_mode() != mode::threaded || !holds()) return;
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
    std::unique_ptr<std::shared_ptr<state>> const owned(
        static_cast<std::shared_ptr<state>*>(argument));
    std::unique_lock lock((*owned)->mutex);
    (*owned)->changed.wait(lock, [&] { return (*owned)->open; });
  }

  std::shared_ptr<state> state_;
};

}  // namespace roc::test
