// SPDX-License-Identifier: MIT
// Functions that can be suspended: a stack of their own and the switch to it (Boost.Context).
//
// AddressSanitizer and ThreadSanitizer are told of every switch if the program has their runtime.
// ThreadSanitizer sees a fiber as a thread. A switch orders nothing for it: see release and
// acquire.
#pragma once

#include <cstddef>
#include <optional>

#include <boost/context/fiber.hpp>

namespace roc::host_hip {

/// Memory of whole pages with 1 MiB of inaccessible memory before it, and after it if wanted.
class guarded_memory {
 public:
  enum class guards { before, before_and_after };

  /// Throws std::bad_alloc, also if the process has too many mappings.
  guarded_memory(std::size_t bytes, guards placement);
  ~guarded_memory();
  guarded_memory(guarded_memory const&) = delete;
  guarded_memory& operator=(guarded_memory const&) = delete;

  std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }

 private:
  std::byte* data_;
  std::size_t size_;
  std::size_t mapped_bytes_;
};

/// The number of stacks of the process that have inaccessible memory below them. Each needs two
/// mappings, of which Linux allows a process 65530 (vm.max_map_count).
constexpr std::size_t max_guarded_stacks = 8000;

/// A stack above inaccessible memory; or, after max_guarded_stacks, 128 adjacent stacks of which
/// only the lowest is guarded. Adjacent stacks are also used if a mapping fails. If the address
/// space is limited, fewer stacks are guarded.
class stack_memory {
 public:
  /// Throws std::bad_alloc.
  explicit stack_memory(std::size_t stack_bytes);
  ~stack_memory();
  stack_memory(stack_memory const&) = delete;
  stack_memory& operator=(stack_memory const&) = delete;

  /// Returns true if inaccessible memory is below each stack.
  bool is_guarded() const noexcept { return count_ == 1; }
  /// Returns the number of stacks.
  std::size_t count() const noexcept { return count_; }
  /// Returns the lowest byte of a stack.
  std::byte* stack(std::size_t index) const noexcept {
    return memory_->data() + index * stack_bytes_;
  }
  /// Returns the bytes of a stack: at least those of the constructor's argument.
  std::size_t stack_bytes() const noexcept { return stack_bytes_; }

 private:
  std::size_t count_ = 1;
  std::size_t stack_bytes_;
  std::optional<guarded_memory> memory_;
};

/// A stack that runs one function after another. All functions are called by one thread of the
/// system at a time. A fiber whose function is suspended must not be destroyed.
class fiber {
 public:
  /// Uses a stack of the memory, which must outlive the fiber.
  fiber(stack_memory const& memory, std::size_t index);
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
  /// Returns true if a function has written to the lowest bytes of a stack that is not guarded, and
  /// probably beyond it. On a guarded stack, that is a segmentation fault.
  bool has_overflowed() const noexcept;

  /// Returns true if the program has the runtime of ThreadSanitizer.
  static bool is_checked_by_tsan() noexcept;
  /// Sets the name of the fiber in reports of ThreadSanitizer.
  void set_name(char const* name) noexcept;
  /// Tells ThreadSanitizer that the caller's work happens before that of a later acquire with the
  /// same address.
  static void release(void* address) noexcept;
  /// Tells ThreadSanitizer that the work before each earlier release with the same address has
  /// happened.
  static void acquire(void* address) noexcept;

 private:
  void main_loop();

  std::byte* stack_;
  std::size_t stack_bytes_;
  bool is_guarded_;
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
