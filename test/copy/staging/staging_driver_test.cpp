// SPDX-License-Identifier: MIT
// The turns of the CPU and the device in a transfer by values. The test is the device: it writes
// the device's counter, and reads the CPU's.
#include "copy/staging/staging_driver.hpp"

#include <roc/options.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "support/options.hpp"

namespace {

using namespace std::chrono_literals;
using roc::runtime::progress_counters;
using roc::transfer::driven_transfer;
using roc::transfer::staging_driver;
using roc::transfer::staging_slot;

roc::test::program_options const options_of_tests([]() -> roc::options {
  return {.copy_threads = 2};
});

constexpr std::size_t chunks = 5;
constexpr std::size_t tasks = 3;
constexpr std::size_t slots = 2;
constexpr std::uint64_t first_value = 7;

// Counts its tasks.
class counted_work final : public roc::transfer::staged_work {
 public:
  std::size_t chunk_count() const noexcept override { return chunks; }
  std::size_t data_bytes(std::size_t) const noexcept override { return chunk_bytes; }
  std::size_t description_bytes(std::size_t) const noexcept override { return 0; }
  std::size_t task_count(std::size_t) const noexcept override { return tasks; }
  bool has_kernels() const noexcept override { return false; }
  void pack(std::size_t chunk, std::size_t task, std::byte* data) const noexcept override {
    count(chunk, task, data);
    ++packed;
  }
  void unpack(std::size_t chunk, std::size_t task, std::byte const* data) const noexcept override {
    count(chunk, task, data);
    ++unpacked;
  }
  void enqueue_device_step(std::size_t, staging_slot const&) const override {}

  // Returns true if the tasks of the first `count` chunks have run once, in their slots, and no
  // other task has run.
  bool has_run_chunks(std::size_t count) const {
    for (std::size_t chunk = 0; chunk != chunks; ++chunk) {
      for (std::atomic<int> const& runs : runs_[chunk]) {
        if (runs != (chunk < count ? 1 : 0)) return false;
      }
    }
    return wrong_slots == 0;
  }

  std::array<std::byte, slots + 1> memory{};
  std::size_t slot_count = slots;
  std::size_t chunk_bytes = 1;
  mutable std::atomic<int> packed = 0;
  mutable std::atomic<int> unpacked = 0;
  mutable std::atomic<int> wrong_slots = 0;
  mutable std::atomic<bool> is_held = false;  // the first task of the first chunk does not end

 private:
  void count(std::size_t chunk, std::size_t task, std::byte const* data) const noexcept {
    if (data != &memory[chunk % slot_count]) ++wrong_slots;
    ++runs_[chunk][task];
    while (chunk == 0 && task == 0 && is_held) std::this_thread::yield();
  }

