// SPDX-License-Identifier: MIT
// The threads that pack, unpack and feed the copy engines: few, kept for good, shared by all copies
// of a device.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace roc::transfer {

/// Work that is done in pieces, in any order, by any thread.
class pieces {
 public:
  virtual ~pieces() = default;
  /// Does one. False where it would have to wait for memory that others hold, and `may_wait` says
  /// that it must not: it is tried again later.
  virtual bool run(std::size_t index, bool may_wait) = 0;
  /// Whether memory in flight comes back without anybody else's doing, so that workers may wait.
  virtual bool may_wait() const = 0;
  /// Whether a part of a piece that somebody has begun could be done beside him.
  virtual bool can_help() const noexcept { return false; }
  /// Does such a part, if there is one still.
  virtual void help() {}
  /// Whether helping comes before beginning another piece.
  virtual bool helps_first() const noexcept { return false; }
};

class thread_pool {
 public:
  /// That of the current device; its threads are started by the first call, and stay.
  static thread_pool& instance();

  /// Does all pieces, on the workers and on the calling thread. Rethrows the first error; the
  /// pieces that are not begun by then are left out.
  void run(std::size_t count, pieces& work);
  /// Tells the workers that a piece which somebody has begun can be helped with.
  void tell();

 private:
  struct job {
    pieces& work;
    std::size_t count;
    std::size_t next = 0;     // not yet begun
    std::size_t running = 0;  // threads at work on it
    bool starved = false;     // workers have found no memory: the caller waits for some
    std::vector<std::size_t> returned;
    std::exception_ptr failure;

    bool has_piece() const noexcept { return next != count || !returned.empty(); }
    bool has_piece_for(bool caller) const noexcept { return has_piece() && (caller || !starved); }
    bool has_work_for(bool caller) const noexcept {
      return has_piece_for(caller) || work.can_help();
    }
  };
  using lock = std::unique_lock<std::mutex>;

  explicit thread_pool(int device);
  void serve();
  template <class Condition>
  bool watch(lock& held, Condition const& wanted);
  void post();
  bool has_work() const;
  job* next_job();
  bool work_on(job& of, bool by_caller, lock& held);
  void do_piece(job& of, bool by_caller, lock& held);
  void finish();

  int const device_;
  std::size_t threads_ = 0;
  std::mutex mutex_;
  std::condition_variable posted_;
  std::atomic<unsigned> sleepers_ = 0;  // that wait for it
  std::atomic<unsigned> posts_ = 0;  // changes when workers have something to do
  std::condition_variable finished_;
  std::deque<job*> jobs_;  // the next worker takes a piece of the first, which then goes last
};

}  // namespace roc::transfer
