// SPDX-License-Identifier: MIT
// The blocks of a pool of staging memory: which one a buffer gets, and what it waits for.
#include "copy/staging/staging_pool.hpp"

#include <roc/native.hpp>
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <future>
#include <string_view>
#include <system_error>

#include "platform/call.hpp"
#include "runtime/default_stream_sync.hpp"
#include "runtime/stream_handle.hpp"
#include "support/call_counter.hpp"
#include "support/gate.hpp"
#include "support/options.hpp"

namespace {

using roc::test::gate;
using roc::transfer::staging_pool;
using access = staging_pool::access;

constexpr std::size_t alignment = 4096;  // of buffers
constexpr std::size_t block_bytes = 16 * alignment;

// Two blocks.
roc::test::program_options const options_of_tests([]() -> roc::options {
  return {.staging_limit = 2 * block_bytes, .staging_block = block_bytes};
});

std::atomic<int> allocations = 0;

// Memory that is never freed, as that of the library's own pools. Nothing accesses it.
void* allocate(std::size_t bytes) {
  alignas(alignment) static std::array<std::byte, 64 * block_bytes> memory;
  EXPECT_EQ(block_bytes, bytes);
  return memory.data() + static_cast<std::size_t>(allocations++ % 64) * block_bytes;
}

std::atomic<int> device_synchronizations = 0;

void count_synchronizations(roc::platform::call_record const& record) {
  if (std::string_view(record.name) == "hipDeviceSynchronize") ++device_synchronizations;
}

class StagingPool : public testing::Test {
 protected:
  void SetUp() override {
    roc::device().synchronize();
    allocations = 0;
    device_synchronizations = 0;
    roc::platform::set_call_hook(&count_synchronizations);
  }
  void TearDown() override { roc::platform::set_call_hook(nullptr); }

  staging_pool pool{block_bytes, staging_pool::client::user_upload, &allocate};
  roc::stream stream{roc::non_blocking};
  roc::stream other{roc::non_blocking};
};

TEST_F(StagingPool, BuffersShareABlockWhileTheyFit) {
  auto const first = pool.acquire(1, stream);
  auto const second = pool.acquire(alignment + 1, stream);
  auto const third = pool.acquire(block_bytes - 3 * alignment, stream);
  EXPECT_EQ(first->data() + alignment, second->data());
  EXPECT_EQ(second->data() + 2 * alignment, third->data());
  EXPECT_EQ(1, allocations);
  auto const fourth = pool.acquire(1, stream);
  EXPECT_EQ(2, allocations);
  EXPECT_EQ(nullptr, pool.try_acquire(block_bytes, stream));
  EXPECT_EQ(2, allocations);
}

bool is_memory_exhausted = false;

void* allocate_unless_exhausted(std::size_t bytes) {
  if (is_memory_exhausted) {
    throw roc::out_of_memory(std::make_error_code(std::errc::not_enough_memory), "for a test");
  }
  return allocate(bytes);
}

TEST_F(StagingPool, FailedAllocationAddsNoBlock) {
  staging_pool failing(block_bytes, staging_pool::client::user_upload, &allocate_unless_exhausted);
  is_memory_exhausted = true;
  EXPECT_THROW(static_cast<void>(failing.acquire(1, stream)), roc::out_of_memory);
  is_memory_exhausted = false;
  auto const first = failing.acquire(block_bytes, stream);
  is_memory_exhausted = true;
  EXPECT_EQ(nullptr, failing.try_acquire(1, stream));
  is_memory_exhausted = false;
  EXPECT_NE(nullptr, failing.try_acquire(1, stream));
  EXPECT_EQ(2, allocations);
}

TEST_F(StagingPool, BlockThatWasUsedLongestAgoIsReusedFirst) {
  auto first = pool.acquire(block_bytes, stream);
  auto second = pool.acquire(block_bytes, stream);
  std::byte* const first_block = first->data();
  std::byte* const second_block = second->data();
  first.reset();
  second.reset();
  stream.synchronize();
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(first_block, pool.acquire(block_bytes, stream)->data());
    stream.synchronize();
    EXPECT_EQ(second_block, pool.acquire(block_bytes, stream)->data());
    stream.synchronize();
  }
  EXPECT_EQ(2, allocations);
}

