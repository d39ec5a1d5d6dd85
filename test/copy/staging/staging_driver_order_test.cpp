// SPDX-License-Identifier: MIT
// The order in which the driver serves transfers. One thread runs all tasks, so that the order is
// known.
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

// The names of the transfers whose tasks have run, in this order.
struct service_log {
  std::string served;  // written by the driver's thread
  std::atomic<std::size_t> count = 0;
  std::atomic<std::size_t> first_held = 1;  // the first task that does not end
};

class named_work final : public roc::transfer::staged_work {
 public:
  named_work(char name, std::size_t chunk_bytes, std::size_t tasks, service_log& log)
      : name_(name), chunk_bytes_(chunk_bytes), tasks_(tasks), log_(log) {}

  std::size_t chunk_count() const noexcept override { return chunks; }
  std::size_t data_bytes(std::size_t) const noexcept override { return chunk_bytes_; }
  std::size_t description_bytes(std::size_t) const noexcept override { return 0; }
  std::size_t task_count(std::size_t) const noexcept override { return tasks_; }
  bool has_kernels() const noexcept override { return false; }
  void pack(std::size_t, std::size_t, std::byte*) const noexcept override { serve(); }
  void unpack(std::size_t, std::size_t, std::byte const*) const noexcept override { serve(); }
  void enqueue_device_step(std::size_t, staging_slot const&) const override {}

 private:
  void serve() const noexcept {
    log_.served.push_back(name_);
    std::size_t const task = ++log_.count;
    while (log_.first_held <= task) std::this_thread::yield();
  }

  char name_;
  std::size_t chunk_bytes_;
  std::size_t tasks_;  // of a chunk
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
    log.first_held = SIZE_MAX;
    for (staging_driver::ticket const ticket : tickets_) {
      staging_driver::instance().withdraw(ticket, false);
    }
  }

  // Adds a transfer whose chunks can all begin.
  void add(char name, bool is_upload, std::size_t chunk_bytes) {
    set_ready(add_pending(name, is_upload, chunk_bytes));
  }
  // Adds a transfer whose chunks can begin after set_ready.
  driven_transfer add_pending(char name, bool is_upload, std::size_t chunk_bytes,
                              std::size_t tasks = 1) {
    progress_counters& own = counters.emplace_back();
    driven_transfer const transfer{std::make_shared<named_work>(name, chunk_bytes, tasks, log),
                                   is_upload,
                                   &own,
                                   0,
                                   {},
                                   chunks};
    roc::base::active_options options = roc::base::options();
    options.copy_threads = 0;
    roc::base::options_scope const scope(options);
    tickets_.push_back(staging_driver::instance().add(transfer));
    return transfer;
  }
  void withdraw_last() { staging_driver::instance().withdraw(tickets_.back(), true); }
  static void set_ready(driven_transfer const& transfer) {
    std::atomic_ref<std::uint64_t>(transfer.counters->device).store(transfer.last_value());
  }

  // Waits until `count` tasks were begun. Returns false if that takes a minute.
  bool wait_for(std::size_t count) const {
    for (int i = 0; i != 60'000 && log.count < count; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return log.count >= count;
  }

  // Returns the names in the order of service, after `count` tasks.
  std::string release(std::size_t count) {
    log.first_held = SIZE_MAX;
    bool const is_done = wait_for(count);
    return is_done ? log.served : "too few tasks were served";
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
  add('d', false, 1);
  EXPECT_EQ(3u * chunks, staging_driver::instance().pending_bytes(true));
  EXPECT_EQ(1u * chunks, staging_driver::instance().pending_bytes(false));
  EXPECT_EQ("adadadadbbbbcccc", release(4 * chunks));
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

// The device can begin a chunk only after its last task.
TEST_F(StagingDriverOrder, BegunChunkIsServedFirst) {
  driven_transfer const earlier = add_pending('a', true, 1);
  driven_transfer const opposite = add_pending('d', false, 1);
  set_ready(add_pending('b', true, 1, 3));
  ASSERT_TRUE(wait_for(1));
  set_ready(earlier);
  set_ready(opposite);
  EXPECT_EQ(
      "bbb"
      "dadadada"
      "bbbbbbbbb",
      release(5 * chunks));
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

// Between two turns of a long transfer, short ones of at most one turn are placed before it: the
// last two come after a turn of 'a'.
TEST_F(StagingDriverOrder, ShortTransferPassesLongOnes) {
  constexpr std::size_t third_of_turn = roc::transfer::value_staging::turn_bytes / 3 + 1;
  constexpr std::size_t short_chunk = roc::transfer::value_staging::turn_bytes / 2 / chunks;
  add('a', true, third_of_turn);
  ASSERT_TRUE(wait_for(1));
  add('b', true, third_of_turn);
  add('d', false, short_chunk);
  for (char const name : {'w', 'x', 'y', 'z'}) add(name, true, short_chunk);
  std::string uploads = release(7 * chunks);
  std::erase(uploads, 'd');
  EXPECT_EQ("awwwwxxxxaabbbyyyyzzzzab", uploads);
}

TEST_F(StagingDriverOrder, ShortTransfersPassALongOneAgainAfterItsTurn) {
  constexpr std::size_t turn = roc::transfer::value_staging::turn_bytes;
  add('a', true, turn / 2);
  ASSERT_TRUE(wait_for(1));
  add('w', true, turn / chunks);
  constexpr std::size_t end_of_turn = 1 + chunks + 1;
  log.first_held = end_of_turn;
  ASSERT_TRUE(wait_for(end_of_turn));
  add('x', true, turn / chunks);
  EXPECT_EQ("awwwwaxxxxaa", release(3 * chunks));
}

TEST_F(StagingDriverOrder, WithdrawnTransferIsNotPending) {
  add('a', true, 1);
  ASSERT_TRUE(wait_for(1));
  add_pending('b', true, 7);
  add_pending('c', true, 3, 2);
  EXPECT_EQ(11u * chunks, staging_driver::instance().pending_bytes(true));
  for (int i = 0; i != 2; ++i) {
    withdraw_last();
    EXPECT_EQ(8u * chunks, staging_driver::instance().pending_bytes(true));
  }
  EXPECT_EQ("aaaa", release(chunks));
}

}  // namespace
