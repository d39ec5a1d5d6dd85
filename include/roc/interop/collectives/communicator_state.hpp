// SPDX-License-Identifier: MIT
// The state of a communicator: the library's handle, and how its errors and time limits are found.
// Included by roc/interop/collectives.hpp.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <roc/detail/stream_watcher.hpp>
#include <roc/detail/throw.hpp>
#include <roc/detail/timed_wait.hpp>
#include <roc/device.hpp>
#include <roc/error.hpp>
#include <roc/event.hpp>
#include <roc/interop/collectives/agreement.hpp>
#include <roc/interop/collectives/error.hpp>
#include <roc/interop/collectives/options.hpp>
#include <roc/stream.hpp>

namespace roc::detail {

/// Returns the settings with which the library creates a rank.
inline ncclConfig_t library_config(bool is_blocking) {
#ifdef NCCL_CONFIG_INITIALIZER
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
#else
  ncclConfig_t config{};
#endif
  config.blocking = is_blocking ? 1 : 0;
  return config;
}

/// Makes the end of the calling thread's group of the library start nothing and return an error: a
/// part of its calls would wait for the missing ones.
inline void cancel_library_group() noexcept {
  // A call that fails in a group makes the whole group fail. RCCL's operations access the
  // communicator before they check it, so it is the creation of a rank of none.
  ncclComm_t none = nullptr;
  ncclUniqueId const id{};
  ncclConfig_t config = library_config(true);
  static_cast<void>(ncclCommInitRankConfig(&none, 0, id, 0, &config));
}

class collective_state;

/// Polls the operations of a rank while a thread waits for a stream. Shared with the threads that
/// do so, unlike the rank, which ends when its owner destroys it.
class collective_watcher final : public stream_watcher {
 public:
  explicit collective_watcher(collective_state& rank) : rank_(&rank) {}
  bool poll_stream(stream_identity const& stream,
                   std::chrono::steady_clock::duration waited) override;
  /// Ends polling, because the rank is about to be destroyed. Waits for a call of poll_stream.
  void detach() noexcept {
    std::scoped_lock const lock(mutex_);
    rank_ = nullptr;
  }

 private:
  std::mutex mutex_;
  collective_state* rank_;
};

/// One rank of a communicator. After its creation, calls of the library are made while `mutex` is
/// locked, because abort() of another thread destroys the handle.
class collective_state {
 public:
  collective_state(int own_rank, int ranks, roc::device own_device,
                   collective_options const& settings)
      : rank(own_rank), size(ranks), device(own_device), options(settings) {}
  collective_state(collective_state const&) = delete;
  collective_state& operator=(collective_state const&) = delete;
  ~collective_state() { destroy(); }

