// SPDX-License-Identifier: MIT
// Functions that can be suspended: a stack of their own and the switch to it (Boost.Context).
//
// AddressSanitizer and ThreadSanitizer are told of every switch if the program has their runtime.
// ThreadSanitizer sees a fiber as a thread. A switch orders nothing for it: see release and
// acquire.
#pragma once

#include <cstddef>

#include <boost/context/fiber.hpp>

namespace roc::host_hip {

/// Memory of whole pages, with an inaccessible page before it and one after it.
class guarded_memory {
 public:
  /// Throws std::bad_alloc. Leaves out the inaccessible pages if the process has too many mappings.
  explicit guarded_memory(std::size_t bytes);
  ~guarded_memory();
  guarded_memory(guarded_memory const&) = delete;
  guarded_memory& operator=(guarded_memory const&) = delete;

  std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }

 private:
  std::byte* data_;
  std::size_t size_;
};

/// A stack that runs one function after another. All functions are called by one thread of the
/// system at a time. A fiber whose function is suspended must not be destroyed.
class fiber {
 public:
  /// Throws std::bad_alloc.
  explicit fiber(std::size_t stack_bytes);
  ~fiber();
  fiber(fiber const&) = delete;
  fiber& operator=(fiber const&) = delete;

  /// Runs run(closure) until it suspends the fiber or returns. No function may be suspended.
  /// Returns true if the function has returned.
  bool start(void (*run)(void* closure), void* closure);
  /// Continues the suspended function. Returns as start does.
  bool resume();
  /// Suspends the function of the fiber that the thread runs: the call of start or resume returns.
  void suspend();

  /// Returns true if the program has the runtime of ThreadSanitizer.
  static bool is_checked_by_tsan() noexcept;
  /// Sets the name of the fiber in reports of ThreadSanitizer.
  void set_name(char const* name) noexcept;
  /// Tells ThreadSanitizer that what the caller did happened before ...
  static void release(void* address) noexcept;
  /// ... what the caller of acquire with the same address does next.
  static void acquire(void* address) noexcept;

 private:
  void main_loop();

  guarded_memory stack_;
  boost::context::fiber context_;  // of the fiber, while it does not run
  boost::context::fiber caller_;   // of its caller, while it runs
  void (*run_)(void*) = nullptr;
  void* closure_ = nullptr;
  bool has_returned_ = false;
  // For AddressSanitizer: the caller's stack.
  void const* caller_stack_ = nullptr;
  std::size_t caller_stack_bytes_ = 0;
  // For ThreadSanitizer.
  void* tsan_fiber_ = nullptr;
  void* tsan_caller_ = nullptr;
};

}  // namespace roc::host_hip