TEST_F(StagingPool, WaitsForABufferOfAnotherThread) {
  auto first = pool.acquire(block_bytes, stream);
  auto const second = pool.acquire(block_bytes, stream);
  std::byte* const first_block = first->data();
  auto waiting =
      std::async(std::launch::async, [&] { return pool.acquire(block_bytes, other)->data(); });
  EXPECT_EQ(std::future_status::timeout, waiting.wait_for(std::chrono::milliseconds(50)));
  first.reset();
  EXPECT_EQ(first_block, waiting.get());
  EXPECT_EQ(0, device_synchronizations) << "it waits for the buffer, not for the device";
}

TEST_F(StagingPool, WaitsForTheWorkOfTheOldestBlock) {
  gate first_work;
  gate second_work;
  roc::stream third(roc::non_blocking);
  first_work.close(stream);
  // On AMD host functions run one at a time, so that the second must not begin before the first.
  roc::event first_is_done;
  first_is_done.record(stream);
  other.wait(first_is_done);
  second_work.close(other);
  auto first = pool.acquire(block_bytes, stream);
  auto second = pool.acquire(block_bytes, other);
  std::byte* const first_block = first->data();
  first.reset();
  second.reset();
  auto waiting =
      std::async(std::launch::async, [&] { return pool.acquire(block_bytes, third)->data(); });
  if (roc::test::run_mode() == roc::test::mode::threaded) {
    EXPECT_EQ(std::future_status::timeout, waiting.wait_for(std::chrono::milliseconds(50)));
  }
  first_work.open();
  EXPECT_EQ(std::future_status::ready, waiting.wait_for(std::chrono::seconds(20)));
  second_work.open();
  EXPECT_EQ(first_block, waiting.get());
  EXPECT_EQ(0, device_synchronizations) << "it waits for a block, not for the device";
}

TEST_F(StagingPool, WorkOfTheSameStreamMayReuseABlockAtOnce) {
  if (roc::test::run_mode() != roc::test::mode::threaded) {
    GTEST_SKIP() << "only in mode threaded work is pending until a gate opens";
  }
  gate work;
  work.close(stream);
  roc::device_array<int> array(std::size_t{1000}, stream);
  array.zero(stream);
  auto first = pool.acquire(block_bytes, stream, access::stream_ordered);
  auto const second = pool.acquire(block_bytes, stream, access::stream_ordered);
  std::byte* const first_block = first->data();
  first.reset();
  EXPECT_EQ(nullptr, pool.try_acquire(block_bytes, stream, access::immediate));
  EXPECT_EQ(nullptr, pool.try_acquire(block_bytes, other, access::stream_ordered));
  auto const reused = pool.try_acquire(block_bytes / 2, stream, access::stream_ordered);
  ASSERT_NE(nullptr, reused);
  EXPECT_EQ(first_block, reused->data());
  // The rest of the block is for work of this stream alone.
  EXPECT_EQ(nullptr, pool.try_acquire(256, stream, access::immediate));
  EXPECT_EQ(nullptr, pool.try_acquire(256, other, access::stream_ordered));
  auto const rest = pool.try_acquire(256, stream, access::stream_ordered);
  ASSERT_NE(nullptr, rest);
  EXPECT_EQ(first_block + block_bytes / 2, rest->data());
  work.open();
}

// Another stream may get the handle of a foreign stream that was destroyed, and then looks the
// same.
TEST_F(StagingPool, BufferForAForeignStreamWaitsForEarlierWorkInItsBlock) {
  if (roc::test::run_mode() != roc::test::mode::threaded) {
    GTEST_SKIP() << "only in mode threaded work is pending until a gate opens";
  }
  hipStream_t native = nullptr;
  ROCARRAY_HIP(hipStreamCreateWithFlags, &native, hipStreamNonBlocking);
  {
    roc::stream_ref const foreign = roc::from_native(native);
    gate work;
    work.close(foreign);
    auto first = pool.acquire(block_bytes, foreign, access::stream_ordered);
    auto const second = pool.acquire(block_bytes, foreign, access::stream_ordered);
    first.reset();
    auto const reused = pool.try_acquire(block_bytes / 2, foreign, access::stream_ordered);
    ASSERT_NE(nullptr, reused);
    roc::test::call_counter const waits("hipStreamWaitEvent");
    auto const rest = pool.try_acquire(256, foreign, access::stream_ordered);
    ASSERT_NE(nullptr, rest);
    EXPECT_LT(0, waits.count());
    work.open();
  }
  ROCARRAY_HIP(hipStreamSynchronize, native);
  ROCARRAY_HIP(hipStreamDestroy, native);
}

