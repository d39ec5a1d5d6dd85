// SPDX-License-Identifier: MIT
// Work and its order: operations, streams, and who runs what when in the three modes.
//
// An operation waits for others: the one before it in its stream, what the legacy default stream
// demands, events. In mode `threaded` each stream has a thread that runs its operations in turn; in
// `inline` the call that enqueues one runs it; in `deferred` nothing runs until something waits for
// it, and then only what that needs.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "platform/host/api.hpp"

namespace roc::host_hip {

class operation {
 public:
  enum class state { pending, running, done };

 private:
  friend class engine;
  std::function<void()> work_;
  std::vector<std::shared_ptr<operation>> after_;
  state state_ = state::pending;
};

using operation_ptr = std::shared_ptr<operation>;

/// A number for a stream or an event that no other ever has: a handle kept too long is found out.
void* next_handle();

struct stream_object {
  int device = 0;
  unsigned flags = 0;
  int priority = 0;
  // The rest is the engine's, under its lock.
  operation_ptr last;
  std::deque<operation_ptr> queue;  // threaded: not yet taken by the stream's thread
  bool has_thread = false;
  bool closed = false;

  bool blocking() const { return (flags & hipStreamNonBlocking) == 0; }
};

class engine {
 public:
  static engine& instance();

  hipStream_t create(int device, unsigned flags, int priority);
  /// False where there is no such stream. Its work is still done; nobody waits.
  bool destroy(hipStream_t stream);
  /// The stream of a handle: null is the legacy default stream of the calling thread's device. Null
  /// where the handle is of no living stream.
  std::shared_ptr<stream_object> find(hipStream_t stream);

  /// Enqueues work behind all that must come before it; `extra` is one more such operation.
  operation_ptr submit(std::shared_ptr<stream_object> const& stream, std::function<void()> work,
                       operation_ptr const& extra = nullptr);
  /// Returns when the operation is done; null is done.
  void wait(operation_ptr const& awaited);
  /// Whether it is done. In mode deferred this runs one operation that it waits for.
  bool query(operation_ptr const& asked);

  /// The last operation of a stream.
  operation_ptr last_of(std::shared_ptr<stream_object> const& stream);
  /// Waits for all work of a device, of destroyed streams too; of every device for -1.
  void wait_for_device(int device);

 private:
  using lock = std::unique_lock<std::mutex>;

  std::shared_ptr<stream_object> default_stream(int device);
  std::shared_ptr<stream_object> thread_stream(int device);
  void add_order(stream_object& stream, std::vector<operation_ptr>& after);
  void run(operation& next, lock& held) noexcept;
  bool is_ready(operation const& next) const;
  operation_ptr first_to_run(operation_ptr const& wanted, std::vector<operation_ptr>& path);
  void force(operation_ptr const& wanted, lock& held);
  void serve(std::shared_ptr<stream_object> stream);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::unordered_map<hipStream_t, std::shared_ptr<stream_object>> streams_;
  std::vector<std::shared_ptr<stream_object>> defaults_;  // by device
  std::vector<std::pair<int, operation_ptr>> orphans_;    // last work of destroyed streams
};

}  // namespace roc::host_hip
