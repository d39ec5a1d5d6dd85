// SPDX-License-Identifier: MIT
// The streams and threads of transfers whose CPU work runs at once.
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <future>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <roc/roc.hpp>

#include "copy/staging/parallel_staging.hpp"

namespace {

constexpr std::size_t chunks = 6;  // so that the second stream has as much work as the first

// The device work of a chunk takes some time. Keeps the streams of the chunks.
class slow_work final : public roc::transfer::staged_work {
 public:
  explicit slow_work(bool has_kernels, std::size_t chunk_count = chunks, bool has_work = true)
      : has_kernels_(has_kernels), chunk_count_(chunk_count), has_work_(has_work) {}

  std::size_t chunk_count() const noexcept override { return chunk_count_; }
  std::size_t data_bytes(std::size_t) const noexcept override { return 1024; }
  std::size_t description_bytes(std::size_t) const noexcept override { return 0; }
  std::size_t task_count(std::size_t) const noexcept override { return 1; }
  bool has_kernels() const noexcept override { return has_kernels_; }
  // The last chunk is enqueued, and may fail, after all others.
  void pack(std::size_t chunk, std::size_t, std::byte*) const noexcept override {
    auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (chunk == chunks - 1 && enqueued < chunks - 1 && std::chrono::steady_clock::now() < end) {
      std::this_thread::yield();
    }
  }
  void unpack(std::size_t chunk, std::size_t, std::byte const*) const noexcept override {
    if (!is_done[chunk]) is_early = true;
  }
  void enqueue_device_step(std::size_t chunk,
                           roc::transfer::staging_slot const& slot) const override {
    if (chunk == chunks - 1 && fails) throw std::runtime_error("no device memory");
    {
      std::lock_guard const lock(mutex_);
      streams[chunk % 2].insert(slot.stream.handle());
    }
    ++enqueued;
    if (!has_work_ && chunk != held_chunk) return;
    slot.stream.launch_host_function([this, chunk] {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      while (chunk == held_chunk) {
        is_held = true;
        std::this_thread::yield();
      }
      is_done[chunk] = true;
    });
  }

  mutable std::array<std::set<roc::detail::native_stream*>, 2> streams;  // of even and odd chunks
  mutable std::array<std::atomic<bool>, chunks> is_done{};
  mutable std::atomic<std::size_t> enqueued = 0;
  bool fails = false;
  std::atomic<std::size_t> held_chunk = chunks;  // its work does not end
  mutable std::atomic<bool> is_held = false;
  mutable std::atomic<bool> is_early = false;

 private:
  bool has_kernels_;
  std::size_t chunk_count_;
  bool has_work_;  // for the device, in chunks that are not held
  mutable std::mutex mutex_;
};

class ParallelStaging : public testing::TestWithParam<bool> {
 protected:
  void expect_streams() const {
    EXPECT_EQ(1u, work.streams[0].size());
    EXPECT_EQ(1u, work.streams[1].size());
    EXPECT_EQ(GetParam(), work.streams[0] != work.streams[1]);
  }

