// SPDX-License-Identifier: MIT
// The threads that do the CPU's part of transfers by values, in turns with the device: each side
// tells the other by a number in memory how far it is (runtime::progress_counters).
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>

#include "copy/staging/staged_work.hpp"
#include "copy/staging/thread_pool.hpp"
#include "copy/staging/value_staging_limits.hpp"
#include "runtime/auxiliary_streams.hpp"
#include "runtime/host_function_errors.hpp"

namespace roc::transfer {

/// The CPU's part of a transfer whose device work is enqueued on a pair of auxiliary streams. The
/// chunks use the slots in turn: chunk k uses slot k % slot_count. If there are two streams, chunk
/// k uses stream k % 2. Each stream has a device counter.
///
/// With b = first_value, the device and the CPU announce by values of the counters:
///
///              device counter of the stream       CPU counter
/// upload       b + 1, first stream: may begin     b + k + 1: chunk k is packed
///              b + k + 2: chunk k has been read,
///              if a later chunk uses its slot
/// download     b + k + 1: chunk k has arrived     b + k + 1: chunk k is unpacked
///
/// Smaller values belong to earlier transfers on the same pair, and larger ones to later ones.
struct driven_transfer {
  std::shared_ptr<staged_work const> work;
  bool is_upload = false;
  runtime::progress_counters* counters = nullptr;
  std::uint64_t first_value = 0;
  std::array<std::byte*, value_staging::max_slots> slots{};
  std::size_t slot_count = 0;
  std::size_t stream_count = 1;
  /// Where the error is stored if the transfer ends because the device has failed.
  std::shared_ptr<runtime::host_error_slot> failure;

  /// The value of the device counter when an upload may begin.
  std::uint64_t started() const noexcept { return first_value + 1; }
  /// The value of the device counter when the device's step of the chunk is done.
  std::uint64_t device_done(std::size_t chunk) const noexcept {
    return first_value + chunk + (is_upload ? 2 : 1);
  }
  /// Returns how many of the stream's chunks the device has done if its counter has this value.
  std::size_t chunks_done(std::size_t stream, std::uint64_t device_counter) const noexcept {
    std::uint64_t const first = device_done(stream);
    if (device_counter < first) return 0;
    return static_cast<std::size_t>((device_counter - first) / stream_count + 1);
  }
  /// The value of the CPU's counter when the CPU's step of the chunk is done.
  std::uint64_t cpu_done(std::size_t chunk) const noexcept { return first_value + chunk + 1; }
  /// No value of the transfer is larger. An upload may not write it.
  std::uint64_t last_value() const noexcept { return device_done(work->chunk_count() - 1); }
};

/// Does the CPU's part of the pending transfers of one device: a thread polls their counters, and
/// packs and unpacks together with the thread pool. Allocates no memory while it does so, and calls
/// no function of HIP, which may hold a lock of the runtime until a pending transfer is complete.
///
/// In each direction, the first transfer of the list that has a ready task is served; after
/// value_staging::turn_bytes it moves to the end of the list. So the copies of a pipeline on
/// several streams end one after the other. If they took turns by chunks, all uploads would end
/// together, and then all downloads: the link would be used in one direction at a time. If both
/// directions have ready tasks, their chunks alternate. A transfer whose stream is busy delays no
/// other. A new transfer of at most turn_bytes is placed before longer ones. Between two turns of
/// a longer one, at most turn_bytes are placed before it.
///
/// On pages of its own, for the reason that thread_pool is.
class alignas(4096) staging_driver {
 public:
  /// Identifies a transfer of a driver.
  using ticket = std::uint64_t;

  /// Returns the driver of the current device. Starts no thread.
  static staging_driver& instance();

  /// Starts the thread unless it runs already. Returns false if the system refuses it.
  bool start() noexcept;
  /// Adds a transfer: the CPU does its steps as soon as the device has announced its own. Called
  /// after start(). The transfer has the options of the calling thread, which enqueues the device
  /// work. Throws std::bad_alloc.
  ticket add(driven_transfer const& transfer);
  /// Returns the bytes of the transfers to the device, or from the device, that are neither
  /// complete nor withdrawn. Takes no lock.
  std::size_t pending_bytes(bool are_uploads) const noexcept { return pending_bytes_[are_uploads]; }
  /// Ends the CPU's part of a transfer, if it is not complete. On return no thread accesses the
  /// caller's memory for this transfer. Waits for tasks that run, not for the device. If
  /// `releases_waits` is true, the device's waits for the transfer end too, after earlier transfers
  /// with the same counters are complete. Later ones are not affected: their values are larger.
  void withdraw(ticket transfer, bool releases_waits) noexcept;
  /// Called if a transfer that was added cannot be enqueued: its error is that of the call.
  void forget_failure(ticket transfer) noexcept;
  /// Stores an error for each pending transfer, withdraws it and releases its waits. Called after
  /// the device has failed, which then announces nothing more: the thread would poll its counters
  /// for ever.
  void withdraw_all() noexcept;

