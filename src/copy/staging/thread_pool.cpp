// SPDX-License-Identifier: MIT
#include "copy/staging/thread_pool.hpp"

#include <chrono>
#include <exception>
#include <limits>
#include <map>
#include <thread>
#include <utility>

#include "base/no_destructor.hpp"
#include "base/spin_backoff.hpp"
#include "base/without_signals.hpp"
#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/numa.hpp"

namespace roc::transfer {
namespace {

constinit thread_local bool is_worker_thread = false;

// Limits the spinning threads of the process to one less than its processors, so that one is left
// for threads that copy.
class spin_permit {
 public:
  spin_permit() noexcept : is_granted_(count_.fetch_add(1) < limit()) {}
  ~spin_permit() { count_.fetch_sub(1); }
  spin_permit(spin_permit const&) = delete;
  spin_permit& operator=(spin_permit const&) = delete;
  bool is_granted() const noexcept { return is_granted_; }

 private:
  static unsigned limit() noexcept {
    static unsigned const processors = std::thread::hardware_concurrency();
    return processors == 0 ? std::numeric_limits<unsigned>::max() : processors - 1;
  }

  constinit static inline std::atomic<unsigned> count_ = 0;
  bool const is_granted_;
};

// Makes the errors of a worker name a call of another thread, which is in that call meanwhile.
class caller_scope {
 public:
  explicit caller_scope(detail::call_scope const* call) noexcept { detail::current_call = call; }
  ~caller_scope() { detail::current_call = nullptr; }
  caller_scope(caller_scope const&) = delete;
  caller_scope& operator=(caller_scope const&) = delete;
};

}  // namespace

// Never destroyed, and neither are the threads: copies run until the process ends.
thread_pool& thread_pool::instance() {
  static base::no_destructor<std::map<int, std::unique_ptr<thread_pool>>> pools;
  static std::mutex mutex;
  int const device = runtime::current_device();
  std::lock_guard const lock(mutex);
  auto& pool = (*pools)[device];
  if (pool == nullptr) pool.reset(new thread_pool(device));
  return *pool;
}

thread_pool& thread_pool::across_devices() {
  static thread_pool& pool = *new thread_pool(-1);  // never destroyed, as those of the devices
  return pool;
}

bool thread_pool::is_worker() noexcept { return is_worker_thread; }

void thread_pool::start_workers_locked(std::size_t count) noexcept {
  if (count <= requested_workers_) return;
  requested_workers_ = count;
  base::without_signals const mask;
  try {
    for (; worker_count_ < count; ++worker_count_) {
      std::thread([this] { worker_loop(); }).detach();
    }
  } catch (std::exception const&) {
    // No thread, or no memory for one. Copies work with any number of workers: the thread that
    // calls run works too.
  }
}

void thread_pool::worker_loop() {
  is_worker_thread = true;
  if (device_ >= 0) {
    runtime::bind_thread_to_device_node(device_);
    if (!runtime::restore_current_device(device_)) {
      // The items would be executed on another device. A later job may start the worker again.
      lock_type const lock(mutex_);
      --worker_count_;
      --requested_workers_;
      return;
    }
  }
  lock_type lock(mutex_);
  for (;;) {
    job* const current = next_job_locked();
    if (current != nullptr) {
      run_as_worker(*current, lock);
    } else if (!spin_for_work(lock, [this] { return find_job_locked() != nullptr; })) {
      // The sleeper is counted before the last check for work: a thread that adds help after that
      // check sees the sleeper in notify().
      sleepers_.fetch_add(1);
      if (find_job_locked() == nullptr) work_available_.wait(lock);
      sleepers_.fetch_sub(1);
    }
  }
}

void thread_pool::run_as_worker(job& current, lock_type& lock) {
  base::options_scope const options(current.work.options());
  caller_scope const caller(current.call);
  ++current.workers;
  run_or_help(current, false, lock);
  bool const was_full = current.workers-- == current.max_workers;
  // This worker may take another job next, and other workers may sleep that this job had no use
  // for.
  bool const has_other_jobs = first_job_ != last_job_;
  if (was_full && current.max_workers < worker_count_ && has_other_jobs) notify_workers_locked();
}

void thread_pool::notify() {
  notifications_.fetch_add(1);
  if (sleepers_.load() == 0) return;
  std::lock_guard const lock(mutex_);
  work_available_.notify_all();
}

void thread_pool::append_job_locked(job& added) noexcept {
  added.next_job = nullptr;
  (last_job_ == nullptr ? first_job_ : last_job_->next_job) = &added;
  last_job_ = &added;
}

void thread_pool::remove_job_locked(job& removed) noexcept {
  job* previous = nullptr;
  for (job* entry = first_job_; entry != &removed; entry = entry->next_job) previous = entry;
  (previous == nullptr ? first_job_ : previous->next_job) = removed.next_job;
  if (last_job_ == &removed) last_job_ = previous;
}

thread_pool::job* thread_pool::find_job_locked() const noexcept {
  job* entry = first_job_;
  while (entry != nullptr && !entry->has_work_for(false)) entry = entry->next_job;
  return entry;
}

// Waking a sleeping thread takes long compared with a copy of a few MiB. The spin time covers the
// pauses between the chunks of a stream-ordered copy, in which the device works. With 100 us
// instead, copies of 64 MiB and more to pageable memory by host functions ran at 6 GB/s, not 19 to
// 24 (one H200). A longer time would take more CPU time after every copy.
template <class Condition>
bool thread_pool::spin_for_work(lock_type& lock, Condition const& condition) {
  constexpr auto max_spin_time = std::chrono::microseconds(400);
  unsigned const seen = notifications_.load();
  if (condition()) return true;
  spin_permit const permit;
  if (!permit.is_granted()) return false;
  lock.unlock();
  auto const end = std::chrono::steady_clock::now() + max_spin_time;
  base::spin_backoff backoff;
  bool notified = false;
  while (!notified && std::chrono::steady_clock::now() < end) {
    for (int i = 0; i < 64 && !notified; ++i) {
      notified = notifications_.load() != seen;
      backoff.pause();
    }
  }
  base::spin_then_lock(lock);
  return notifications_.load() != seen || condition();
}

void thread_pool::notify_workers_locked() {
  notifications_.fetch_add(1);
  work_available_.notify_all();
}

thread_pool::job* thread_pool::next_job_locked() noexcept {
  job* const chosen = find_job_locked();
  if (chosen != nullptr) {
    remove_job_locked(*chosen);
    append_job_locked(*chosen);
  }
  return chosen;
}

bool thread_pool::run_or_help(job& current, bool is_caller, lock_type& lock) {
  bool const can_begin = current.has_item_for(is_caller);
  if (can_begin && !(current.work.is_help_preferred() && current.work.can_help())) {
    run_item(current, is_caller, lock);
    return true;
  }
  ++current.running;
  lock.unlock();
  current.work.help();
  base::spin_then_lock(lock);
  if (--current.running == 0) notify_callers_locked();
  return false;
}

void thread_pool::notify_callers_locked() {
  notifications_.fetch_add(1);
  item_finished_.notify_all();
}

void thread_pool::run_item(job& current, bool is_caller, lock_type& lock) {
  std::size_t item = 0;
  if (current.deferred.empty()) {
    item = current.next++;
  } else {
    item = current.deferred.back();
    current.deferred.pop_back();
  }
  ++current.running;
  lock.unlock();
  bool done = true;
  std::exception_ptr failure;
  try {
    done = current.work.run_item(item, is_caller || current.work.can_workers_block());
  } catch (...) {
    failure = std::current_exception();
  }
  base::spin_then_lock(lock);
  --current.running;
  if (failure) {
    if (!current.failure) current.failure = failure;
    current.next = current.count;
    current.deferred.clear();
  } else if (!done && !current.failure) {
    current.deferred.push_back(item);
    current.starved = true;
  }
  if (current.running == 0 || !done) notify_callers_locked();
}

void thread_pool::run(std::size_t count, parallel_work& work) {
  base::options_scope const options(work.options());
  job submitted{work, count, work.max_workers()};
  // Reserved here, because run_item could not report a failed push_back: at most one item per
  // thread is deferred. Host functions run works that defer nothing, and must not allocate.
  if (work.may_defer()) submitted.deferred.reserve(submitted.max_workers + 1);
  lock_type lock = base::spin_then_lock(mutex_);
  start_workers_locked(submitted.max_workers);
  append_job_locked(submitted);
  if (count > 1) notify_workers_locked();
  for (;;) {
    while (submitted.has_work_for(true)) {
      // The caller found memory for an item, so workers may find some too.
      if (run_or_help(submitted, true, lock) && std::exchange(submitted.starved, false)) {
        notify_workers_locked();
      }
    }
    if (submitted.running == 0) break;
    // A running worker may still defer its item, or let other threads help.
    auto const has_work_or_is_done = [&] {
      return submitted.has_work_for(true) || submitted.running == 0;
    };
    if (!spin_for_work(lock, has_work_or_is_done)) item_finished_.wait(lock, has_work_or_is_done);
  }
  remove_job_locked(submitted);
  if (submitted.failure) std::rethrow_exception(submitted.failure);
}

}  // namespace roc::transfer
