// SPDX-License-Identifier: MIT
// The threads that pack, unpack and enqueue the chunks of staged copies.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include <roc/detail/call_scope.hpp>

#include "base/options.hpp"

namespace roc::transfer {

/// Work of independent items, which any thread may run in any order. The pool calls all functions
/// from several threads at once. It holds its lock while it calls can_help and is_help_preferred,
/// which must not block or take locks, and calls the other functions without it. All threads call
/// them with the options that were in effect where the work was created.
class parallel_work {
 public:
  virtual ~parallel_work() = default;
  base::active_options const& options() const noexcept { return options_; }
  /// Runs one item. Returns false if it would have to wait for memory that other threads hold and
  /// `may_block` is false; the pool runs the item again later. May call HIP. May throw.
  virtual bool run_item(std::size_t item, bool may_block) = 0;
  /// Returns true if run_item may return false. thread_pool::run allocates memory then, and may
  /// throw std::bad_alloc before the first item.
  virtual bool may_defer() const noexcept { return false; }
  /// Returns true if worker threads may block in run_item, because memory in use becomes free
  /// without the action of another thread. The calling thread of thread_pool::run may always block.
  /// May call HIP. May throw.
  virtual bool can_workers_block() const { return true; }
  /// Returns true if a thread could help with an item that another thread has begun.
  virtual bool can_help() const noexcept { return false; }
  /// Helps with an item that another thread has begun, if there still is one.
  virtual void help() {}
  /// Returns true if threads should help before they begin another item.
  virtual bool is_help_preferred() const noexcept { return false; }
  /// Returns how many workers may run items and help at the same time.
  virtual std::size_t max_workers() const noexcept { return options_.copy_threads; }

 private:
  base::active_options const options_ = base::options();
};

/// The worker threads of one device, shared by all its copies, or the threads that make the copies
/// of several devices at once. Their number is the largest that any job has needed; they run until
/// the process ends.
///
/// On pages of its own: the access checker of the host platform protects the pages of pending
/// memory, and a worker that sleeps on such a page would get EFAULT from the kernel.
class alignas(4096) thread_pool {
 public:
  /// Returns the pool of the current device. Starts no thread.
  static thread_pool& instance();
  /// Returns the pool that belongs to no device: its items are whole copies, whose chunks use the
  /// pools of their devices. The items make their devices current. Starts no thread.
  static thread_pool& across_devices();

  /// Returns true if the calling thread is a worker of any pool.
  static bool is_worker() noexcept;

  /// Runs the items [0, count) on the calling thread and on at most parallel_work::max_workers
  /// workers; blocks until all are done. Starts missing workers. The calling thread runs item 0.
  /// If there is one item, workers only help with it.
  /// If an item throws, items that are not begun are skipped, and the first exception is rethrown
  /// after all running items have finished. Errors name the call of the program that the calling
  /// thread is in. May be called by several threads at once, which then share the workers. Calls
  /// HIP only through `work`. Throws nothing else, except std::bad_alloc if items may be deferred.
  void run(std::size_t count, parallel_work& work);

  /// Wakes sleeping workers after `can_help` of a running work has become true. Does not block for
  /// long; takes the pool's lock only if a worker sleeps.
  void notify();

 private:
  struct job {
    parallel_work& work;
    std::size_t count;
    std::size_t max_workers;
    // The public call that the caller of run() is in, which errors name. May be null.
    detail::call_scope const* call = detail::current_call;
    std::size_t workers = 0;              // that run an item or help
    std::size_t next = 0;                 // the first item not yet begun
    std::size_t running = 0;              // threads that run an item or help
    bool starved = false;                 // a worker found no memory: only the caller begins items
    std::vector<std::size_t> deferred{};  // begun items that found no memory; to be run again
    std::exception_ptr failure{};         // the first one
    job* next_job = nullptr;              // in the pool's list

    bool has_item() const noexcept { return next != count || !deferred.empty(); }
    // Returns true if the caller of run, or a worker, may begin an item now.
    bool has_item_for(bool is_caller) const noexcept {
      return has_item() && (is_caller || !starved);
    }
    // Returns true if the caller of run, or a worker, may begin an item or help with one.
    bool has_work_for(bool is_caller) const noexcept {
      return (is_caller || workers != max_workers) && (has_item_for(is_caller) || work.can_help());
    }
  };
  using lock_type = std::unique_lock<std::mutex>;

  explicit thread_pool(int device) : device_(device) {}
  // The main function of a worker. Returns only if the device cannot be made current.
  void worker_loop();

  // The caller of all functions below holds mutex_. Functions with a parameter `lock` release it
  // while they run, and hold it again on return.

  // Starts workers until there are `count`. If the system refuses one, there are fewer, also in
  // later calls with this count.
  void start_workers_locked(std::size_t count) noexcept;
  // Lets a worker do some of the job's work.
  void run_as_worker(job& current, lock_type& lock);
  // Spins until a notification arrives, `condition` is true or some time has passed. Returns false
  // if there was no notification and `condition` is false. Does not spin if too many threads do.
  template <class Condition>
  bool spin_for_work(lock_type& lock, Condition const& condition);
  // Wakes the workers to look for work.
  void notify_workers_locked();
  // Wakes the callers of run to check whether their job is done.
  void notify_callers_locked();
  // Appends a job to the list. Does not allocate: the jobs themselves are linked.
  void append_job_locked(job& added) noexcept;
  // Removes a job, which must be in the list.
  void remove_job_locked(job& removed) noexcept;
  // Returns the first job with work for a worker, or null.
  job* find_job_locked() const noexcept;
  // Returns a job with work for a worker, or null. The jobs take turns: it becomes the last one.
  job* next_job_locked() noexcept;
  // Runs one item of the job or helps with one. Returns true if it ran an item.
  bool run_or_help(job& current, bool is_caller, lock_type& lock);
  // Runs the next item of the job, and stores its exception in the job if it throws.
  void run_item(job& current, bool is_caller, lock_type& lock);

  int const device_;  // -1: no device
  std::mutex mutex_;  // guards the jobs, their members and the counts of workers
  std::size_t worker_count_ = 0;
  std::size_t requested_workers_ = 0;        // the system refused those above worker_count_
  std::condition_variable work_available_;   // sleeping workers wait for this
  std::atomic<unsigned> sleepers_ = 0;       // workers that wait for work_available_
  std::atomic<unsigned> notifications_ = 0;  // counts; changes if there may be work
  std::condition_variable item_finished_;    // callers of run wait for this
  job* first_job_ = nullptr;                 // the list of the jobs that run
  job* last_job_ = nullptr;
};

}  // namespace roc::transfer