 private:
  class session;

  struct pending_transfer : driven_transfer {
    ticket id = 0;
    std::size_t chunk_count = 0;
    std::size_t bytes = 0;         // of all chunks
    std::size_t turn_bytes = 0;    // of the chunks begun since it came last in the list
    std::size_t passed_bytes = 0;  // of short transfers placed before it since its last turn
    std::size_t max_threads = 0;   // that work on the transfer at a time
    std::size_t running = 0;       // threads that run a task
    std::size_t next_chunk = 0;    // the next task to begin
    std::size_t next_task = 0;
    std::size_t finished_chunks = 0;  // the CPU counter announces them
    std::array<std::size_t, value_staging::max_slots> unfinished_tasks{};  // of each slot's chunk
    bool is_withdrawn = false;
    bool releases_waits = false;  // see withdraw; has no work any more
  };
  using transfer_list = std::list<pending_transfer>;
  struct task {
    transfer_list::iterator transfer;
    std::size_t chunk;
    std::size_t index;
  };
  using unique_lock = std::unique_lock<std::mutex>;

  struct all_drivers;

  explicit staging_driver(thread_pool& threads) : threads_(threads) {}
  // Returns the drivers that exist. Calls no HIP.
  static all_drivers& existing() noexcept;
  // Withdraws the transfers of a device that has failed (runtime::set_device_failure_handler).
  static void end_transfers_of(int device) noexcept;
  // The main function of the thread; never returns.
  void driver_loop() noexcept;
  // Runs tasks until there has been no transfer for some time, or a transfer may use more threads
  // than `thread_limit`.
  void serve(std::size_t thread_limit) noexcept;
  // Runs at most as many tasks as a thread runs before it looks for other work. Takes the lock.
  // Returns the number of tasks.
  std::size_t run_tasks() noexcept;

  // The caller of the functions below holds mutex_.

  // Returns the place in the list for a new transfer. Counts its bytes for those that it passes.
  transfer_list::iterator place_locked(pending_transfer const& added) noexcept;
  // Returns how many chunks the CPU may have begun, as the device's counters say.
  static std::size_t ready_chunks(pending_transfer const& transfer) noexcept;
  // Returns the transfer of which a task is to begin now, or end(): one with a chunk of which some
  // tasks have begun, else the first of the preferred direction, else the first of the other one.
  transfer_list::iterator find_ready_locked() noexcept;
  // Begins the next task of the transfer. After the last task of a chunk, the other direction is
  // preferred, and a transfer that has had its turn moves to the end.
  task begin_task_locked(transfer_list::iterator transfer) noexcept;
  // Ends a task; announces the chunks that are complete. Moves the transfer to `complete` if it is.
  void end_task_locked(task const& ended, transfer_list& complete) noexcept;
  // Releases the waits for withdrawn transfers that are not preceded by a transfer with the same
  // counters. Moves these transfers to `complete`.
  void release_waits_locked(transfer_list& complete) noexcept;
  // Returns the largest number of threads that a transfer may use.
  std::size_t max_threads_locked() const noexcept;

  thread_pool& threads_;
  std::mutex mutex_;               // guards the members below
  std::condition_variable added_;  // a transfer was added
  transfer_list transfers_;        // in the order of preference within each direction
  bool prefers_uploads_ = false;   // which direction is served next if both have a ready task
  std::size_t begun_chunks_ = 0;   // of which some tasks have begun and others have not
  ticket last_ticket_ = 0;
  std::array<std::atomic<std::size_t>, 2> pending_bytes_{};  // by is_upload; written with the lock
  std::atomic<bool> is_started_ = false;      // written with mutex_ held
  std::atomic<bool> has_ready_task_ = false;  // the result of the last search for a task
};

}  // namespace roc::transfer
