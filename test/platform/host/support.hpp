// SPDX-License-Identifier: MIT
// Shared by the tests of HIP on the CPU: checks of results, a log of executed work, a gate.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <source_location>
#include <string_view>
#include <thread>
#include <vector>

#include "platform/hip.hpp"

namespace roc::test {

inline std::string_view setting(char const* name) {
  char const* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

// The mode of this process (ROCARRAY_HOST_MODE).
inline bool deferred() { return setting("ROCARRAY_HOST_MODE") == "deferred"; }
inline bool inlined() { return setting("ROCARRAY_HOST_MODE") == "inline"; }
inline bool threaded() { return !deferred() && !inlined(); }

/// Adds a test failure at the caller's line unless a call returned the expected code.
inline void expect(hipError_t expected, hipError_t result,
                   std::source_location location = std::source_location::current()) {
  if (expected == result) return;
  ADD_FAILURE_AT(location.file_name(), static_cast<int>(location.line()))
      << "returned " << hipGetErrorName(result) << ", not " << hipGetErrorName(expected);
}

inline void ok(hipError_t result, std::source_location location = std::source_location::current()) {
  expect(hipSuccess, result, location);
}

inline hipStream_t make_stream(unsigned flags = hipStreamDefault) {
  hipStream_t stream = nullptr;
  ok(hipStreamCreateWithFlags(&stream, flags));
  return stream;
}

inline hipEvent_t make_event(unsigned flags = hipEventDefault) {
  hipEvent_t event = nullptr;
  ok(hipEventCreateWithFlags(&event, flags));
  return event;
}

/// The numbers of executed host functions, in the order of their execution.
class execution_log {
 public:
  /// Enqueues a host function that appends `number`.
  void enqueue(hipStream_t stream, int number) {
    entry* appended = nullptr;
    {
      std::lock_guard const lock(mutex_);
      appended = &entries_.emplace_back(entry{this, number});
    }
    ok(hipLaunchHostFunc(stream, &execution_log::run, appended));
  }

  std::vector<int> executed() {
    std::lock_guard const lock(mutex_);
    return executed_;
  }
  bool has(int number) {
    auto const numbers = executed();
    return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
  }
  /// Returns true if both numbers were executed, `first` before `second`.
  bool in_order(int first, int second) {
    auto const numbers = executed();
    auto const found = std::find(numbers.begin(), numbers.end(), first);
    return found != numbers.end() && std::find(found, numbers.end(), second) != numbers.end();
  }

 private:
  struct entry {
    execution_log* owner;
    int number;
  };

  static void run(void* data) {
    auto const& executed = *static_cast<entry*>(data);
    std::lock_guard const lock(executed.owner->mutex_);
    executed.owner->executed_.push_back(executed.number);
  }

  std::mutex mutex_;
  std::deque<entry> entries_;
  std::vector<int> executed_;
};

/// Blocks a stream until the gate is opened. Does nothing in mode deferred, in which enqueued work
/// is pending anyway, and in mode inline, in which no work can be pending.
class gate {
 public:
  ~gate() { open(); }

  /// Returns true if work after a closed gate stays pending.
  static bool holds() { return !inlined(); }

  void close(hipStream_t stream) {
    if (threaded()) ok(hipLaunchHostFunc(stream, &gate::wait, this));
  }
  void open() {
    std::lock_guard const lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  static void wait(void* data) {
    auto& closed = *static_cast<gate*>(data);
    std::unique_lock lock(closed.mutex_);
    closed.changed_.wait(lock, [&] { return closed.open_; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

}  // namespace roc::test
