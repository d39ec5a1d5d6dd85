// SPDX-License-Identifier: MIT
// Several threads pack or unpack one chunk: the device waits for it, and the last one has nobody to
// overlap with.
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include <gtest/gtest.h>

#include "copy/staging/staged.hpp"

namespace {

constexpr std::size_t chunk_count = 3;
constexpr std::size_t share_count = 2;

// No share ends before another one of the same chunk has begun.
class shares_that_meet final : public roc::transfer::staged_work {
 public:
  std::size_t chunks() const noexcept override { return chunk_count; }
  std::size_t data_bytes(std::size_t) const noexcept override { return 1024; }
  std::size_t description_bytes(std::size_t) const noexcept override { return 0; }
  std::size_t shares(std::size_t) const noexcept override { return share_count; }
  void pack(std::size_t chunk, std::size_t share, std::byte*) const noexcept override {
    meet(chunk, share);
  }
  void unpack(std::size_t chunk, std::size_t share, std::byte const*) const noexcept override {
    meet(chunk, share);
  }
  bool send(std::size_t chunk, roc::transfer::stage const&, bool) const override {
    ++sent[chunk];
    complete = complete && begun[chunk] == share_count;
    return true;
  }
  void fetch(std::size_t chunk, roc::transfer::stage const&) const override { ++sent[chunk]; }

  mutable std::array<std::atomic<int>, chunk_count> sent{};
  mutable std::array<std::array<std::atomic<int>, share_count>, chunk_count> done{};
  mutable std::array<std::size_t, chunk_count> begun{};  // under the lock
  mutable std::atomic<bool> complete = true;
  mutable std::atomic<bool> alone = false;

 private:
  void meet(std::size_t chunk, std::size_t share) const noexcept {
    std::unique_lock held(mutex_);
    ++begun[chunk];
    changed_.notify_all();
    if (!changed_.wait_for(held, std::chrono::seconds(20),
                           [&] { return begun[chunk] == share_count; })) {
      alone = true;
    }
    ++done[chunk][share];
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
};

void expect_each_done_once(shares_that_meet const& work) {
  EXPECT_FALSE(work.alone);
  for (std::size_t chunk = 0; chunk != chunk_count; ++chunk) {
    EXPECT_EQ(1, work.sent[chunk]) << chunk;
    for (std::size_t share = 0; share != share_count; ++share) {
      EXPECT_EQ(1, work.done[chunk][share]) << chunk << ", " << share;
    }
  }
}

}  // namespace

TEST(OpenChunks, SeveralThreadsPackOne) {
  shares_that_meet const work;
  roc::transfer::upload_now(work);
  expect_each_done_once(work);
  EXPECT_TRUE(work.complete) << "a chunk was sent before all of it was packed";
}

TEST(OpenChunks, SeveralThreadsUnpackOne) {
  shares_that_meet const work;
  roc::transfer::download_now(work);
  expect_each_done_once(work);
}