  bool has_time_limit() const { return options.time_limit.count() != 0; }
  /// Returns how long the destructor, and a failed call, wait for pending work at most: the time
  /// limit, or without one destruction_limit.
  std::chrono::milliseconds wait_limit() const {
    return has_time_limit() ? options.time_limit : options.destruction_limit;
  }
  /// Throws collective_abort_error after the communicator was aborted. The caller holds `mutex`.
  void check_usable_locked() const {
    if (handle != nullptr) return;
    throw collective_abort_error("the communicator was aborted: " + reason +
                                 "; create another communicator");
  }
  /// Cancels pending operations, and makes later calls fail with the reason `why`, followed by
  /// `cause`. Does nothing if the handle is gone. Works also if memory is exhausted. The caller
  /// holds `mutex`.
  void abort_locked(std::string_view why, std::string_view cause = {}) noexcept {
    if (handle == nullptr) return;
    static_cast<void>(ncclCommAbort(std::exchange(handle, nullptr)));
    informed_thread_ = this_thread_number();
    try {
      reason.assign(why).append(cause);
    } catch (...) {
      reason = "?";  // so short that it needs no allocation
    }
  }
  void abort(std::string_view why, std::string_view cause = {}) noexcept {
    std::scoped_lock const lock(mutex);
    abort_locked(why, cause);
  }
  /// Returns true if the library has completed all calls; false if it works on one. Aborts and
  /// throws collective_error if the communicator has failed. The caller holds `mutex`.
  bool poll_locked() {
    check_usable_locked();
    ncclResult_t result = ncclSuccess;
    ncclResult_t const called = ncclCommGetAsyncError(handle, &result);
    if (called != ncclSuccess) result = called;
    if (result == ncclSuccess) return true;
    if (result == ncclInProgress) return false;
    fail_locked(result, "ncclCommGetAsyncError");
  }
  bool poll() {
    std::scoped_lock const lock(mutex);
    return poll_locked();
  }
  /// Aborts and throws the error that `make` returns. Aborts also if there is no memory for it. The
  /// caller holds `mutex`.
  template <class F>
  [[noreturn]] void fail_locked(F make) {
    try {
      throw make();
    } catch (std::exception const& problem) {
      abort_locked(problem.what());
      throw;
    }
  }
  /// Aborts and throws collective_error. `call` must be a string literal. The caller holds `mutex`.
  [[noreturn]] void fail_locked(ncclResult_t result, char const* call) {
    fail_locked([&] { return make_collective_error(result, call, handle); });
  }
  /// Aborts and throws collective_timeout_error.
  [[noreturn]] void fail_by_timeout(char const* awaited) {
    std::scoped_lock const lock(mutex);
    fail_by_timeout_locked(awaited);
  }
  [[noreturn]] void fail_by_timeout_locked(char const* awaited) {
    fail_locked([&] {
      return collective_timeout_error(std::string(awaited) + " took longer than the limit of " +
                                      std::to_string(options.time_limit.count()) + " ms in rank " +
                                      std::to_string(rank) + " of " + std::to_string(size) +
                                      "; check whether all ranks call the same operations");
    });
  }
  /// Blocks until the library has completed all calls. Throws as poll and fail_by_timeout.
  void settle(char const* awaited) {
    timed_wait const wait(options.time_limit);
    if (!wait.until([this] { return poll(); })) fail_by_timeout(awaited);
  }
  /// Blocks until `is_done()` returns true. Throws as poll and fail_by_timeout, and what `is_done`
  /// throws.
  template <class F>
  void wait_until(F is_done) {
    timed_wait const wait(options.time_limit);
    bool const was_done = wait.until([&] {
      // The error first: after a failure the work of the device ends without result.
      static_cast<void>(poll());
      return is_done();
    });
    if (!was_done) fail_by_timeout("an operation");
    static_cast<void>(poll());
  }
  /// Returns the descriptions that all ranks pass. Collective. If it fails, the ranks may be in
  /// different operations, so the communicator is aborted. Throws collective_timeout_error and
  /// mpi_error.
  std::vector<collective_description> exchange_descriptions(collective_description const& own) {
    try {
      return exchange(own, [this] { static_cast<void>(poll()); });
    } catch (error const& problem) {
      if (problem.code() == std::errc::timed_out) fail_by_timeout("the comparison of an operation");
      abort("its ranks could not be compared: ", problem.what());
      throw;
    } catch (...) {
      abort("its ranks could not be compared");
      throw;
    }
  }
  /// Records the end of the operations on a stream of the communicator's device, whose
  /// synchronization polls them.
  void record(stream_ref stream) {
    constexpr std::size_t many_streams = 8;
    stream_identity const identity = identity_of(stream);
    {
      std::scoped_lock const lock(pending_mutex_);
      if (pending_.size() >= many_streams) {
        for (auto entry = pending_.begin(); entry != pending_.end();) {
          entry = entry->second.query() ? pending_.erase(entry) : std::next(entry);
        }
      }
      pending_[identity].record(stream);
    }
    watch_stream(stream, watcher_);
  }
  /// Returns true if no operation is pending on a stream. Throws the error of the communicator, and
  /// as fail_by_timeout, once for each stream; but not in a thread to which a call of the
  /// communicator has thrown it or which has called abort().
  bool poll_stream(stream_identity const& stream, std::chrono::steady_clock::duration waited) {
    std::unique_lock const lock(mutex, std::try_to_lock);
    if (!lock.owns_lock()) {
      // Another thread enqueues, perhaps until other ranks come, unless it aborts.
      return has_finished(stream) && is_enqueuing;
    }
    if (!has_pending(stream)) return true;
    bool const was_usable = handle != nullptr;
    if (!was_usable && informed_thread_ == this_thread_number()) {
      forget(stream);
      return true;
    }
    try {
      // The error first: after a failure the work of the device ends without result.
      static_cast<void>(poll_locked());
      if (forget_finished(stream)) {
        static_cast<void>(poll_locked());
        return true;
      }
      if (timed_wait::is_over(waited, options.time_limit)) {
        fail_by_timeout_locked("an operation");
      }
    } catch (...) {
      bool const has_failed = handle == nullptr;  // or the event could not be queried
      if (has_failed) forget(stream);
      if (has_failed && was_usable) informed_thread_ = 0;  // the other streams throw it as well
      throw;
    }
    return false;
  }
  /// Forgets the operations on a stream if they have finished. Returns false if they have not.
  bool forget_finished(stream_identity const& stream) {
    std::scoped_lock const lock(pending_mutex_);
    auto const entry = pending_.find(stream);
    if (entry == pending_.end()) return true;
    if (!entry->second.query()) return false;
    pending_.erase(entry);
    return true;
  }
  /// Destroys the communicator after its operations, or aborts it if they take too long. Does not
  /// throw.
  void destroy() noexcept {
    watcher_->detach();
    if (handle == nullptr) return;
    try {
      std::optional<device_guard> current;
      try {
        current.emplace(device);
      } catch (error const&) {
        current.emplace(device);  // an abort would end the last operations of the other ranks too
      }
      timed_wait const wait(wait_limit());
      while (!has_finished()) {
        if (!poll_quietly()) return abort("it was destroyed");  // no effect if poll has aborted it
        if (wait.pause()) continue;
        log_late_error(
            "a communicator was destroyed while an operation was pending for longer than its "
            "limit: it was aborted; synchronize its streams first");
        abort("it was destroyed");
        return;
      }
      std::scoped_lock const lock(mutex);
      if (handle != nullptr) static_cast<void>(ncclCommDestroy(std::exchange(handle, nullptr)));
    } catch (std::exception const& problem) {
      log_late_error(problem.what());
      abort("it was destroyed");
    } catch (...) {  // an exception of a host function, which the stream reports
      abort("it was destroyed");
    }
  }

