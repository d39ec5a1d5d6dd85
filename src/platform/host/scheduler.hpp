// SPDX-License-Identifier: MIT
// Streams and the order and execution of their work.
//
// An operation depends on others: on the operation before it in its stream, on those that the
// legacy default stream synchronizes with, and on events. In mode `threaded` each stream has a
// thread that runs its operations in order. A thread that waits runs the copies, fills and recorded
// events that it waits for itself if no other work comes before them: to wake two threads takes as
// long as to copy a MiB. In mode `inline` the call that enqueues an operation runs it. In mode
// `deferred` an operation runs only when a call waits for it or for an operation that depends on
// it.
//
// An operation may also wait for a value in memory. In mode `inline`, if the value is not there
// yet, the operation and those that depend on it stay pending until a call waits for them, as in
// mode `deferred`. The thread that waits then runs pending writes of the value; if there are none,
// it runs pending work of any stream, which may write it.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "platform/host/api.hpp"
#include "platform/host/capture.hpp"

namespace roc::host_hip {

/// A condition on a number in memory, which other threads may write.
struct awaited_value {
  enum class comparison { greater_or_equal, equal, has_common_bit, lacks_bit };

  std::uint64_t* address = nullptr;
  std::uint64_t value = 0;
  std::uint64_t mask = UINT64_MAX;
  comparison compares = comparison::equal;
  bool is_cyclic = false;  // greater_or_equal: the difference as a signed number is not negative
  int writer = -1;         // if another process writes the number: see watch_process

  /// Reads the number, with acquire semantics. Returns true if the condition is met, or if the
  /// process that would write the number has ended.
  bool is_met() const noexcept;
};

/// A unit of work of a stream. The scheduler's lock protects all members.
class operation {
 public:
  enum class state { pending, running, done };

 private:
  friend class scheduler;
  std::function<void()> work_;
  std::vector<std::shared_ptr<operation>> dependencies_;
  std::optional<awaited_value> awaited_;    // must be met before the operation runs
  std::uint64_t const* written_ = nullptr;  // the number that `work_` writes, if any
  std::uint64_t visited_ = 0;               // the last search that came here: see find_ready_locked
  bool may_run_in_waiter_ = false;          // in mode threaded: see submit
  state state_ = state::pending;
};

using operation_ptr = std::shared_ptr<operation>;

/// Returns a new value for the handle of a stream or an event. Values are never reused, so that the
/// use of a destroyed handle is detected.
void* next_handle();

struct stream_object {
  int device = 0;
  unsigned flags = 0;
  int priority = 0;
  // The scheduler's lock protects the members below.
  operation_ptr last;               // null if nothing was enqueued
  std::deque<operation_ptr> queue;  // mode threaded: operations that the thread has not yet taken
  bool has_thread = false;
  bool is_thread_running = false;
  bool is_destroyed = false;

  /// Returns true if the stream synchronizes with the legacy default stream.
  bool is_blocking() const { return (flags & hipStreamNonBlocking) == 0; }
};

/// Returns the stream as the captures know it.
inline captured_stream captured_stream_of(stream_object const& stream) {
  return {&stream, stream.device, stream.is_blocking()};
}

/// Orders and runs the work of all streams. All functions may be called from any thread. A function
/// that runs operations runs them in the calling thread, without holding the lock.
///
/// Threads wait for an operation or a stream at one of several condition variables, chosen by its
/// address: waking all threads that wait would take longer than most operations. They are members
/// of the scheduler, because the access checker protects pages of the heap, on which the kernel
/// cannot wait.
class scheduler {
 public:
  static constexpr int all_devices = -1;

  /// Never destroyed. In the modes deferred and inline the first call registers an exit handler
  /// that calls run_pending. The handler does nothing in a process that fork() creates later: its
  /// pending work is a copy of the parent's, which still runs there.
  static scheduler& instance();

  /// Creates a stream and returns its handle. The arguments must be valid.
  hipStream_t create_stream(int device, unsigned flags, int priority);
  /// Invalidates the handle; does not block and does not throw. Pending work of the stream still
  /// runs. Returns false if the handle is not that of a stream.
  bool destroy_stream(hipStream_t stream) noexcept;
  bool is_destroyed(stream_object const& stream);
  /// Returns the stream of a handle, or null if the handle is invalid. A null handle is the legacy
  /// default stream of the calling thread's current device, hipStreamPerThread the thread's own.
  std::shared_ptr<stream_object> find_stream(hipStream_t stream);

