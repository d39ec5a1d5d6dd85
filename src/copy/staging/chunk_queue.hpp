// SPDX-License-Identifier: MIT
// Chunks of staged work that have their memory: their shares are for any thread that has time.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <optional>
#include <vector>

#include "copy/staging/staged_work.hpp"
#include "copy/staging/thread_pool.hpp"

namespace roc::transfer {

/// Who has taken memory for a chunk sees it through, and takes memory for nothing else before: that
/// no thread waits for memory whose chunk waits for that thread. Others help.
class chunk_queue {
 public:
  /// What is done to a share.
  enum class task { pack, unpack };
  /// Of a job of the current device's team.
  chunk_queue(staged_work const& work, task what)
      : work_(work), what_(what), team_(thread_pool::instance()) {}

  /// Tells, for its scope, that a chunk is open in a moment: who looks for work waits for it.
  class announcement {
   public:
    explicit announcement(chunk_queue& of) noexcept : of_(of) { of_.announced_.fetch_add(1); }
    ~announcement() { of_.announced_.fetch_sub(1); }
    announcement(announcement const&) = delete;
    announcement& operator=(announcement const&) = delete;

   private:
    chunk_queue& of_;
  };

  /// Does all shares of a chunk, with whoever helps; `data` is where they lie in staging memory.
  /// Ends what was announced once they are there for others.
  void do_all(std::size_t chunk, std::byte* data, std::optional<announcement>& announced);
  /// Whether somebody's chunk has shares that nobody has begun, or will have at once.
  bool any() const noexcept { return waiting_.load() != 0 || announced_.load() != 0; }
  /// Whether there are so many that nobody need begin another chunk yet.
  bool many() const noexcept { return waiting_.load() > 2 || announced_.load() != 0; }
  /// Does one of them, if there is one still, and more while there are many.
  void help();

 private:
  struct open_chunk {
    std::size_t index;
    std::byte* data;
    std::size_t shares;
    std::size_t begun = 0;              // under the lock
    std::atomic<std::size_t> done = 0;  // the last that a helper touches

    bool has_share() const noexcept { return begun != shares; }
  };

  std::unique_lock<std::mutex> hold();
  void do_share(open_chunk const& of, std::size_t share) const noexcept;

  staged_work const& work_;
  task what_;
  thread_pool& team_;
  std::mutex mutex_;
  std::vector<open_chunk*> open_;
  std::atomic<std::size_t> waiting_ = 0;  // shares that nobody has begun
  std::atomic<unsigned> announced_ = 0;
};

}  // namespace roc::transfer
