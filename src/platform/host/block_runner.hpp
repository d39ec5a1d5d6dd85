// SPDX-License-Identifier: MIT
// Runs the blocks of a kernel on one thread of the system.
//
// The threads of a block run one after another, each until it waits at a barrier or for its warp. A
// thread that never waits is a plain call: the next one uses the same fiber.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

#include <roc/native/host_block.hpp>

#include "platform/host/block_shared_memory.hpp"
#include "platform/host/fiber.hpp"
#include "platform/host/grid_launch.hpp"

namespace roc::host_hip {

/// The state of a thread of a kernel.
enum class thread_state : unsigned char { waits_at_barrier, waits_for_warp, ready, ended };

/// A thread of a kernel and what it waits for.
struct kernel_thread {
  thread_state state = thread_state::ended;
  fiber* suspended_fiber = nullptr;  // if it waits
  std::source_location at;
  // At a barrier.
  host_kernels::block_reduction reduction = host_kernels::block_reduction::none;
  int predicate = 0;
  int result = 0;
  // For its warp.
  host_kernels::warp_call call{};
  std::uint64_t value = 0;
  host_kernels::lane_values lanes;
  // The number of the warp's operations that it took part in. Addresses for release and acquire, by
  // parity of the operation.
  unsigned operations = 0;
  std::array<std::uint64_t, 2> order{};
};

/// The memory that a block_runner needs for a block.
struct block_memory {
  std::size_t stacks = 1;
  std::size_t shared_bytes = 0;  // dynamic

  void enlarge(block_memory const& other) noexcept {
    stacks = std::max(stacks, other.stacks);
    shared_bytes = std::max(shared_bytes, other.shared_bytes);
  }
};

/// The blocks that one thread of the system runs, one after another, with the stacks of their
/// threads. Kept for later kernels.
class block_runner final : public host_kernels::running_block {
 public:
  /// Returns true if blocks that need no more than this can run without further memory.
  bool has(block_memory const& needed) const noexcept;
  /// Allocates what is missing. No block runs. Throws std::bad_alloc; what was allocated is kept.
  void allocate(block_memory const& needed);
  /// Runs the blocks [first, last). Throws std::bad_alloc if they need more memory than there is;
  /// threads of a block may then be suspended.
  void run(grid_launch const& launch, std::size_t first, std::size_t last);

  int synchronize(host_kernels::block_reduction reduction, int predicate,
                  std::source_location at) override;
  host_kernels::lane_values exchange(std::uint64_t value,
                                     host_kernels::warp_call const& call) override;
  void report_inactive_lane(unsigned lane, std::source_location at) override;
  [[noreturn]] void fail(char const* problem, std::source_location at) override;

 private:
  using thread_text = std::array<char, 48>;
  using thread_of_block_text = std::array<char, 96>;

  void run_block();
  // The function of the fibers: runs threads until one waits, or none is left.
  void run_threads();
  void select(unsigned thread);
  void allocate_fibers();
  fiber& idle_fiber();
  // Suspends the thread that runs, until an operation that it waits for is complete.
  void wait(thread_state state, std::source_location at);
  // Completes the operations of warps that no further lane can join. Returns false if there are
  // none.
  bool complete_warps();
  bool complete_warp(unsigned begin, unsigned end);
  // Ends the process if no thread can continue and a warp waits for lanes that do not come.
  [[noreturn]] void fail_stuck_warp();
  // Returns those of the waiting lanes, of the warp from thread `begin` on, that call the operation
  // of the first of them.
  std::uint64_t first_operation(unsigned begin, std::uint64_t waiting) const;
  void complete_operation(unsigned begin, std::uint64_t lanes);
  std::uint64_t lanes_in(thread_state state, unsigned begin, unsigned end) const;
  template <class F>
  void for_each_warp(F f);
  void complete_barrier();
  void check_barrier();
  void continue_threads();
  // Ends the process if the stack has overflowed.
  void check_stack(fiber const& checked);
  // Reports writes beyond the `__shared__` variables in the block that has ended.
  void check_shared_memory();

  thread_text describe_thread(unsigned thread) const;
  // Returns the names of the block and the thread. ThreadSanitizer keeps 63 characters of it.
  thread_of_block_text describe_thread_of_block(unsigned thread) const;
  // Returns the names of the kernel and the block.
  std::string describe_block() const;
  // Returns those and the name of the thread that runs.
  std::string describe_position() const;
  bool is_any(thread_state state) const;
  void report(char const* problem, std::source_location const& at);

  grid_launch const* launch_ = nullptr;
  host_kernels::kernel_variables variables_{};
  unsigned warp_size_ = 32;
  unsigned thread_count_ = 0;  // of a block
  unsigned next_ = 0;          // the first thread that has not started
  unsigned last_ = 0;          // the fiber starts threads up to this one
  unsigned current_ = 0;       // the thread that runs

  std::vector<std::unique_ptr<stack_memory>> stacks_;
  std::vector<std::unique_ptr<fiber>> fibers_;
  std::vector<fiber*> idle_;
  std::vector<fiber*> ended_;  // not to be used before the next block
  fiber* running_fiber_ = nullptr;
  std::array<kernel_thread, host_kernels::max_block_threads> threads_;
  // The number of completed barriers. Addresses for release and acquire, by parity of the barrier.
  unsigned barriers_ = 0;
  std::array<std::uint64_t, 2> barrier_order_{};
  // The value that each thread passed to its last operation. Changes only after all threads wait
  // again.
  std::array<std::uint64_t, host_kernels::max_block_threads> lane_values_{};
  block_shared_memory shared_;
};

}  // namespace roc::host_hip
