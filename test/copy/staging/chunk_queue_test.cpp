// SPDX-License-Identifier: MIT
// Several threads pack or unpack the tasks of one chunk at the same time.
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include <gtest/gtest.h>

#include "copy/staging/parallel_staging.hpp"
#include "support/options.hpp"

namespace {

roc::test::program_options const options_of_tests([] { return roc::options{.copy_threads = 4}; });

constexpr std::size_t chunk_total = 3;
constexpr std::size_t tasks_per_chunk = 2;

// Every task waits until all tasks of its chunk have started, so each needs a thread of its own.
class concurrent_tasks_work final : public roc::transfer::staged_work {
 public:
  std::size_t chunk_count() const noexcept override { return chunk_total; }
  std::size_t data_bytes(std::size_t) const noexcept override { return 1024; }
  std::size_t description_bytes(std::size_t) const noexcept override { return 0; }
  std::size_t task_count(std::size_t) const noexcept override { return tasks_per_chunk; }
  bool has_kernels() const noexcept override { return false; }
  void pack(std::size_t chunk, std::size_t task, std::byte*) const noexcept override {
    run_task(chunk, task);
  }
  void unpack(std::size_t chunk, std::size_t task, std::byte const*) const noexcept override {
    run_task(chunk, task);
  }
  void enqueue_device_step(std::size_t chunk, roc::transfer::staging_slot const&) const override {
    ++enqueued[chunk];
    all_packed = all_packed && started[chunk] == tasks_per_chunk;
  }

  mutable std::array<std::atomic<int>, chunk_total> enqueued{};
  mutable std::array<std::array<std::atomic<int>, tasks_per_chunk>, chunk_total> finished{};
  mutable std::array<std::size_t, chunk_total> started{};  // guarded by mutex_
  mutable std::atomic<bool> all_packed = true;             // when they were enqueued
  mutable std::atomic<bool> timed_out = false;

 private:
  void run_task(std::size_t chunk, std::size_t task) const noexcept {
    std::unique_lock lock(mutex_);
    ++started[chunk];
    changed_.notify_all();
    if (!changed_.wait_for(lock, std::chrono::seconds(20),
                           [&] { return started[chunk] == tasks_per_chunk; })) {
      timed_out = true;
    }
    ++finished[chunk][task];
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
};

void expect_each_task_ran_once(concurrent_tasks_work const& work) {
  EXPECT_FALSE(work.timed_out);
  for (std::size_t chunk = 0; chunk != chunk_total; ++chunk) {
    EXPECT_EQ(1, work.enqueued[chunk]) << "chunk " << chunk;
    for (std::size_t task = 0; task != tasks_per_chunk; ++task) {
      EXPECT_EQ(1, work.finished[chunk][task]) << "chunk " << chunk << ", task " << task;
    }
  }
}

}  // namespace

TEST(ChunkQueue, SeveralThreadsPackOneChunk) {
  concurrent_tasks_work const work;
  roc::transfer::upload_and_wait(work);
  expect_each_task_ran_once(work);
  EXPECT_TRUE(work.all_packed) << "a chunk was enqueued before all of it was packed";
}

TEST(ChunkQueue, SeveralThreadsUnpackOneChunk) {
  concurrent_tasks_work const work;
  roc::transfer::download_and_wait(work);
  expect_each_task_ran_once(work);
}