  slow_work work{GetParam()};
};

TEST_P(ParallelStaging, UploadWaitsForTheStreamsOfAllChunks) {
  roc::transfer::upload_and_wait(work);
  for (auto const& is_done : work.is_done) EXPECT_TRUE(is_done);
  expect_streams();
}

TEST_P(ParallelStaging, FailedUploadWaitsForTheStreamsOfAllChunks) {
  work.fails = true;
  EXPECT_THROW(roc::transfer::upload_and_wait(work), std::runtime_error);
  for (std::size_t chunk = 0; chunk != chunks - 1; ++chunk) EXPECT_TRUE(work.is_done[chunk]);
}

TEST_P(ParallelStaging, DownloadUnpacksAChunkAfterItsWork) {
  roc::transfer::download_and_wait(work);
  for (auto const& is_done : work.is_done) EXPECT_TRUE(is_done);
  EXPECT_FALSE(work.is_early);
  expect_streams();
}

// Only one host function is enqueued, because those of all streams may share a thread.
TEST(ParallelStagingOfOneChunk, DoesNotWaitForTheSecondStream) {
  slow_work held(true, 2, false);
  held.held_chunk = 1;
  auto const other = std::async(std::launch::async, [&] { roc::transfer::upload_and_wait(held); });
  while (!held.is_held) std::this_thread::yield();
  slow_work const one(true, 1, false);
  auto const upload = std::async(std::launch::async, [&] { roc::transfer::upload_and_wait(one); });
  EXPECT_EQ(std::future_status::ready, upload.wait_for(std::chrono::seconds(20)));
  held.held_chunk = chunks;
}

// Keeps the threads that pack, and those that enqueue the device steps. The first chunk is packed
// by two threads, unless that takes too long.
class watched_work final : public roc::transfer::staged_work {
 public:
  struct step {
    std::size_t chunk;
    std::thread::id thread;
    roc::detail::native_stream* stream;
  };

  std::size_t chunk_count() const noexcept override { return chunks; }
  std::size_t data_bytes(std::size_t) const noexcept override { return 1024; }
  std::size_t description_bytes(std::size_t) const noexcept override { return 0; }
  std::size_t task_count(std::size_t) const noexcept override { return 4; }
  bool has_kernels() const noexcept override { return false; }
  void pack(std::size_t chunk, std::size_t, std::byte*) const noexcept override {
    std::unique_lock lock(mutex_);
    packing_threads.insert(std::this_thread::get_id());
    changed_.notify_all();
    auto const are_two = [&] { return packing_threads.size() > 1; };
    if (chunk == 0) changed_.wait_for(lock, std::chrono::seconds(20), are_two);
  }
  void unpack(std::size_t, std::size_t, std::byte const*) const noexcept override {}
  void enqueue_device_step(std::size_t chunk,
                           roc::transfer::staging_slot const& slot) const override {
    if (chunk == failing_chunk) throw std::runtime_error("no device memory");
    std::lock_guard const lock(mutex_);
    steps.push_back({chunk, std::this_thread::get_id(), slot.stream.handle()});
  }

  std::size_t failing_chunk = chunks;
  mutable std::set<std::thread::id> packing_threads;
  mutable std::vector<step> steps;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
};

// The handle of the stream means another stream in every other thread.
void expect_steps_on_own_stream(watched_work const& work, std::size_t count) {
  ASSERT_EQ(count, work.steps.size());
  for (std::size_t i = 0; i != count; ++i) {
    EXPECT_EQ(i, work.steps[i].chunk);
    EXPECT_EQ(std::this_thread::get_id(), work.steps[i].thread);
    EXPECT_EQ(roc::per_thread_stream().handle(), work.steps[i].stream);
  }
}

TEST(ParallelStagingOnPerThreadStream, WorkersHelpToPack) {
  roc::scoped_options const scope({.copy_threads = 2});
  watched_work const work;
  roc::transfer::upload_on_stream(work, roc::per_thread_stream());
  EXPECT_LT(1u, work.packing_threads.size());
  expect_steps_on_own_stream(work, chunks);
}

TEST(ParallelStagingOnPerThreadStream, FailureReachesTheCaller) {
  roc::scoped_options const scope({.copy_threads = 2});
  watched_work failing;
  failing.failing_chunk = 2;
  EXPECT_THROW(roc::transfer::upload_on_stream(failing, roc::per_thread_stream()),
               std::runtime_error);
  EXPECT_LT(1u, failing.packing_threads.size());
  expect_steps_on_own_stream(failing, 2);
  watched_work const later;
  roc::transfer::upload_on_stream(later, roc::per_thread_stream());
  expect_steps_on_own_stream(later, chunks);
}

INSTANTIATE_TEST_SUITE_P(, ParallelStaging, testing::Bool(), [](auto const& tested) {
  return tested.param ? "ChunksWithKernelsAlternate" : "ChunksWithoutKernelsShareAStream";
});

}  // namespace
