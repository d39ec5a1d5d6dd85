// SPDX-License-Identifier: MIT
#include "platform/host/grid.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "base/no_destructor.hpp"
#include "base/round_up.hpp"
#include "platform/host/block_runner.hpp"
#include "platform/host/block_shared_memory.hpp"
#include "platform/host/fiber.hpp"
#include "platform/host/kernel_symbols.hpp"
#include "platform/host/parallel_for.hpp"

namespace roc::host_hip {
namespace {

// The runners. A device's kernels need no memory of the host. So if the memory for another runner
// is missing, a thread waits for one that is in use.
class runner_pool {
 public:
  // Returns a runner that has the memory, once there is one. Throws std::bad_alloc if `reserve` was
  // not called for the memory.
  std::unique_ptr<block_runner> take(block_memory const& needed) {
    std::unique_lock lock(mutex_);
    if (auto runner = take_idle_locked(needed)) return runner;
    try {
      auto runner = idle_.empty() ? create_locked() : take_idle_locked({0, 0});
      try {
        runner->allocate(needed);
        return runner;
      } catch (...) {
        idle_.push_back(std::move(runner));
        throw;
      }
    } catch (std::bad_alloc const&) {
      if (reserved_.stacks < needed.stacks || reserved_.shared_bytes < needed.shared_bytes) throw;
    }
    for (;;) {
      given_back_.wait(lock);
      if (auto runner = take_idle_locked(needed)) return runner;
    }
  }
  // Allocates the memory of one runner, which keeps it. Throws std::bad_alloc.
  void reserve(block_memory const& needed) {
    std::lock_guard const lock(mutex_);
    block_memory enlarged = reserved_;
    enlarged.enlarge(needed);
    bool const is_reserved = count_ != 0 && enlarged.stacks == reserved_.stacks &&
                             enlarged.shared_bytes == reserved_.shared_bytes;
    if (is_reserved) return;
    auto runner = idle_.empty() ? create_locked() : take_idle_locked({0, 0});
    block_runner& allocating = *runner;
    idle_.push_back(std::move(runner));
    allocating.allocate(enlarged);
    reserved_ = enlarged;
    given_back_.notify_all();
  }
  void give_back(std::unique_ptr<block_runner> runner) {
    {
      std::lock_guard const lock(mutex_);
      idle_.push_back(std::move(runner));
    }
    given_back_.notify_all();
  }

 private:
  // Returns the idle runner that was used last of those that have the memory, or null. No stacks:
  // any runner.
  std::unique_ptr<block_runner> take_idle_locked(block_memory const& needed) noexcept {
    for (auto runner = idle_.rbegin(); runner != idle_.rend(); ++runner) {
      if (needed.stacks != 0 && !(*runner)->has(needed)) continue;
      auto result = std::move(*runner);
      idle_.erase(std::next(runner).base());
      return result;
    }
    return nullptr;
  }
  // Throws std::bad_alloc.
  std::unique_ptr<block_runner> create_locked() {
    idle_.reserve(count_ + 1);  // for give_back
    auto result = std::make_unique<block_runner>();
    ++count_;
    return result;
  }

  std::mutex mutex_;
  std::condition_variable given_back_;
  std::vector<std::unique_ptr<block_runner>> idle_;
  std::size_t count_ = 0;
  block_memory reserved_;  // of one of the runners
};

runner_pool& runners() {
  static base::no_destructor<runner_pool> instance;  // kernels may run until the process ends
  return *instance;
}

// Returns what the blocks of a grid need. Kernels with shared memory have barriers: all threads of
// a block are suspended at the same time, or with ThreadSanitizer have run on stacks of their own.
block_memory memory_of(grid_launch const& launch) {
  bool const has_shared_memory =
      launch.shared_bytes != 0 || symbols_of(launch.kernel.function)->shared_bytes != 0;
  std::size_t const threads = std::size_t{launch.block.x} * launch.block.y * launch.block.z;
  bool const may_wait = has_shared_memory || fiber::is_checked_by_tsan();
  return {may_wait ? threads : 1,
          base::round_up(launch.shared_bytes, block_shared_memory::alignment)};
}

}  // namespace

void reserve_runner(grid_launch const& launch) { runners().reserve(memory_of(launch)); }

void run_grid(grid_launch const& launch) {
  std::size_t const blocks = std::size_t{launch.grid.x} * launch.grid.y * launch.grid.z;
  parallel_for(
      blocks,
      [&](std::size_t first, std::size_t last) {
        // Not destroyed after an exception, which leaves fibers suspended.
        block_runner* runner = nullptr;
        try {
          runner = runners().take(memory_of(launch)).release();
          runner->run(launch, first, last);
          runners().give_back(std::unique_ptr<block_runner>(runner));
        } catch (std::bad_alloc const&) {
          std::fputs(
              "rocarray host: out of memory for the stacks of a kernel's threads; lower "
              "ROCARRAY_HOST_STACK, or use smaller blocks\n",
              stderr);
          std::abort();
        }
      },
      1);
}

}  // namespace roc::host_hip
