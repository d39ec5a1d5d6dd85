// SPDX-License-Identifier: MIT
// Pending operations of an MPI communicator, and their progress. Included by roc/interop/mpi.hpp.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <roc/detail/throw.hpp>
#include <roc/detail/timed_wait.hpp>
#include <roc/error.hpp>
#include <roc/interop/mpi/error.hpp>

namespace roc {

/// The source, tag and size of a received message.
struct mpi_status {
  int source = MPI_PROC_NULL;  ///< the rank that sent it
  int tag = MPI_ANY_TAG;       ///< its tag
  std::size_t count = 0;       ///< the number of elements
};

namespace detail {

/// A request of MPI, owned. The destructor of a pending one cancels a receive and
/// blocks until MPI no longer accesses the memory.
class mpi_pending {
 public:
  mpi_pending() = default;
  mpi_pending(mpi_pending const&) = delete;
  mpi_pending& operator=(mpi_pending const&) = delete;
  ~mpi_pending() {
    if (request_ == MPI_REQUEST_NULL || !is_mpi_running()) return;
    if (is_receive_) MPI_Cancel(&request_);
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
  }

  /// Returns the request for a call that begins an operation.
  MPI_Request* begin(bool is_receive) {
    is_receive_ = is_receive;
    return &request_;
  }
  /// Returns true if no operation is pending (any more). Does not block. Throws mpi_error.
  bool test(MPI_Status* status = MPI_STATUS_IGNORE) {
    if (request_ == MPI_REQUEST_NULL) return true;
    int is_done = 0;
    check_mpi(MPI_Test(&request_, &is_done, status), "MPI_Test");
    return is_done != 0;
  }
  /// Cancels a receive that is pending. MPI may still write to its memory. Does not block.
  void cancel() noexcept {
    if (request_ != MPI_REQUEST_NULL && is_receive_) MPI_Cancel(&request_);
  }
  /// Returns true if MPI no longer accesses the memory. Does not block.
  bool is_idle() noexcept {
    int is_done = 1;
    if (request_ == MPI_REQUEST_NULL) return true;
    // After an error the state of the transfer is not known.
    return MPI_Test(&request_, &is_done, MPI_STATUS_IGNORE) == MPI_SUCCESS && is_done != 0;
  }

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;
  bool is_receive_ = false;
};

/// A message or collective operation, as a state machine: nothing happens unless a thread calls
/// advance.
class mpi_operation {
 public:
  mpi_operation() = default;
  mpi_operation(mpi_operation const&) = delete;
  mpi_operation& operator=(mpi_operation const&) = delete;
  virtual ~mpi_operation() = default;

  /// Does what can be done without blocking; `may_start` is false while an earlier message has not
  /// been sent, which this one must not overtake. Returns true if something was done. The caller
  /// holds the communicator's lock.
  virtual bool advance(bool may_start) = 0;
  /// Returns true if later messages must wait for this one.
  virtual bool is_unsent() const { return false; }
  /// Returns true if the operation waits for work of this rank's streams and for no other rank.
  /// Does not block. The caller holds the communicator's lock.
  virtual bool is_waiting_for_device() noexcept { return false; }
  /// Cancels the receives of an operation that is not advanced again. MPI may still write to their
  /// memory. Does not block. The caller holds the communicator's lock.
  virtual void cancel() noexcept {}
  /// Blocks until the copies of a cancelled operation have finished, and releases its device memory
  /// and events, so that it may outlive its stream. Afterwards nothing accesses the program's
  /// memory, but MPI may still access that of this object. Does not call MPI. Throws nothing:
  /// errors of copies are those of their stream.
  virtual void finish_copies() noexcept {}
  /// Returns true if MPI does not access memory of this object. Does not block. The caller holds
  /// the communicator's lock.
  virtual bool is_idle() noexcept { return true; }
  /// Returns true for a collective operation: after one was abandoned, no other can begin.
  virtual bool is_collective() const { return false; }
  /// Returns true for a collective operation after the ranks have agreed about it: if it fails
  /// then, they may be in different operations.
  virtual bool has_begun_collective() const { return false; }

  /// The result is there, and the destructor does not block: all memory that the operation has
  /// allocated is idle, or is freed in the order of the stream.
  bool is_done = false;
  std::exception_ptr failure;  // null if there was none; the operation is done then
  mpi_status status;
  /// Becomes the element of mpi_state::abandoned, so that giving this up allocates nothing.
  std::list<std::shared_ptr<mpi_operation>> abandoned_entry{nullptr};
};

/// Measures the time limit of one wait, or of several that share it.
class mpi_wait_timer {
 public:
  /// Begins to measure. A limit of 0 is never exceeded.
  explicit mpi_wait_timer(std::chrono::milliseconds limit) : limit_(limit) {}
  /// Begins to measure again if the operation waits for the device now, or did at the last call:
  /// the work may have ended just before this one. Returns true if it began again.
  bool restart_if_waiting(bool is_waiting_for_device) {
    bool const was_waiting = std::exchange(was_waiting_for_device_, is_waiting_for_device);
    if (!is_waiting_for_device && !was_waiting) return false;
    begin_ = std::chrono::steady_clock::now();
    return true;
  }
  bool is_exceeded() const {
    return timed_wait::is_over(std::chrono::steady_clock::now() - begin_, limit_);
  }

