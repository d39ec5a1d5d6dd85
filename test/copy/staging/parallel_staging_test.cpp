// SPDX-License-Identifier: MIT
// The streams of transfers without a stream of the program.
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include <roc/roc.hpp>

#include "copy/staging/parallel_staging.hpp"

namespace {

constexpr std::size_t chunks = 5;

// The device work of a chunk takes some time. Keeps the streams of the chunks.
class slow_work final : public roc::transfer::staged_work {
 public:
  explicit slow_work(bool has_kernels) : has_kernels_(has_kernels) {}

  std::size_t chunk_count() const noexcept override { return chunks; }
  std::size_t data_bytes(std::size_t) const noexcept override { return 1024; }
  std::size_t description_bytes(std::size_t) const noexcept override { return 0; }
  std::size_t task_count(std::size_t) const noexcept override { return 1; }
  bool has_kernels() const noexcept override { return has_kernels_; }
  void pack(std::size_t, std::size_t, std::byte*) const noexcept override {}
  void unpack(std::size_t chunk, std::size_t, std::byte const*) const noexcept override {
    if (!is_done[chunk]) is_early = true;
  }
  bool enqueue_upload(std::size_t chunk, roc::transfer::staging_slot const& slot,
                      bool) const override {
    enqueue_download(chunk, slot);
    return true;
  }
  void enqueue_download(std::size_t chunk, roc::transfer::staging_slot const& slot) const override {
    {
      std::lock_guard const lock(mutex_);
      streams[chunk % 2].insert(slot.stream.handle());
    }
    slot.stream.launch_host_function([this, chunk] {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      is_done[chunk] = true;
    });
  }

  mutable std::array<std::set<roc::detail::native_stream*>, 2> streams;  // of even and odd chunks
  mutable std::array<std::atomic<bool>, chunks> is_done{};
  mutable std::atomic<bool> is_early = false;

 private:
  bool has_kernels_;
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

TEST_P(ParallelStaging, DownloadUnpacksAChunkAfterItsWork) {
  roc::transfer::download_and_wait(work);
  for (auto const& is_done : work.is_done) EXPECT_TRUE(is_done);
  EXPECT_FALSE(work.is_early);
  expect_streams();
}

INSTANTIATE_TEST_SUITE_P(, ParallelStaging, testing::Bool(), [](auto const& tested) {
  return tested.param ? "ChunksWithKernelsAlternate" : "ChunksWithoutKernelsShareAStream";
});

}  // namespace
