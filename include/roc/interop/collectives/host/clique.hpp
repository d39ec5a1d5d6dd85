// SPDX-License-Identifier: MIT
// The operations of a communicator, as work of the ranks' streams.
#pragma once

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <roc/interop/collectives/host/board.hpp>
#include <roc/interop/collectives/host/reduction.hpp>
#include <roc/interop/collectives/host/shared_memory.hpp>
#include <roc/interop/collectives/host/types.hpp>
#include <roc/native/hip.hpp>

namespace roc::host_ccl::impl {

class clique;

/// An operation of one rank. Lives until its stream has passed its end and no rank reads its
/// payload.
struct operation {
  operation() = default;
  operation(operation const&) = delete;
  operation& operator=(operation const&) = delete;
  ~operation() {
    if (memory.data != nullptr) payload_pool::instance().give_back(memory);
  }

  clique* group = nullptr;
  int rank = 0;
  int device = 0;
  kind what{};
  ncclDataType_t type{};
  ncclRedOp_t reduction{};
  int root = 0;  // of a message: the other rank
  std::size_t count = 0;
  std::size_t input_bytes = 0;
  std::size_t output_bytes = 0;
  std::uint64_t generation = 0;
  payload memory{};
  bool is_finished = false;  // protected by the lock of the group

  bool is_message() const { return what == kind::send || what == kind::receive; }
  std::byte* output() const { return memory.data + round_up(input_bytes, 64); }
};

/// The communicator as one process sees it: the board, and the pending operations of its ranks.
class clique : public board {
 public:
  using board::board;
  clique(clique const&) = delete;
  clique& operator=(clique const&) = delete;
  ~clique() {
    stop_monitor();
    for (watched_process const& process : processes_) {
      if (process.file >= 0) ::close(process.file);
    }
  }

  /// Stops the monitor. The clique must only be destroyed afterwards.
  shared_memory take_board() {
    stop_monitor();
    return take_memory();
  }
  /// Watches the processes of the other ranks, so that the end of one releases all waits. Records
  /// errors as found by `local_rank`, a rank of this process. Starts a thread.
  void watch_processes(int local_rank) {
    std::scoped_lock const lock(mutex_);
    if (is_watching_) return;
    processes_.reserve(static_cast<std::size_t>(size()));
    // Not again if the thread could not be started before.
    for (int rank = 0; rank < size() && !are_processes_known_; ++rank) {
      std::int64_t const pid = member_of(rank).pid;
      if (pid == ::getpid()) continue;
      int const file = static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0));
      if (file >= 0 || errno == ESRCH) processes_.push_back({rank, file, false});
    }
    are_processes_known_ = true;
    if (!processes_.empty())
      monitor_ = std::thread([this, local_rank] { monitor_loop(local_rank); });
    is_watching_ = true;
  }

  /// Begins an operation: enqueues what the other ranks need of it. The caller has checked the
  /// arguments. Does not block: the stream waits if earlier operations use the same flags. Sets
  /// `begun` unless nothing was enqueued, also after an error: finish() must follow.
  ncclResult_t begin(std::unique_ptr<operation> started, void const* from, hipStream_t stream,
                     operation*& begun);
  /// Enqueues the rest of an operation: a send waits until the message has been received, the
  /// others wait for their inputs. The operation may be freed at any time afterwards.
  ncclResult_t finish(operation& begun, void* to, hipStream_t stream);
  /// Frees operations that nobody uses any more. Returns true if some are still in use.
  bool reap();
  /// Returns true if another process still has to read what a rank has sent.
  bool has_unread(int rank);

  int local_ranks = 0;  // the registry's lock protects it

 private:
  /// Queries the stream if many operations are pending. In modes `inline` and `deferred` of the
  /// host platform a query executes work, so that operations finish and are freed.
  void let_work_proceed(hipStream_t stream);
  ncclResult_t enqueue_input(operation& started, void const* from, hipStream_t stream);
  ncclResult_t enqueue_output(operation& started, void* to, hipStream_t stream);
  ncclResult_t enqueue_wait(std::uint64_t* flag, std::uint64_t generation, hipStream_t stream);
  /// Returns the position of the flags that the operation's rank sets.
  std::size_t own_position(operation const& of) const {
    return of.what == kind::send      ? position(of.generation, of.rank, of.root)
           : of.what == kind::receive ? position(of.generation, of.root, of.rank)
                                      : position(of.generation, of.rank);
  }
  // Host functions, which do not call HIP.
  static void publish(void* data) {
    auto& current = *static_cast<operation*>(data);
    current.group->publish(current);
  }
  static void compute(void* data);
  static void end(void* data) {
    auto& current = *static_cast<operation*>(data);
    current.group->end(current);
  }
  void publish(operation const& current);
  void compute(operation& current);
  void end(operation& current);
  enum class readers { all, other_processes };
  struct watched_process {
    int rank;
    int file;          // a descriptor; -1 if the process had ended
    bool is_reported;  // used by the monitor only
  };
  /// Returns true if the ranks no longer need the payload of an operation.
  bool is_read(operation const& finished, readers who) const;
  /// Frees operations that nobody uses any more. The caller holds the lock.
  void reap_locked();
  void monitor_loop(int local_rank);
  void stop_monitor() {
    {
      std::scoped_lock const lock(mutex_);
      is_stopping_ = true;
    }
    if (monitor_.joinable()) monitor_.join();
  }

  std::mutex mutex_;  // protects the members below, except those of the monitor
  std::vector<std::unique_ptr<operation>> pending_;
  std::size_t finished_ = 0;  // operations since the last reap
  bool is_watching_ = false;
  bool are_processes_known_ = false;
  bool is_stopping_ = false;
  // This member and the next one change only before the monitor starts and after it has been
  // joined.
  std::vector<watched_process> processes_;
  std::thread monitor_;
};