 private:
  std::chrono::milliseconds limit_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  bool was_waiting_for_device_ = false;  // at the last poll
};

/// The state that a communicator and its requests share.
struct mpi_state {
  MPI_Comm messages = MPI_COMM_NULL;  // envelopes, with the program's tags, and collectives
  MPI_Comm chunks = MPI_COMM_NULL;    // chunks, with a tag that the sender chooses
  int rank = 0;
  int size = 1;
  int largest_tag = 32767;
  std::size_t chunk_bytes = 0;   // equal in all ranks
  std::size_t inline_bytes = 0;  // equal in all ranks
  bool device_pointers = false;
  int thread_level = MPI_THREAD_SINGLE;
  std::mutex mutex;
  std::vector<std::shared_ptr<mpi_operation>> pending;  // in the order of the program's calls
  int next_chunk_tag = 0;
  std::chrono::milliseconds time_limit{0};              // of one wait; 0: none
  // MPI may still access the memory of these. If it may when the communicator is destroyed, the
  // list is leaked, which allocates nothing.
  std::unique_ptr<std::list<std::shared_ptr<mpi_operation>>> abandoned =
      std::make_unique<std::list<std::shared_ptr<mpi_operation>>>();
  bool has_abandoned_collective = false;

  mpi_state() = default;
  mpi_state(mpi_state const&) = delete;
  mpi_state& operator=(mpi_state const&) = delete;
  /// Calls MPI unless it is not running, or this thread must not.
  ~mpi_state() {
    bool const is_running = is_mpi_running();
    if (is_running && !may_call_mpi()) {
      leak_all();
      return;
    }
    if (is_running) {
      static_cast<void>(free());
      std::erase_if(*abandoned, [](auto const& operation) { return operation->is_idle(); });
    }
    leak_abandoned();
  }

  bool has_time_limit() const { return time_limit.count() != 0; }

  /// Frees the communicators. Returns the first error code.
  int free() noexcept {
    int result = MPI_SUCCESS;
    for (MPI_Comm* const communicator : {&messages, &chunks}) {
      if (*communicator == MPI_COMM_NULL) continue;
      int const code = MPI_Comm_free(communicator);
      if (result == MPI_SUCCESS) result = code;
    }
    return result;
  }

  /// Throws lifetime_error outside of MPI_Init and MPI_Finalize.
  static void check_running() {
    if (!is_mpi_running()) {
      throw lifetime_error(
          "MPI is not running: MPI_Finalize was called; destroy requests and communicators before "
          "it");
    }
  }
  /// Returns true if MPI's thread level allows this thread to call MPI, which must be running.
  bool may_call_mpi() const noexcept {
    if (thread_level >= MPI_THREAD_SERIALIZED) return true;
    int is_main = 0;  // any thread may ask
    return MPI_Is_thread_main(&is_main) == MPI_SUCCESS && is_main != 0;
  }
  /// Throws mpi_error if this thread must not call MPI.
  void check_thread() const {
    if (may_call_mpi()) return;
    throw mpi_error(
        "this thread must not call MPI: its thread level allows only the thread that initialized "
        "it; request MPI_THREAD_MULTIPLE from MPI_Init_thread");
  }

  /// Throws as check_running and check_thread.
  void check_usable() const {
    check_running();
    check_thread();
  }

  /// Locks the state, to begin an operation. Throws mpi_error if another thread is in MPI and the
  /// thread level forbids it. Afterwards lock the mutex itself: an operation that was begun
  /// accesses the program's memory, so that an error must not end the wait for it.
  std::unique_lock<std::mutex> lock() {
    if (thread_level == MPI_THREAD_MULTIPLE) return std::unique_lock(mutex);
    std::unique_lock result(mutex, std::try_to_lock);
    if (!result.owns_lock()) {
      throw mpi_error(
          "two threads use one communicator at the same time, which MPI's thread level forbids; "
          "request MPI_THREAD_MULTIPLE from MPI_Init_thread");
    }
    return result;
  }

  /// Throws mpi_error if a collective operation was given up. The caller holds the lock.
  void check_no_abandoned_collective() const {
    if (!has_abandoned_collective) return;
    throw mpi_error(
        "a collective operation of this communicator was given up after an error or its time "
        "limit, so that its ranks may be in different operations; create another communicator");
  }

  /// Adds an operation that was begun, and advances it. The caller holds the lock.
  void add_locked(std::shared_ptr<mpi_operation> operation) {
    pending.push_back(std::move(operation));
    advance_locked();
  }