  mutable std::array<std::array<std::atomic<int>, tasks>, chunks> runs_{};
};

template <class Condition>
bool becomes_true(Condition condition) {
  for (int i = 0; i != 20'000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(1ms);
  }
  return false;
}

class StagingDriver : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(driver.start()); }
  // After a failed expectation, a transfer may be pending.
  void TearDown() override {
    work->is_held = false;
    for (staging_driver::ticket const ticket : tickets_) driver.withdraw(ticket, false);
  }

  driven_transfer transfer_of(std::shared_ptr<counted_work> const& counted, bool is_upload) {
    driven_transfer result;
    result.work = counted;
    result.is_upload = is_upload;
    result.counters = &counters;
    result.first_value = first_value;
    result.slot_count = counted->slot_count;
    for (std::size_t i = 0; i != counted->slot_count; ++i) result.slots[i] = &counted->memory[i];
    return result;
  }
  static void announce(progress_counters& target, std::uint64_t value) {
    std::atomic_ref<std::uint64_t>(target.device).store(value, std::memory_order_release);
  }
  static void announce_on_second_stream(progress_counters& target, std::uint64_t value) {
    std::atomic_ref<std::uint64_t>(target.second_device).store(value, std::memory_order_release);
  }
  static std::uint64_t cpu_value(progress_counters& target) {
    return std::atomic_ref<std::uint64_t>(target.cpu).load(std::memory_order_acquire);
  }
  // Returns true if the CPU announces the value, and no larger one for some time.
  static bool stops_at(progress_counters& target, std::uint64_t value) {
    if (!becomes_true([&] { return cpu_value(target) >= value; })) return false;
    std::this_thread::sleep_for(5ms);
    return cpu_value(target) == value;
  }
  // Announces the chunks of a download as the device does: a chunk arrives in its slot after the
  // CPU has unpacked the chunk before it in that slot. Returns true once the CPU has unpacked the
  // last.
  static bool deliver(driven_transfer const& transfer, std::size_t first_chunk = 0) {
    progress_counters& target = *transfer.counters;
    for (std::size_t chunk = first_chunk; chunk != chunks; ++chunk) {
      bool const is_slot_free = chunk < slots || becomes_true([&] {
                                  return cpu_value(target) >= transfer.cpu_done(chunk - slots);
                                });
      if (!is_slot_free) return false;
      announce(target, transfer.device_done(chunk));
    }
    return becomes_true([&] { return cpu_value(target) >= transfer.cpu_done(chunks - 1); });
  }
  staging_driver::ticket add(driven_transfer const& transfer) {
    tickets_.push_back(driver.add(transfer));
    return tickets_.back();
  }

  // Earlier transfers are complete.
  progress_counters counters{
      .device = first_value, .second_device = first_value, .cpu = first_value};
  progress_counters other_counters{};
  std::shared_ptr<counted_work> const work = std::make_shared<counted_work>();
  staging_driver& driver = staging_driver::instance();

 private:
  std::vector<staging_driver::ticket> tickets_;
};

TEST_F(StagingDriver, UploadPacksAChunkOnceItsSlotHasBeenRead) {
  driven_transfer const transfer = transfer_of(work, true);
  add(transfer);
  EXPECT_TRUE(stops_at(counters, first_value)) << "the user's stream has not reached the copy";
  announce(counters, transfer.started());
  for (std::size_t packed = slots; packed <= chunks; ++packed) {
    EXPECT_TRUE(stops_at(counters, transfer.cpu_done(packed - 1)));
    EXPECT_TRUE(work->has_run_chunks(packed));
    if (packed != chunks) announce(counters, transfer.device_done(packed - slots));
  }
  EXPECT_EQ(static_cast<int>(chunks * tasks), work->packed);
}

TEST_F(StagingDriver, DownloadUnpacksAChunkOnceItHasArrived) {
  driven_transfer const transfer = transfer_of(work, false);
  add(transfer);
  EXPECT_TRUE(stops_at(counters, first_value));
  for (std::size_t chunk = 0; chunk != chunks; ++chunk) {
    announce(counters, transfer.device_done(chunk));
    EXPECT_TRUE(stops_at(counters, transfer.cpu_done(chunk)));
    EXPECT_TRUE(work->has_run_chunks(chunk + 1));
  }
  EXPECT_EQ(static_cast<int>(chunks * tasks), work->unpacked);
}

// The second stream may be ahead of the first one.
TEST_F(StagingDriver, DownloadOnTwoStreamsUnpacksInTheOrderOfChunks) {
  driven_transfer transfer = transfer_of(work, false);
  transfer.stream_count = 2;
  add(transfer);
  announce_on_second_stream(counters, transfer.device_done(1));
  EXPECT_TRUE(stops_at(counters, first_value)) << "the first stream has not done chunk 0";
  announce(counters, transfer.device_done(0));
  EXPECT_TRUE(stops_at(counters, transfer.cpu_done(1)));
  announce(counters, transfer.device_done(2));
  EXPECT_TRUE(stops_at(counters, transfer.cpu_done(2)));
  announce(counters, transfer.device_done(4));
  EXPECT_TRUE(stops_at(counters, transfer.cpu_done(2)));
  announce_on_second_stream(counters, transfer.device_done(3));
  EXPECT_TRUE(stops_at(counters, transfer.cpu_done(4)));
  EXPECT_TRUE(work->has_run_chunks(chunks));
}