  /// Enqueues `work`, which may be empty, on the stream; `dependency` (may be null) must also be
  /// done before it runs. In mode inline this runs the work; in mode threaded it may start a
  /// thread. If the stream is captured, the work becomes a node of the graph, of the kind `kind`,
  /// which runs at each launch, and the result is null. In mode threaded the stream's thread runs
  /// the work, or, if `may_run_in_waiter`, perhaps a thread that waits for it. If it throws
  /// std::bad_alloc, std::system_error or capture_error, nothing was enqueued.
  operation_ptr submit(std::shared_ptr<stream_object> const& stream, std::function<void()> work,
                       operation_ptr const& dependency = nullptr, char const* kind = "",
                       bool may_run_in_waiter = false);
  /// Throws capture_error, and invalidates the capture, if the stream is captured, or if it is the
  /// legacy default stream and a stream is captured that it synchronizes with.
  void refuse_captured(std::shared_ptr<stream_object> const& stream);
  /// Enqueues a wait until the condition is met. It occupies no thread that other streams need.
  /// `record`, which may be null, is destroyed when the wait is over. Throws as submit.
  operation_ptr submit_wait(std::shared_ptr<stream_object> const& stream,
                            awaited_value const& awaited, std::shared_ptr<void> record);
  /// Enqueues a write of a number, with release semantics. Throws as submit.
  operation_ptr submit_write(std::shared_ptr<stream_object> const& stream, std::uint64_t* address,
                             std::uint64_t value, std::shared_ptr<void> record);
  /// Blocks until the operation is done, in mode deferred by running it and its dependencies, in
  /// mode threaded perhaps by running it. Returns at once for null.
  void wait(operation_ptr const& awaited);
  /// Returns true if the operation is done; null counts as done. Does not block on other threads.
  /// In the modes deferred and inline a call that returns false runs one pending dependency or the
  /// operation itself, unless another thread is running it, so that polling ends. If a value is
  /// awaited, it runs an operation that may lead to the value.
  bool query(operation_ptr const& queried);

  /// Returns true if an operation of the stream, such as a recorded event, is not done. Runs
  /// nothing.
  bool has_pending_work(std::shared_ptr<stream_object> const& stream);
  /// Returns the operation enqueued last, or null if there was none.
  operation_ptr last_operation(std::shared_ptr<stream_object> const& stream);
  /// Returns the pending operations that a wait for the stream waits for: its last one, and for the
  /// legacy default stream also those of all blocking streams of its device.
  std::vector<operation_ptr> awaited_operations(std::shared_ptr<stream_object> const& stream);
  /// Blocks until the work that a wait for the stream waits for is done: see awaited_operations.
  /// Needs no memory.
  void wait_for_stream(std::shared_ptr<stream_object> const& stream);
  /// Blocks until all work of a device is done, including that of destroyed streams. `all_devices`
  /// waits for every device. Needs no memory.
  void wait_for_device(int device);
  /// Runs the pending work of all streams, in the modes deferred and inline. Leaves the work that
  /// waits for a value that no other work has written. Needs no memory.
  void run_pending();

 private:
  using unique_lock = std::unique_lock<std::mutex>;

  // Moving a stream from one map to the other needs no memory.
  using stream_map = std::map<hipStream_t, std::shared_ptr<stream_object>>;

