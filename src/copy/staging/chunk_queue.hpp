// SPDX-License-Identifier: MIT
// The chunks of one staged transfer that have staging memory, and whose tasks any thread may run.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <optional>
#include <vector>

#include "copy/staging/staged_work.hpp"
#include "copy/staging/thread_pool.hpp"

namespace roc::transfer {

/// A queue of chunks whose packing or unpacking has begun. The thread that acquired the memory of a
/// chunk adds the chunk and runs its tasks; other threads of the same transfer help with tasks.
///
/// To avoid deadlock, a thread that holds staging memory finishes its chunk before it acquires
/// more. No function here acquires memory or calls HIP. The queue must outlive all calls.
class chunk_queue {
 public:
  /// What a task does.
  enum class operation { pack, unpack };

  /// Creates an empty queue for `work`, which must outlive it. Uses the thread pool of the current
  /// device, which may start threads.
  chunk_queue(staged_work const& work, operation task_operation)
      : work_(work), operation_(task_operation), threads_(thread_pool::instance()) {}

  /// Announces that the calling thread is about to add a chunk. Other threads that look for tasks
  /// spin until the reservation is destroyed, instead of going to sleep.
  class reservation {
   public:
    explicit reservation(chunk_queue& queue) noexcept : queue_(queue) {
      queue_.reservations_.fetch_add(1);
    }
    ~reservation() { queue_.reservations_.fetch_sub(1); }
    reservation(reservation const&) = delete;
    reservation& operator=(reservation const&) = delete;

   private:
    chunk_queue& queue_;
  };

  /// Adds a chunk and runs its tasks together with helping threads; returns after all of them are
  /// done. Called by the thread that holds the chunk's memory.
  /// @param data the chunk's data in staging memory.
  /// @param reserved the caller's reservation, if any; reset as soon as the tasks are in the queue.
  void run_chunk(std::size_t chunk, std::byte* data, std::optional<reservation>& reserved);

  /// Returns true if the queue has tasks that no thread has started, or a reservation.
  bool has_tasks() const noexcept { return waiting_tasks_.load() != 0 || has_reservation(); }
  /// Returns true if there are so many tasks that threads should help before they begin another
  /// chunk.
  bool has_many_tasks() const noexcept { return waiting_tasks_.load() > 2 || has_reservation(); }
  /// Runs a task of the chunk that was added first, if there is one, and further tasks while there
  /// are many. Spins while there is a reservation but no task. Called by threads that hold no
  /// memory of this transfer.
  void help();

 private:
  struct queued_chunk {
    std::size_t index;
    std::byte* data;
    std::size_t task_count;
    std::size_t started = 0;                // tasks; guarded by mutex_
    std::atomic<std::size_t> finished = 0;  // tasks; a helper accesses nothing of the chunk after
                                            // incrementing this

    bool has_task() const noexcept { return started != task_count; }
  };

  // Returns true if a thread is about to add a chunk.
  bool has_reservation() const noexcept { return reservations_.load() != 0; }
  // Packs or unpacks; the caller does not hold mutex_.
  void run_task(queued_chunk const& chunk, std::size_t task) const noexcept;

  staged_work const& work_;
  operation operation_;
  thread_pool& threads_;
  std::mutex mutex_;  // guards chunks_
  std::vector<queued_chunk*> chunks_;
  std::atomic<std::size_t> waiting_tasks_ = 0;  // tasks that no thread has started
  std::atomic<unsigned> reservations_ = 0;
};

}  // namespace roc::transfer