TEST_F(StagingDriver, UploadOnTwoStreamsPacksAChunkOnceItsSlotHasBeenRead) {
  driven_transfer transfer = transfer_of(work, true);
  transfer.stream_count = 2;
  add(transfer);
  announce_on_second_stream(counters, transfer.device_done(1));
  EXPECT_TRUE(stops_at(counters, first_value)) << "the user's stream has not reached the copy";
  announce(counters, transfer.started());
  EXPECT_TRUE(stops_at(counters, transfer.cpu_done(slots - 1)));
  announce(counters, transfer.device_done(0));
  EXPECT_TRUE(stops_at(counters, transfer.cpu_done(slots + 1)));
  announce(counters, transfer.device_done(2));
  EXPECT_TRUE(stops_at(counters, transfer.cpu_done(chunks - 1)));
  EXPECT_TRUE(work->has_run_chunks(chunks));
}

// With three slots, both streams use each of them.
TEST_F(StagingDriver, UploadOnTwoStreamsUsesAnOddNumberOfSlots) {
  work->slot_count = 3;
  driven_transfer transfer = transfer_of(work, true);
  transfer.stream_count = 2;
  add(transfer);
  announce(counters, transfer.started());
  EXPECT_TRUE(stops_at(counters, transfer.cpu_done(2)));
  announce_on_second_stream(counters, transfer.device_done(1));
  EXPECT_TRUE(stops_at(counters, transfer.cpu_done(2))) << "the next slot is that of chunk 0";
  announce(counters, transfer.device_done(0));
  EXPECT_TRUE(stops_at(counters, transfer.cpu_done(chunks - 1)));
  EXPECT_TRUE(work->has_run_chunks(chunks));
}

TEST_F(StagingDriver, TransferIsServedWhileAnotherStreamIsBusy) {
  driven_transfer const busy = transfer_of(work, false);
  add(busy);
  auto const other_work = std::make_shared<counted_work>();
  driven_transfer other = transfer_of(other_work, false);
  other.counters = &other_counters;
  other.first_value = 0;
  add(other);
  EXPECT_TRUE(deliver(other));
  EXPECT_TRUE(other_work->has_run_chunks(chunks));
  EXPECT_TRUE(work->has_run_chunks(0));
  EXPECT_TRUE(deliver(busy));
  EXPECT_TRUE(work->has_run_chunks(chunks));
}

// A chunk whose tasks are done is not announced before an earlier one.
TEST_F(StagingDriver, ChunksAreAnnouncedInOrder) {
  driven_transfer const transfer = transfer_of(work, false);
  work->is_held = true;
  add(transfer);
  announce(counters, transfer.device_done(1));
  EXPECT_TRUE(becomes_true([&] { return work->unpacked == 2 * tasks - 1; }));
  EXPECT_TRUE(stops_at(counters, first_value));
  work->is_held = false;
  EXPECT_TRUE(stops_at(counters, transfer.cpu_done(1)));
  EXPECT_TRUE(deliver(transfer, 2));
  EXPECT_TRUE(work->has_run_chunks(chunks));
}

TEST_F(StagingDriver, WithdrawnTransferAccessesNoMemory) {
  driven_transfer const transfer = transfer_of(work, false);
  staging_driver::ticket const ticket = add(transfer);
  announce(counters, transfer.device_done(0));
  EXPECT_TRUE(stops_at(counters, transfer.cpu_done(0)));
  driver.withdraw(ticket, false);
  announce(counters, transfer.last_value());
  EXPECT_TRUE(stops_at(counters, transfer.cpu_done(0)));
  EXPECT_TRUE(work->has_run_chunks(1));
  EXPECT_EQ(2, work.use_count()) << "only this test and `transfer` own the work";
}

TEST_F(StagingDriver, WithdrawnTransferReleasesTheWaitsAfterEarlierTransfers) {
  driven_transfer const earlier = transfer_of(work, false);
  add(earlier);
  auto const later_work = std::make_shared<counted_work>();
  driven_transfer later = transfer_of(later_work, false);
  later.first_value = earlier.last_value();
  driver.withdraw(add(later), true);
  EXPECT_TRUE(stops_at(counters, first_value)) << "the earlier transfer is pending";
  EXPECT_TRUE(deliver(earlier));
  EXPECT_TRUE(stops_at(counters, later.last_value()));
  EXPECT_TRUE(work->has_run_chunks(chunks));
  EXPECT_TRUE(later_work->has_run_chunks(0));
}

