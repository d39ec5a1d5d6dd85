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
#include <cstring>
#include <iterator>
#include <memory>
#include <mutex>
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

/// The bytes of payloads of a process from which on an operation waits for earlier ones.
inline constexpr std::size_t payload_limit = std::size_t{1} << 30;

class clique;

/// An operation of one rank. Lives until its stream has passed it and no rank reads its payload.
struct operation {
  operation() = default;
  operation(operation const&) = delete;
  operation& operator=(operation const&) = delete;
  ~operation() {
    if (finished != nullptr) static_cast<void>(hipEventDestroy(finished));
    payload_pool::instance().give_back(std::move(memory));
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
  shared_memory memory{};
  hipEvent_t finished = nullptr;
  bool is_enqueued = false;

  bool is_message() const { return what == kind::send || what == kind::receive; }
  std::byte* output() const { return memory.data() + round_up(input_bytes, 64); }
};

/// The communicator as one process sees it: the board, and the pending operations of its ranks.
class clique : public board {
 public:
  using board::board;
  clique(clique const&) = delete;
  clique& operator=(clique const&) = delete;
  ~clique() {
    stop_monitor();
    for (auto const& [rank, file] : processes_) {
      if (file >= 0) ::close(file);
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
    is_watching_ = true;
    for (int rank = 0; rank < size(); ++rank) {
      std::int64_t const pid = member_of(rank).pid;
      if (pid == ::getpid()) continue;
      int const file = static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0));
      if (file >= 0 || errno == ESRCH) processes_.emplace_back(rank, file);
    }
    if (!processes_.empty())
      monitor_ = std::thread([this, local_rank] { monitor_loop(local_rank); });
  }

  /// Starts an operation. The caller has checked the arguments. Blocks only if too many operations
  /// are in flight.
  ncclResult_t enqueue(std::unique_ptr<operation> started, void const* from, void* to,
                       hipStream_t stream);
  /// Frees what is no longer used.
  void reap();
  bool has_pending() {
    std::scoped_lock const lock(mutex_);
    return !pending_.empty();
  }
  bool has_many_pending() {
    std::scoped_lock const lock(mutex_);
    return pending_.size() >= 32;
  }
  /// Returns true if another process still has to read what a rank has sent.
  bool has_unread(int rank);

  int local_ranks = 0;  // the registry's lock protects it

 private:
  ncclResult_t enqueue_work(operation& started, void const* from, void* to, hipStream_t stream);
  static void compute(void* data) {
    static_cast<operation*>(data)->group->compute(*static_cast<operation*>(data));
  }
  void compute(operation& current);
  enum class readers { all, other_processes };
  /// Returns true if the ranks no longer need the payload of an operation.
  bool is_read(operation const& finished, readers who) const;
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
  std::size_t payload_bytes_ = 0;
  bool is_watching_ = false;
  bool is_stopping_ = false;
  // Ranks, and descriptors of their processes; -1 if one had ended. This member and the next one
  // change only before the monitor starts and after it has been joined.
  std::vector<std::pair<int, int>> processes_;
  std::thread monitor_;
};

