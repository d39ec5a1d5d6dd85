// SPDX-License-Identifier: MIT
// The order in which the driver serves transfers. One thread runs all tasks, and each chunk is one
// task, so that the order is known.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/options.hpp"
#include "copy/staging/staging_driver.hpp"

namespace {

using roc::runtime::progress_counters;
using roc::transfer::driven_transfer;
using roc::transfer::staging_driver;
using roc::transfer::staging_slot;

constexpr std::size_t chunks = 4;

// The names of the transfers whose chunks were packed or unpacked, in this order.
struct service_log {
  std::string served;  // written by the driver's thread
  std::atomic<std::size_t> count = 0;
  std::atomic<bool> is_held = true;  // the first chunk of all is not complete
};

class named_work final : public roc::transfer::staged_work {
 public:
  named_work(char name, std::size_t chunk_bytes, service_log& log)
      : name_(name), chunk_bytes_(chunk_bytes), log_(log) {}

  std::size_t chunk_count() const noexcept override { return chunks; }
  std::size_t data_bytes(std::size_t) const noexcept override { return chunk_bytes_; }
  std::size_t description_bytes(std::size_t) const noexcept override { return 0; }
  std::size_t task_count(std::size_t) const noexcept override { return 1; }
  void pack(std::size_t, std::size_t, std::byte*) const noexcept override { serve(); }
  void unpack(std::size_t, std::size_t, std::byte const*) const noexcept override { serve(); }
  bool enqueue_upload(std::size_t, staging_slot const&, bool) const override { return true; }
  void enqueue_download(std::size_t, staging_slot const&) const override {}

 private:
  void serve() const noexcept {
    log_.served.push_back(name_);
    bool const is_held = log_.is_held;
    ++log_.count;  // after the last chunk, the log may be destroyed
    while (is_held && log_.is_held) std::this_thread::yield();
  }

  char name_;
  std::size_t chunk_bytes_;
  service_log& log_;
};

class StagingDriverOrder : public testing::Test {
 protected:
  void SetUp() override {
    log.served.reserve(100);
    ASSERT_TRUE(staging_driver::instance().start());
  }

  // After a failed expectation, a transfer may be pending.
  void TearDown() override {
    log.is_held = false;
    for (staging_driver::ticket const ticket : tickets_) {
      staging_driver::instance().withdraw(ticket, false);
    }
  }

  // Adds a transfer whose chunks can all begin at once.
  void add(char name, bool is_upload, std::size_t chunk_bytes) {
    progress_counters& own = counters.emplace_back();
    driven_transfer const transfer{
        std::make_shared<named_work>(name, chunk_bytes, log), is_upload, &own, 0, {}, chunks};
    std::atomic_ref<std::uint64_t>(own.device).store(transfer.last_value());
    roc::base::active_options options = roc::base::options();
    options.copy_threads = 0;
    roc::base::options_scope const scope(options);
    tickets_.push_back(staging_driver::instance().add(transfer));
  }

  // Waits until `count` chunks were begun. Returns false if that takes a minute.
  bool wait_for(std::size_t count) const {
    for (int i = 0; i != 60'000 && log.count < count; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return log.count >= count;
  }

  // Returns the names in the order of service, after `count` chunks.
  std::string release(std::size_t count) {
    log.is_held = false;
    bool const is_done = wait_for(count);
    return is_done ? log.served : "too few chunks were served";
  }

  service_log log;
  std::deque<progress_counters> counters;

 private:
  std::vector<staging_driver::ticket> tickets_;
};

TEST_F(StagingDriverOrder, TransfersOfOneDirectionEndOneAfterTheOther) {
  add('a', true, 1);
  ASSERT_TRUE(wait_for(1));
  add('b', true, 1);
  add('c', true, 1);
  EXPECT_EQ(3u * chunks, staging_driver::instance().pending_bytes());
  EXPECT_EQ("aaaabbbbcccc", release(3 * chunks));
}

TEST_F(StagingDriverOrder, DirectionsAlternate) {
  add('u', true, 1);
  ASSERT_TRUE(wait_for(1));
  add('v', true, 1);
  add('d', false, 1);
  add('e', false, 1);
  EXPECT_EQ(
      "udududud"
      "veveveve",
      release(4 * chunks));
}

// The second transfer does not wait until the first, long one is complete.
TEST_F(StagingDriverOrder, TurnOfALongTransferEnds) {
  constexpr std::size_t half_turn = roc::transfer::value_staging::turn_bytes / 2;
  add('a', false, half_turn);
  ASSERT_TRUE(wait_for(1));
  add('b', false, half_turn);
  EXPECT_EQ("aabbaabb", release(2 * chunks));
}

TEST_F(StagingDriverOrder, ChunksOfATurnMayBeSmall) {
  constexpr std::size_t third_of_turn = roc::transfer::value_staging::turn_bytes / 3 + 1;
  add('a', false, third_of_turn);
  ASSERT_TRUE(wait_for(1));
  add('b', false, third_of_turn);
  EXPECT_EQ("aaabbbab", release(2 * chunks));
}

TEST_F(StagingDriverOrder, NothingIsPendingAfterTheLastChunk) {
  add('a', true, 5);
  ASSERT_TRUE(wait_for(1));
  EXPECT_EQ(5u * chunks, staging_driver::instance().pending_bytes());
  EXPECT_EQ("aaaa", release(chunks));
  for (int i = 0; i != 60'000 && staging_driver::instance().pending_bytes() != 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(0u, staging_driver::instance().pending_bytes());
}

}  // namespace