// The later transfer is short, and comes first in the list.
TEST_F(StagingDriver, EarlierWithdrawnTransferReleasesTheWaitsOfALaterOne) {
  work->chunk_bytes = roc::transfer::value_staging::turn_bytes;
  driven_transfer const earlier = transfer_of(work, false);
  staging_driver::ticket const ticket = add(earlier);
  driven_transfer later = transfer_of(std::make_shared<counted_work>(), false);
  later.first_value = earlier.last_value();
  driver.withdraw(add(later), true);
  EXPECT_TRUE(stops_at(counters, first_value)) << "the earlier transfer is pending";
  driver.withdraw(ticket, true);
  EXPECT_TRUE(stops_at(counters, later.last_value()));
}

TEST_F(StagingDriver, WithdrawalOfAllTransfersReleasesTheirWaits) {
  driven_transfer const first = transfer_of(work, false);
  add(first);
  announce(counters, first.device_done(0));
  EXPECT_TRUE(stops_at(counters, first.cpu_done(0)));
  driven_transfer second = transfer_of(std::make_shared<counted_work>(), true);
  second.first_value = first.last_value();
  add(second);
  driven_transfer other = transfer_of(std::make_shared<counted_work>(), true);
  other.counters = &other_counters;
  other.first_value = 0;
  add(other);
  driver.withdraw_all();
  EXPECT_EQ(0u, driver.pending_bytes(false));
  EXPECT_EQ(0u, driver.pending_bytes(true));
  EXPECT_EQ(second.last_value(), cpu_value(counters));
  EXPECT_EQ(other.last_value(), cpu_value(other_counters));
  EXPECT_TRUE(work->has_run_chunks(1));
}

// The thread whose call has failed withdraws its transfer while another one withdraws all.
TEST_F(StagingDriver, SeveralThreadsMayWithdrawATransferWhoseTaskRuns) {
  for (std::uint64_t round = 0; round != 20; ++round) {
    auto const held = std::make_shared<counted_work>();
    held->is_held = true;
    driven_transfer transfer = transfer_of(held, false);
    transfer.first_value = first_value + round * chunks;
    staging_driver::ticket const ticket = add(transfer);
    announce(counters, transfer.device_done(0));
    EXPECT_TRUE(becomes_true([&] { return held->unpacked == tasks - 1; }));
    {
      std::jthread const first([&] { driver.withdraw(ticket, true); });
      std::jthread const second([&] { driver.withdraw_all(); });
      EXPECT_TRUE(becomes_true([&] { return driver.pending_bytes(false) == 0; }));
      held->is_held = false;
    }
    EXPECT_EQ(transfer.last_value(), cpu_value(counters));
  }
}

TEST_F(StagingDriver, TransferIsPendingUntilItIsComplete) {
  EXPECT_EQ(0u, driver.pending_bytes(true));
  EXPECT_EQ(0u, driver.pending_bytes(false));
  driven_transfer const transfer = transfer_of(work, false);
  add(transfer);
  EXPECT_EQ(chunks, driver.pending_bytes(false));
  EXPECT_EQ(0u, driver.pending_bytes(true));
  EXPECT_TRUE(deliver(transfer));
  EXPECT_TRUE(becomes_true([&] { return driver.pending_bytes(false) == 0; }));
  auto const other_work = std::make_shared<counted_work>();
  driven_transfer upload = transfer_of(other_work, true);
  upload.counters = &other_counters;
  upload.first_value = 0;
  staging_driver::ticket const ticket = add(upload);
  EXPECT_EQ(chunks, driver.pending_bytes(true));
  EXPECT_EQ(0u, driver.pending_bytes(false));
  driver.withdraw(ticket, false);
  EXPECT_EQ(0u, driver.pending_bytes(true));
}

TEST_F(StagingDriver, WithdrawalOfACompleteTransferDoesNothing) {
  driven_transfer const transfer = transfer_of(work, false);
  staging_driver::ticket const ticket = add(transfer);
  EXPECT_TRUE(deliver(transfer));
  driver.withdraw(ticket, true);
  EXPECT_EQ(transfer.cpu_done(chunks - 1), cpu_value(counters));
}

}  // namespace