inline void clique::monitor_loop(int local_rank) {
  std::vector<bool> is_reported(processes_.size());
  for (;;) {
    {
      std::scoped_lock const lock(mutex_);
      if (is_stopping_) return;
    }
    for (std::size_t i = 0; i < processes_.size(); ++i) {
      auto const [rank, file] = processes_[i];
      pollfd entry{file, POLLIN, 0};
      bool const has_ended = file < 0 || ::poll(&entry, 1, 0) == 1;
      if (!has_ended || is_reported[i] || member_of(rank).has_left.load() != 0) continue;
      is_reported[i] = true;
      stop(local_rank, ncclRemoteError,
           "the process of rank " + std::to_string(rank) + " has ended");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

inline bool clique::is_read(operation const& finished, readers who) const {
  if (result() != ncclSuccess || finished.what == kind::receive) return true;
  auto const is_done = [&](int reader, std::size_t position) {
    return member_of(reader).has_left.load() != 0 ||
           (who == readers::other_processes && member_of(reader).pid == ::getpid()) ||
           description(position).done.load(std::memory_order_acquire) >= finished.generation;
  };
  if (finished.what == kind::send) {
    return is_done(finished.root, position(finished.generation, finished.rank, finished.root));
  }
  for (int rank = 0; rank < size(); ++rank) {
    if (!is_done(rank, position(finished.generation, rank))) return false;
  }
  return true;
}

inline bool clique::has_unread(int rank) {
  std::scoped_lock const lock(mutex_);
  return std::any_of(pending_.begin(), pending_.end(), [&](auto const& entry) {
    return entry->rank == rank && entry->is_enqueued && !is_read(*entry, readers::other_processes);
  });
}

inline void clique::reap() {
  std::vector<std::unique_ptr<operation>> finished;
  {
    std::scoped_lock const lock(mutex_);
    // A query lets work proceed in the modes of the host platform that need that.
    auto const kept = std::partition(pending_.begin(), pending_.end(), [&](auto const& entry) {
      if (!entry->is_enqueued) return true;
      bool const is_done = hipEventQuery(entry->finished) != hipErrorNotReady;
      return !is_done || !is_read(*entry, readers::all);
    });
    std::move(kept, pending_.end(), std::back_inserter(finished));
    pending_.erase(kept, pending_.end());
    for (auto const& entry : finished) payload_bytes_ -= entry->memory.bytes();
  }
  static_cast<void>(hipGetLastError());
}

inline ncclResult_t clique::enqueue(std::unique_ptr<operation> started, void const* from, void* to,
                                    hipStream_t stream) {
  if (result() != ncclSuccess) return fail(ncclRemoteError, text());
  hipStreamCaptureStatus capture{};
  if (stream != nullptr && hipStreamIsCapturing(stream, &capture) == hipSuccess &&
      capture != hipStreamCaptureStatusNone) {
    return fail(ncclInvalidUsage, "the stream is captured, which this library does not support");
  }
  operation& current = *started;
  std::size_t const bytes =
      std::max(round_up(current.input_bytes, 64) + current.output_bytes, std::size_t{64});
  std::uint64_t const limit = current.is_message() ? messages_in_flight : operations_in_flight;
  auto const previous_is_done = [&] {
    if (current.generation <= limit) return true;
    std::uint64_t const previous = current.generation - limit;
    auto const done = [&](std::size_t position) {
      return description(position).done.load(std::memory_order_acquire) >= previous;
    };
    if (current.what == kind::receive) return true;
    if (current.what == kind::send) {
      return done(position(current.generation, current.rank, current.root));
    }
    for (int rank = 0; rank < size(); ++rank) {
      if (!done(position(current.generation, rank))) return false;
    }
    return true;
  };
  for (bool is_first = true;; is_first = false) {
    // A query of an event may run work, so nothing is freed before there is much to free.
    if (!is_first || has_many_pending()) reap();
    if (result() != ncclSuccess) return fail(ncclRemoteError, text());
    {
      std::scoped_lock const lock(mutex_);
      if (previous_is_done() && (payload_bytes_ == 0 || payload_bytes_ + bytes <= payload_limit)) {
        payload_bytes_ += bytes;
        break;
      }
    }
    if (is_first) continue;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  current.memory = payload_pool::instance().take(bytes);
  {
    std::scoped_lock const lock(mutex_);
    payload_bytes_ -= bytes;
    if (current.memory.data() == nullptr) {
      return fail(ncclSystemError, "no pinned memory of " + std::to_string(bytes) + " bytes");
    }
    payload_bytes_ += current.memory.bytes();
    pending_.push_back(std::move(started));
  }
  ncclResult_t const enqueued = enqueue_work(current, from, to, stream);
  if (enqueued != ncclSuccess) {
    // A part may be enqueued, and the other ranks wait for the rest.
    stop(current.rank, enqueued,
         "rank " + std::to_string(current.rank) + " could not enqueue " + name_of(current.what) +
             ": " + last_error());
  }
  // Without its event, the end of the enqueued part cannot be detected: the operation and its
  // memory are never freed then.
  std::scoped_lock const lock(mutex_);
  current.is_enqueued = enqueued == ncclSuccess;
  return enqueued;
}

inline ncclResult_t clique::enqueue_work(operation& started, void const* from, void* to,
                                         hipStream_t stream) {
#define ROCARRAY_HOST_CCL_TRY(call, ...)                                                  \
  if (auto const code = impl::check_hip(call(__VA_ARGS__), #call); code != ncclSuccess) { \
    return code;                                                                          \
  }
  std::size_t const own =
      started.what == kind::send      ? position(started.generation, started.rank, started.root)
      : started.what == kind::receive ? position(started.generation, started.root, started.rank)
                                      : position(started.generation, started.rank);
  ROCARRAY_HOST_CCL_TRY(hipEventCreateWithFlags, &started.finished, hipEventDisableTiming);
  if (started.what != kind::receive) {
    descriptor& published = description(own);
    published.operation = started.what;
    published.type = started.type;
    published.reduction = started.reduction;
    published.root = started.root;
    published.count = started.count;
    published.pid = ::getpid();
    published.address = reinterpret_cast<std::uintptr_t>(started.memory.data());
    published.bytes = started.input_bytes;
    published.file = started.memory.file();
    published.generation = started.generation;
    if (started.input_bytes != 0) {
      ROCARRAY_HOST_CCL_TRY(hipMemcpyAsync, started.memory.data(), from, started.input_bytes,
                            hipMemcpyDeviceToHost, stream);
    }
    ROCARRAY_HOST_CCL_TRY(hipStreamWriteValue64, stream, flags() + own, started.generation, 0);
  }
  auto const wait_for = [&](std::size_t flag) {
    return check_hip(hipStreamWaitValue64(stream, flags() + flag, started.generation,
                                          hipStreamWaitValueGte, UINT64_MAX),
                     "hipStreamWaitValue64");
  };
  if (started.what == kind::receive) {
    if (auto const code = wait_for(own); code != ncclSuccess) return code;
  } else if (started.what != kind::send) {
    for (int rank = 0; rank < size(); ++rank) {
      if (rank == started.rank) continue;
      auto const code = wait_for(position(started.generation, rank));
      if (code != ncclSuccess) return code;
    }
  }
  if (started.what != kind::send) {
    ROCARRAY_HOST_CCL_TRY(hipLaunchHostFunc, stream, compute, &started);
  }
  if (started.output_bytes != 0) {
    ROCARRAY_HOST_CCL_TRY(hipMemcpyAsync, to, started.output(), started.output_bytes,
                          hipMemcpyHostToDevice, stream);
  }
  ROCARRAY_HOST_CCL_TRY(hipEventRecord, started.finished, stream);
#undef ROCARRAY_HOST_CCL_TRY
  return ncclSuccess;
}

// Runs in a host function: no calls of HIP.
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
                  rank_name(rank) + " has left before " + name_of(current.what));
    }
    bool const is_equal =
        other.type == static_cast<std::uint32_t>(current.type) && other.count == current.count &&
        (is_message || (other.operation == current.what && other.root == current.root &&
                        other.reduction == static_cast<std::uint32_t>(current.reduction)));
    if (!is_equal) {
      return stop(current.rank, ncclInvalidArgument,
                  std::string("ranks disagree: rank ") + std::to_string(current.rank) + " called " +
                      name_of(current.what) + " for " + std::to_string(current.count) +
                      " elements, " + rank_name(rank) + " " + name_of(other.operation) + " for " +
                      std::to_string(other.count) +
                      "; operation, count, type, reduction and root must be equal");
    }
    if (other.bytes == 0) {
      inputs.push_back(nullptr);
    } else if (other.pid == ::getpid()) {
      inputs.push_back(reinterpret_cast<std::byte const*>(other.address));
    } else {
      mapped.push_back(shared_memory::open(other.pid, other.file, other.bytes));
      if (mapped.back().data() == nullptr) {
        return stop(current.rank, ncclRemoteError,
                    "the memory of " + rank_name(rank) + " cannot be mapped");
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
  description(position_of(current.rank)).done.store(current.generation, std::memory_order_release);
}

}  // namespace roc::host_ccl::impl