// Allocates nothing: in its thread an exception would end the process.
inline void clique::monitor_loop(int local_rank) {
  for (;;) {
    {
      std::scoped_lock const lock(mutex_);
      if (is_stopping_) return;
    }
    for (auto& [rank, file, is_reported] : processes_) {
      pollfd entry{file, POLLIN, 0};
      bool const has_ended = file < 0 || ::poll(&entry, 1, 0) == 1;
      if (!has_ended || is_reported || member_of(rank).has_left.load() != 0) continue;
      is_reported = true;
      char text[64];
      std::snprintf(text, sizeof text, "the process of rank %d has ended", rank);
      stop(local_rank, ncclRemoteError, text);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

inline bool clique::is_read(operation const& finished, readers who) const {
  if (result() != ncclSuccess || finished.what == kind::receive) return true;
  auto const has_read = [&](int reader, std::size_t position) {
    return member_of(reader).has_left.load() != 0 ||
           (who == readers::other_processes && member_of(reader).pid == ::getpid()) ||
           is_done(position, finished.generation);
  };
  if (finished.what == kind::send) return has_read(finished.root, own_position(finished));
  for (int rank = 0; rank < size(); ++rank) {
    if (!has_read(rank, position(finished.generation, rank))) return false;
  }
  return true;
}

inline bool clique::has_unread(int rank) {
  std::scoped_lock const lock(mutex_);
  return std::any_of(pending_.begin(), pending_.end(), [&](auto const& entry) {
    return entry->rank == rank && !is_read(*entry, readers::other_processes);
  });
}

inline void clique::reap_locked() {
  finished_ = 0;
  std::erase_if(pending_, [&](std::unique_ptr<operation> const& entry) {
    return entry->is_finished && is_read(*entry, readers::all);
  });
}

inline bool clique::reap() {
  std::scoped_lock const lock(mutex_);
  reap_locked();
  return !pending_.empty();
}

inline void clique::end(operation& current) {
  // Its stream may have written a flag after stop() had released all: release it again.
  if (result() != ncclSuccess) release(own_position(current));
  std::scoped_lock const lock(mutex_);
  current.is_finished = true;
  // Not after each operation: looking at all of many operations takes long.
  if (2 * ++finished_ >= pending_.size()) reap_locked();
}

inline void clique::let_work_proceed(hipStream_t stream) {
  constexpr std::size_t many = 32;
  auto const has_many_pending = [&] {
    std::scoped_lock const lock(mutex_);
    return pending_.size() >= many;
  };
  for (std::size_t i = 0; i < many && stream != nullptr && has_many_pending(); ++i) {
    if (hipStreamQuery(stream) != hipErrorNotReady) break;
  }
}

inline ncclResult_t clique::begin(std::unique_ptr<operation> started, void const* from,
                                  hipStream_t stream, operation*& begun) {
  if (result() != ncclSuccess) return fail(ncclRemoteError, text());
  hipStreamCaptureStatus capture{};
  if (stream != nullptr && hipStreamIsCapturing(stream, &capture) == hipSuccess &&
      capture != hipStreamCaptureStatusNone) {
    return fail(ncclInvalidUsage, "the stream is captured, which this library does not support");
  }
  operation& current = *started;
  if (current.what == kind::send && member_of(current.root).has_left.load() != 0) {
    return fail(ncclRemoteError,
                "rank " + std::to_string(current.root) + " has left before ncclSend");
  }
  let_work_proceed(stream);
  std::size_t const bytes =
      std::max(round_up(current.input_bytes, 64) + current.output_bytes, std::size_t{64});
  current.memory = payload_pool::instance().take(bytes);
  if (current.memory.data == nullptr) {
    return fail(ncclSystemError, "no pinned memory of " + std::to_string(bytes) + " bytes");
  }
  {
    std::scoped_lock const lock(mutex_);
    pending_.push_back(std::move(started));
  }
  begun = &current;
  if (current.what == kind::receive) return ncclSuccess;
  ncclResult_t const enqueued = enqueue_input(current, from, stream);
  if (enqueued == ncclSuccess) return ncclSuccess;
  return fail(enqueued, "rank " + std::to_string(current.rank) + " could not enqueue " +
                            name_of(current.what) + ": " + last_error());
}

#define ROCARRAY_HOST_CCL_TRY(call, ...)                                                  \
  if (auto const code = impl::check_hip(call(__VA_ARGS__), #call); code != ncclSuccess) { \
    return code;                                                                          \
  }

inline ncclResult_t clique::enqueue_wait(std::uint64_t* flag, std::uint64_t generation,
                                         hipStream_t stream) {
  ROCARRAY_HOST_CCL_TRY(hipStreamWaitValue64, stream, flag, generation, hipStreamWaitValueGte,
                        UINT64_MAX);
  return ncclSuccess;
}

inline ncclResult_t clique::finish(operation& begun, void* to, hipStream_t stream) {
  int const rank = begun.rank;
  kind const what = begun.what;
  std::uint64_t* const flag = ready(own_position(begun));
  ncclResult_t enqueued = without_exceptions([&] {
    return what == kind::send ? enqueue_wait(done(own_position(begun)), begun.generation, stream)
                              : enqueue_output(begun, to, stream);
  });
  // Enqueued before the text of an error is composed, which may throw: `end` frees the operation.
  hipError_t const end_result = hipLaunchHostFunc(stream, end, &begun);
  if (end_result != hipSuccess) {
    // The operation and its memory are never freed then.
    static_cast<void>(hipGetLastError());
    static_cast<void>(hipStreamWriteValue64(stream, flag, released, 0));
  }
  if (enqueued != ncclSuccess) {
    return fail(enqueued, "rank " + std::to_string(rank) + " could not enqueue " + name_of(what) +
                              ": " + last_error());
  }
  return check_hip(end_result, "hipLaunchHostFunc");
}

inline ncclResult_t clique::enqueue_input(operation& started, void const* from,
                                          hipStream_t stream) {
  std::size_t const own = own_position(started);
  std::uint64_t const generation = started.generation;
  bool const is_message = started.is_message();
  // An earlier operation may still use the flags and the descriptor.
  std::uint64_t const in_flight = is_message ? messages_in_flight : operations_in_flight;
  bool is_free = true;
  for (int rank = 0; generation > in_flight && rank < (is_message ? 1 : size()); ++rank) {
    std::size_t const used = is_message ? own : position(generation, rank);
    if (is_done(used, generation - in_flight)) continue;
    is_free = false;
    auto const code = enqueue_wait(done(used), generation - in_flight, stream);
    if (code != ncclSuccess) return code;
  }
  if (is_free) {
    publish(started);
  } else {
    ROCARRAY_HOST_CCL_TRY(hipLaunchHostFunc, stream, publish, &started);
  }
  if (started.input_bytes != 0) {
    ROCARRAY_HOST_CCL_TRY(hipMemcpyAsync, started.memory.data, from, started.input_bytes,
                          hipMemcpyDeviceToHost, stream);
  }
  ROCARRAY_HOST_CCL_TRY(hipStreamWriteValue64, stream, ready(own), generation, 0);
  return ncclSuccess;
}

inline ncclResult_t clique::enqueue_output(operation& started, void* to, hipStream_t stream) {
  std::size_t const own = own_position(started);
  std::uint64_t const generation = started.generation;
  bool const is_message = started.is_message();
  for (int rank = 0; rank < (is_message ? 1 : size()); ++rank) {
    if (!is_message && rank == started.rank) continue;
    std::size_t const awaited = is_message ? own : position(generation, rank);
    auto const code = enqueue_wait(ready(awaited), generation, stream);
    if (code != ncclSuccess) return code;
  }
  ROCARRAY_HOST_CCL_TRY(hipLaunchHostFunc, stream, compute, &started);
  ROCARRAY_HOST_CCL_TRY(hipStreamWriteValue64, stream, done(own), generation, 0);
  if (started.output_bytes != 0) {
    ROCARRAY_HOST_CCL_TRY(hipMemcpyAsync, to, started.output(), started.output_bytes,
                          hipMemcpyHostToDevice, stream);
  }
  return ncclSuccess;
}
#undef ROCARRAY_HOST_CCL_TRY

inline void clique::publish(operation const& current) {
  descriptor& published = description(own_position(current));
  published.operation = current.what;
  published.type = current.type;
  published.reduction = current.reduction;
  published.root = current.root;
  published.count = current.count;
  published.pid = ::getpid();
  published.address = reinterpret_cast<std::uintptr_t>(current.memory.data);
  published.bytes = current.input_bytes;
  published.offset = current.memory.offset;
  published.file = current.memory.file;
  published.generation = current.generation;
}

inline void clique::compute(void* data) {
  auto& current = *static_cast<operation*>(data);
  try {
    current.group->compute(current);
  } catch (std::bad_alloc const&) {
    current.group->stop(current.rank, ncclSystemError, "out of memory");
  }
}

inline void clique::compute(operation& current) {
  if (result() != ncclSuccess) return;
  bool const is_message = current.is_message();
  int const ranks = is_message ? 1 : size();
  auto const position_of = [&](int rank) {
    return is_message ? position(current.generation, current.root, current.rank)
                      : position(current.generation, rank);
  };
  auto const rank_name = [&](int rank) {
    return "rank " + std::to_string(is_message ? current.root : rank);
  };
  std::vector<shared_memory> mapped;
  std::vector<std::byte const*> inputs;
  for (int rank = 0; rank < ranks; ++rank) {
    descriptor const& other = description(position_of(rank));
    if (other.generation != current.generation) {
      return stop(current.rank, ncclRemoteError,
                  (rank_name(rank) + " has left before " + name_of(current.what)).c_str());
    }
    bool const is_equal =
        other.type == static_cast<std::uint32_t>(current.type) && other.count == current.count &&
        (is_message || (other.operation == current.what && other.root == current.root &&
                        other.reduction == static_cast<std::uint32_t>(current.reduction)));
    if (!is_equal) {
      return stop(current.rank, ncclInvalidArgument,
                  (std::string("ranks disagree: rank ") + std::to_string(current.rank) +
                   " called " + name_of(current.what) + " for " + std::to_string(current.count) +
                   " elements, " + rank_name(rank) + " " + name_of(other.operation) + " for " +
                   std::to_string(other.count) +
                   "; operation, count, type, reduction and root must be equal")
                      .c_str());
    }
    if (other.bytes == 0) {
      inputs.push_back(nullptr);
    } else if (other.pid == ::getpid()) {
      inputs.push_back(reinterpret_cast<std::byte const*>(other.address));
    } else {
      mapped.push_back(shared_memory::open(other.pid, other.file, other.bytes, other.offset));
      if (mapped.back().data() == nullptr) {
        return stop(current.rank, ncclRemoteError,
                    ("the memory of " + rank_name(rank) + " cannot be mapped").c_str());
      }
      inputs.push_back(mapped.back().data());
    }
  }
  std::size_t const bytes = current.count * size_of(current.type);
  std::byte* const output = current.output();
  switch (current.what) {
    case kind::all_reduce:
    case kind::reduce:
      if (current.output_bytes != 0) {
        reduce(inputs, output, current.count, current.type, current.reduction);
      }
      break;
    case kind::reduce_scatter:
      for (std::byte const*& input : inputs)
        input += static_cast<std::size_t>(current.rank) * bytes;
      reduce(inputs, output, current.count, current.type, current.reduction);
      break;
    case kind::all_gather:
      for (std::size_t rank = 0; rank < inputs.size(); ++rank) {
        std::memcpy(output + rank * bytes, inputs[rank], bytes);
      }
      break;
    case kind::broadcast:
      if (current.output_bytes != 0) {
        std::memcpy(output, inputs[static_cast<std::size_t>(current.root)], bytes);
      }
      break;
    case kind::send:
    case kind::receive: std::memcpy(output, inputs[0], bytes); break;
  }
}

}  // namespace roc::host_ccl::impl