  /// Advances all operations, so that none waits for one that the program does not wait for.
  /// Returns true if something was done. The caller holds the lock.
  bool advance_locked() {
    bool has_advanced = false;
    bool may_start = true;
    for (std::shared_ptr<mpi_operation> const& operation : pending) {
      try {
        has_advanced = operation->advance(may_start) || has_advanced;
      } catch (...) {
        operation->failure = std::current_exception();
        operation->is_done = true;
      }
      if (!operation->is_done && operation->is_unsent()) may_start = false;
    }
    std::erase_if(pending, [](auto const& operation) { return operation->is_done; });
    std::erase_if(*abandoned, [](auto const& operation) { return operation->is_idle(); });
    return has_advanced;
  }

  /// Leaks the operations in `abandoned`, whose requests MPI cannot end. Logs that. Does not call
  /// MPI.
  void leak_abandoned() noexcept {
    if (abandoned->empty()) return;
    // The list is never destroyed, so the operations live until the process ends.
    static_cast<void>(abandoned.release());
    log_late_error(
        "memory of MPI operations that were given up is leaked: other ranks had not completed them "
        "when the communicator was destroyed");
  }

  /// Leaks the communicators, and the operations in `abandoned`, because this thread must not call
  /// MPI. Logs that.
  void leak_all() noexcept {
    bool const has_communicator = messages != MPI_COMM_NULL || chunks != MPI_COMM_NULL;
    if (!has_communicator && abandoned->empty()) return;
    if (!abandoned->empty()) static_cast<void>(abandoned.release());
    log_late_error(
        has_communicator
            ? "a communicator of MPI is leaked: its last owner was destroyed in a thread that must "
              "not call MPI; destroy communicators and requests in the thread that initialized "
              "MPI, or request MPI_THREAD_MULTIPLE from MPI_Init_thread"
            : "memory of MPI operations that were given up is leaked: its last owner was destroyed "
              "in a thread that must not call MPI");
  }

  /// Advances once. Returns true if the operation is done. Throws the operation's error, and sets
  /// `operation` to null then. Throws as check_usable if MPI must be called; the operation is then
  /// pending.
  bool test(std::shared_ptr<mpi_operation>& operation) {
    check_running();
    std::unique_lock held(mutex);
    if (operation->is_done && !operation->failure) return true;
    check_thread();  // also the destructor of an operation that failed can call MPI
    if (!operation->is_done) advance_locked();
    if (!operation->failure) return operation->is_done;
    std::exception_ptr const failure = operation->failure;
    has_abandoned_collective = has_abandoned_collective || operation->has_begun_collective();
    // Its destructor would block until other ranks have completed what MPI has begun.
    if (has_time_limit() && !operation->is_idle()) abandon(operation, held);
    operation = nullptr;
    std::rethrow_exception(failure);
  }

  /// Advances until the operation is done. Throws as test, and mpi_timeout_error if the timer
  /// exceeds the time limit; the operation is abandoned then, and `operation` is null. Restarts the
  /// timer while the operation waits for the device.
  void wait(std::shared_ptr<mpi_operation>& operation, mpi_wait_timer& timer) {
    while (!test(operation)) {
      if (has_time_limit()) check_time(operation, timer);
      std::this_thread::yield();
    }
  }

  /// Abandons the operation unless it is done, and sets `operation` to null.
  void give_up(std::shared_ptr<mpi_operation>& operation) {
    std::unique_lock held(mutex);
    if (!operation->is_done) abandon(operation, held);
    operation = nullptr;
  }

  /// Abandons the operation and throws mpi_timeout_error if it is not done and the timer exceeds
  /// the time limit. Restarts the timer if the operation waits for the device, or did at the last
  /// call with this timer.
  void check_time(std::shared_ptr<mpi_operation>& operation, mpi_wait_timer& timer) {
    std::unique_lock held(mutex);
    // After test() another thread may have completed it, perhaps with an error for the next test().
    if (operation->is_done) return;
    if (timer.restart_if_waiting(operation->is_waiting_for_device())) return;
    if (!timer.is_exceeded()) return;
    abandon(operation, held);
    throw mpi_timeout_error("an operation of MPI was not complete after " +
                            std::to_string(time_limit.count()) +
                            " ms; check that all its ranks take part, or increase "
                            "mpi_options::time_limit");
  }

 private:
  /// Moves the operation to `abandoned`. Blocks until its copies have finished, and releases the
  /// lock, which the caller holds, meanwhile: other threads do not wait for the stream. Allocates
  /// nothing.
  void abandon(std::shared_ptr<mpi_operation>& operation, std::unique_lock<std::mutex>& held) {
    auto entry = std::move(operation->abandoned_entry);
    entry.front() = std::move(operation);
    mpi_operation& given_up = *entry.front();
    std::erase(pending, entry.front());
    has_abandoned_collective = has_abandoned_collective || given_up.is_collective();
    given_up.cancel();
    held.unlock();
    given_up.finish_copies();
    held.lock();
    abandoned->splice(abandoned->end(), entry);
  }
};

}  // namespace detail
}  // namespace roc