  /// Returns the legacy default stream of a device, and creates it at the first call.
  std::shared_ptr<stream_object> default_stream(int device);
  /// Returns the calling thread's own stream on a device, and creates it at the first call. Returns
  /// the legacy default stream if the thread's streams have been destroyed at its end.
  std::shared_ptr<stream_object> per_thread_stream(int device);
  /// Blocks until the operation is done, as wait does. `waits_for_values`: see
  /// run_with_dependencies. The caller holds the lock, which is released meanwhile.
  void wait_locked(operation_ptr const& awaited, unique_lock& lock, bool waits_for_values = true);
  /// Blocks, as wait_locked does, until the last operation is done of each stream that exists at
  /// the call and for which `is_awaited(stream)` returns true.
  template <class F>
  void wait_for_streams(F is_awaited, bool waits_for_values = true);
  /// Appends the pending operations that the next operation of `stream` must run after: the
  /// stream's last one, and those of the legacy default stream's rule. The caller holds the lock.
  void add_dependencies_locked(stream_object& stream, std::vector<operation_ptr>& dependencies);
  /// Runs an operation in the calling thread. The caller holds the lock, which is released while
  /// the work runs. An exception of the work terminates the process in every mode, because there is
  /// no caller that could catch it on a device.
  void run(operation& next, unique_lock& lock) noexcept;
  /// Enqueues an operation; see submit. Takes the lock.
  void enqueue(std::shared_ptr<stream_object> const& stream, operation_ptr const& submitted,
               operation_ptr const& dependency);
  /// Returns true if the stream is the legacy default stream of its device. The caller holds the
  /// lock.
  bool is_default_stream_locked(std::shared_ptr<stream_object> const& stream) const;
  /// Follows the first pending dependency of each operation, for at most 4 operations. If all of
  /// them may run in a thread that waits, runs them, the earliest first. Stops if one still depends
  /// on other work. Does not wait for other threads. The caller holds the lock, which is released
  /// meanwhile.
  void try_run_in_waiter(operation_ptr const& awaited, unique_lock& lock) noexcept;
  /// Blocks until another thread has run the operation, which the caller keeps alive. The caller
  /// holds the lock, which is released meanwhile.
  void wait_until_done(operation const& awaited, unique_lock& lock);
  /// Returns where threads wait for an operation or a stream. Others may use the same one.
  std::condition_variable& condition_of(void const* awaited) noexcept;
  /// Returns the first dependency that is not done, or null. The caller holds the lock.
  static operation_ptr first_pending_locked(operation const& dependent) noexcept;
  /// Returns a direct or indirect dependency of `wanted`, or `wanted` itself, that has no pending
  /// dependency. `path` is the chain of operations that lead to it: empty at the first call, and
  /// passed again to continue the search. Without memory for the path, each search begins at
  /// `wanted`. The caller holds the lock.
  operation_ptr find_runnable_locked(operation_ptr const& wanted,
                                     std::vector<operation_ptr>& path) noexcept;
  /// Returns an operation that can run, or null. `next` has no pending dependency, and is returned
  /// if it can run. If it waits for a value, an operation that leads to a write of the value comes
  /// first, and then one of any stream, unless another process writes the value: a host function,
  /// copy or kernel may write it too. The caller holds the lock.
  operation_ptr find_progress_locked(operation_ptr const& next) noexcept;
  /// Returns an operation that can run and leads to `wanted`: `wanted` itself, a dependency, or one
  /// that leads to a write of a value that they wait for. Returns null if there is no such
  /// operation, or if the search with the number search_ has visited `wanted` before. The caller
  /// holds the lock.
  operation_ptr find_ready_locked(operation_ptr const& wanted) noexcept;
  /// Runs `wanted` and its dependencies, and waits for those that other threads run. Runs nothing
  /// else, except operations that may write values that they wait for. If a value is awaited and
  /// nothing can run, blocks until it is there, or returns if `waits_for_values` is false. The
  /// caller holds the lock, which is released meanwhile.
  void run_with_dependencies(operation_ptr const& wanted, unique_lock& lock,
                             bool waits_for_values = true) noexcept;
  /// Runs the operations of a stream until it is destroyed and its queue is empty: the stream's
  /// thread in mode threaded.
  void worker_loop(std::shared_ptr<stream_object> stream) noexcept;

  std::mutex mutex_;
  std::array<std::condition_variable, 256> conditions_;  // see condition_of
  stream_map streams_;
  stream_map destroyed_streams_;  // those that had pending work when they were destroyed
  std::vector<std::shared_ptr<stream_object>> default_streams_;  // by device; null until first used
  std::list<operation_ptr> writes_;  // of values; not all are pending; empty in mode threaded
  std::uint64_t search_ = 0;         // number of the last search: see find_ready_locked
};

}  // namespace roc::host_hip