TEST_F(StagingPool, AbandonedBlocksComeBackOnceTheDeviceIsIdle) {
  for (int i = 0; i < 2; ++i) {
    auto const buffer = pool.acquire(block_bytes, stream);
    roc::runtime::abandoned_waits.fetch_add(1);
    buffer->abandon();
  }
  EXPECT_EQ(2, allocations);
  EXPECT_EQ(nullptr, pool.try_acquire(block_bytes, stream));
  EXPECT_EQ(0, device_synchronizations);
  auto const first = pool.acquire(block_bytes, stream);
  EXPECT_LT(0, device_synchronizations);
  EXPECT_NE(nullptr, pool.try_acquire(block_bytes, stream)) << "both blocks are usable again";
  EXPECT_EQ(2, allocations);
}

// A pool that has a usable block does not itself wait for the device.
TEST_F(StagingPool, AbandonedBlockIsUsedAgainAfterAnotherCallerWaited) {
  std::byte* abandoned = nullptr;
  {
    auto const buffer = pool.acquire(block_bytes, stream);
    abandoned = buffer->data();
    roc::runtime::abandoned_waits.fetch_add(1);
    buffer->abandon();
  }
  auto const rest = pool.acquire(block_bytes, stream);
  EXPECT_NE(abandoned, rest->data());
  EXPECT_EQ(nullptr, pool.try_acquire(block_bytes, stream));
  ASSERT_TRUE(roc::runtime::wait_for_abandoned_work());
  auto const again = pool.try_acquire(block_bytes, stream);
  ASSERT_NE(nullptr, again);
  EXPECT_EQ(abandoned, again->data());
}

TEST_F(StagingPool, SynchronizationOfAllDevicesRecoversAbandonedBlocks) {
  {
    auto const buffer = pool.acquire(block_bytes, stream);
    roc::runtime::abandoned_waits.fetch_add(1);
    buffer->abandon();
  }
  auto const rest = pool.acquire(block_bytes, stream);
  for (int i = 0; i != roc::device::count(); ++i) {
    EXPECT_EQ(nullptr, pool.try_acquire(block_bytes, stream));
    roc::device(i).synchronize();
  }
  EXPECT_NE(nullptr, pool.try_acquire(block_bytes, stream));
}

// The wait that recovers a block says nothing about work that is enqueued with another buffer of
// the block after it.
TEST_F(StagingPool, RecoveredBlockStillWaitsForItsOtherBuffers) {
  auto const full = pool.acquire(block_bytes, stream);
  auto abandoned = pool.acquire(alignment, stream);
  auto pending = pool.acquire(alignment, other);
  roc::runtime::abandoned_waits.fetch_add(1);
  abandoned->abandon();
  abandoned.reset();
  ASSERT_TRUE(roc::runtime::wait_for_abandoned_work());
  gate work;
  work.close(other);
  pending.reset();
  if (roc::test::run_mode() == roc::test::mode::threaded && gate::holds()) {
    EXPECT_EQ(nullptr, pool.try_acquire(block_bytes, stream));
  }
  work.open();
  EXPECT_NE(nullptr, pool.acquire(block_bytes, stream));
}

TEST_F(StagingPool, BlocksWhoseWorkCannotBeAwaitedAreNotReusedBeforeTheDeviceIsIdle) {
  gate work;
  work.close(stream);
  {
    auto const first = pool.acquire(block_bytes, stream);
    auto const second = pool.acquire(block_bytes, stream);
  }
  auto const log = roc::set_log_hook([](char const*) noexcept {});
  for (char const* const call :
       {"hipEventSynchronize", "hipStreamSynchronize", "hipDeviceSynchronize"}) {
    ASSERT_TRUE(
        roc::platform::fail_call(call, 1, hipErrorUnknown, roc::platform::failing_uses::all_later));
  }
  bool const is_pending = roc::test::run_mode() == roc::test::mode::threaded && gate::holds();
  if (is_pending) {
    EXPECT_THROW(static_cast<void>(pool.acquire(block_bytes, other)), roc::out_of_memory);
  }
  roc::platform::clear_failures();
  roc::set_log_hook(log);
  if (is_pending) {
    EXPECT_EQ(nullptr, pool.try_acquire(block_bytes, other));
  }
  device_synchronizations = 0;
  work.open();
  EXPECT_NE(nullptr, pool.acquire(block_bytes, other));
  if (is_pending) {
    EXPECT_LT(0, device_synchronizations);
  }
  EXPECT_EQ(2, allocations);
}

}  // namespace
