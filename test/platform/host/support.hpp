// SPDX-License-Identifier: MIT
// What the tests of the host provider share: results, a record of what ran, a gate.
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

inline bool deferred() { return setting("ROCARRAY_HOST_MODE") == "deferred"; }
inline bool inlined() { return setting("ROCARRAY_HOST_MODE") == "inline"; }
inline bool threaded() { return !deferred() && !inlined(); }

inline void expect(hipError_t expected, hipError_t result,
                   std::source_location where = std::source_location::current()) {
  if (expected == result) return;
  ADD_FAILURE_AT(where.file_name(), static_cast<int>(where.line()))
      << "gave " << hipGetErrorName(result) << ", not " << hipGetErrorName(expected);
}

inline void ok(hipError_t result, std::source_location where = std::source_location::current()) {
  expect(hipSuccess, result, where);
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

/// What ran, in the order in which it did.
class record {
 public:
  void enqueue(hipStream_t stream, int number) {
    entry* place = nullptr;
    {
      std::lock_guard const lock(mutex_);
      place = &entries_.emplace_back(entry{this, number});
    }
    ok(hipLaunchHostFunc(stream, &record::run, place));
  }

  std::vector<int> seen() {
    std::lock_guard const lock(mutex_);
    return seen_;
  }
  bool has(int number) {
    auto const all = seen();
    return std::find(all.begin(), all.end(), number) != all.end();
  }
  /// Whether both ran, `first` before `then`.
  bool in_order(int first, int then) {
    auto const all = seen();
    auto const a = std::find(all.begin(), all.end(), first);
    return a != all.end() && std::find(a, all.end(), then) != all.end();
  }

 private:
  struct entry {
    record* owner;
    int number;
  };

  static void run(void* data) {
    auto const& here = *static_cast<entry*>(data);
    std::lock_guard const lock(here.owner->mutex_);
    here.owner->seen_.push_back(here.number);
  }

  std::mutex mutex_;
  std::deque<entry> entries_;
  std::vector<int> seen_;
};

/// Holds a stream back until it is opened. In mode deferred a stream waits by itself; in mode
/// inline it cannot, and gates do nothing: see `holds`.
class gate {
 public:
  ~gate() { open(); }

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
    auto& here = *static_cast<gate*>(data);
    std::unique_lock lock(here.mutex_);
    here.changed_.wait(lock, [&] { return here.open_; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

}  // namespace roc::test
