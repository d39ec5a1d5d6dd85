// SPDX-License-Identifier: MIT
#include "platform/host/parallel_for.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <new>
#include <system_error>

#include "platform/host/settings.hpp"
#include "platform/host/start_thread.hpp"

namespace roc::host_hip {
namespace {

// A running loop. The pool's lock protects the last two members.
struct job {
  void (*run)(void*, std::size_t, std::size_t);
  void* closure;
  std::size_t items;
  std::size_t grain;
  std::size_t next = 0;      // first item that no thread has taken
  std::size_t finished = 0;  // number of items that are done
};

// The shared threads, which run one job at a time. Never destroyed: the threads are idle when the
// process ends.
class thread_pool {
 public:
  // Starts up to `threads` - 1 threads: fewer if the system refuses more, which only costs time.
  explicit thread_pool(int threads) noexcept : threads_(static_cast<std::size_t>(threads)) {
    try {
      for (int i = 1; i < threads; ++i) start_thread([this] { worker_loop(); });
    } catch (std::system_error const&) {
    } catch (std::bad_alloc const&) {
    }
  }

  // Runs a job and returns true after it is done, or returns false at once if another job is
  // running.
  bool try_run(job& work) {
    std::unique_lock lock(mutex_);
    if (current_ != nullptr) return false;
    current_ = &work;
    job_started_.notify_all();
    run_parts(work, lock);
    job_done_.wait(lock, [&] { return work.finished == work.items; });
    current_ = nullptr;
    return true;
  }

 private:
  void worker_loop() {
    std::unique_lock lock(mutex_);
    for (;;) {
      job_started_.wait(lock,
                        [&] { return current_ != nullptr && current_->next < current_->items; });
      run_parts(*current_, lock);
    }
  }

  // Takes and runs parts of a job until all are taken. The caller holds the lock, which is released
  // while a part runs. `work` may be destroyed after its last part is done.
  void run_parts(job& work, std::unique_lock<std::mutex>& lock) {
    while (work.next < work.items) {
      std::size_t const begin = work.next;
      std::size_t const end = begin + part_size(work.items - begin, work.grain);
      work.next = end;
      lock.unlock();
      work.run(work.closure, begin, end);
      lock.lock();
      work.finished += end - begin;
      if (work.finished == work.items) {
        job_done_.notify_all();
        return;
      }
    }
  }

  // Returns how many of the `rest` items a thread takes at once. The parts become smaller, so that
  // all threads end at about the same time.
  std::size_t part_size(std::size_t rest, std::size_t grain) const {
    std::size_t const part = rest / (4 * threads_) / grain * grain;
    return std::min(std::max(part, grain), rest);
  }

  std::size_t const threads_;
  std::mutex mutex_;
  std::condition_variable job_started_;
  std::condition_variable job_done_;
  job* current_ = nullptr;
};

}  // namespace

void parallel_for(std::size_t items, void (*run)(void*, std::size_t, std::size_t), void* closure,
                  std::size_t grain) {
  if (items == 0) return;
  static int const threads = host_settings().thread_count;
  if (threads == 1 || items <= grain) return run(closure, 0, items);
  // In static memory, because operations run where no caller could handle std::bad_alloc.
  alignas(thread_pool) static std::byte memory[sizeof(thread_pool)];
  static auto* const pool = ::new (memory) thread_pool(threads);
  job work{run, closure, items, grain};
  if (!pool->try_run(work)) run(closure, 0, items);
}

}  // namespace roc::host_hip