  /// Returns true if the operations recorded so far have finished. Does not block.
  bool has_finished() {
    std::scoped_lock const lock(pending_mutex_);
    for (auto const& entry : pending_) {
      if (!entry.second.query()) return false;
    }
    return true;
  }
  /// Returns how many messages were sent to, or received from, a rank. Takes the mutex.
  std::uint64_t messages_to(int other) { return message_count(sent_, other); }
  std::uint64_t messages_from(int other) { return message_count(received_, other); }
  /// Counts a message. Throws std::bad_alloc. The caller holds `mutex`.
  void count_message_locked(int other, bool is_sent) { ++(is_sent ? sent_ : received_)[other]; }

  int const rank;
  int const size;
  roc::device const device;
  collective_options const options;
  std::mutex mutex;
  ncclComm_t handle = nullptr;                // null before the creation and after abort
  std::string reason;                         // of the abort
  std::uint64_t group_number = 0;             // equal for all ranks of for_devices; 0: unknown
  std::atomic<std::uint64_t> operations = 0;  // collective ones called so far
  std::atomic<bool> is_enqueuing = false;     // a thread that holds `mutex` enqueues operations
  // Empty unless collective_options::check_agreement is set.
  collective_exchange exchange;

 private:
  /// Returns false if the communicator has failed, and aborts it, so that its work ends.
  bool poll_quietly() noexcept {
    try {
      static_cast<void>(poll());
      return true;
    } catch (...) {
      return false;
    }
  }

  bool has_pending(stream_identity const& stream) {
    std::scoped_lock const lock(pending_mutex_);
    return pending_.contains(stream);
  }
  bool has_finished(stream_identity const& stream) {
    std::scoped_lock const lock(pending_mutex_);
    auto const entry = pending_.find(stream);
    return entry == pending_.end() || entry->second.query();
  }
  /// Forgets the operations on a stream.
  void forget(stream_identity const& stream) {
    std::scoped_lock const lock(pending_mutex_);
    pending_.erase(stream);
  }

  std::uint64_t message_count(std::map<int, std::uint64_t> const& counts, int other) {
    std::scoped_lock const lock(mutex);
    auto const found = counts.find(other);
    return found == counts.end() ? 0 : found->second;
  }

  std::shared_ptr<collective_watcher> const watcher_ = std::make_shared<collective_watcher>(*this);
  unsigned long informed_thread_ = 0;  // got the error or called abort(); 0: none. With `mutex`
  std::mutex pending_mutex_;           // of pending_; locked after `mutex`
  std::map<stream_identity, event> pending_;  // after the last operation on each stream
  std::map<int, std::uint64_t> sent_;        // by the other rank
  std::map<int, std::uint64_t> received_;    // by the other rank
};

inline bool collective_watcher::poll_stream(stream_identity const& stream,
                                            std::chrono::steady_clock::duration waited) {
  std::scoped_lock const lock(mutex_);
  return rank_ == nullptr || rank_->poll_stream(stream, waited);
}

}  // namespace roc::detail
