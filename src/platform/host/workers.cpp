// SPDX-License-Identifier: MIT
#include "platform/host/workers.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "platform/host/settings.hpp"

namespace roc::host_hip {
namespace {

struct job {
  void (*run)(void*, std::size_t, std::size_t);
  void* closure;
  std::size_t items;
  std::size_t part;
  std::size_t next = 0;      // first item that nobody has taken
  std::size_t finished = 0;  // items that are done
};

// One job at a time has the threads; who comes meanwhile works alone. Leaked on purpose, threads
// and all: they are parked when the process ends.
class pool {
 public:
  explicit pool(int threads) {
    for (int i = 1; i < threads; ++i) std::thread([this] { serve(); }).detach();
  }

  // False where another job has the threads.
  bool try_run(job& work) {
    std::unique_lock lock(mutex_);
    if (current_ != nullptr) return false;
    current_ = &work;
    arrived_.notify_all();
    help(work, lock);
    done_.wait(lock, [&] { return work.finished == work.items; });
    current_ = nullptr;
    return true;
  }

 private:
  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      arrived_.wait(lock, [&] { return current_ != nullptr && current_->next < current_->items; });
      help(*current_, lock);
    }
  }

  void help(job& work, std::unique_lock<std::mutex>& lock) {
    while (work.next < work.items) {
      std::size_t const begin = work.next;
      std::size_t const end = std::min(begin + work.part, work.items);
      work.next = end;
      lock.unlock();
      work.run(work.closure, begin, end);
      lock.lock();
      work.finished += end - begin;
      if (work.finished == work.items) {
        done_.notify_all();
        return;
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::condition_variable done_;
  job* current_ = nullptr;
};

}  // namespace

void run_parallel(std::size_t items, void (*run)(void*, std::size_t, std::size_t), void* closure,
                  std::size_t grain) {
  if (items == 0) return;
  static int const threads = the_settings().threads;
  std::size_t const shares = static_cast<std::size_t>(threads) * 4;
  std::size_t const part = ((items + shares - 1) / shares + grain - 1) / grain * grain;
  if (threads == 1 || part >= items) return run(closure, 0, items);
  static auto* const workers = new pool(threads);
  job work{run, closure, items, part};
  if (!workers->try_run(work)) run(closure, 0, items);
}

}  // namespace roc::host_hip
