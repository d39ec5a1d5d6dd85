// SPDX-License-Identifier: MIT
// host_uses and cpu_uses: several streams, foreign and destroyed ones, failing calls of HIP.
#include <roc/native.hpp>
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "memory/host/cpu_uses.hpp"
#include "memory/host/host_uses.hpp"
#include "platform/call.hpp"
#include "runtime/stream_id.hpp"
#include "support/environment.hpp"
#include "support/failing_new.hpp"
#include "support/gate.hpp"

namespace {

using roc::base::byte_range;
using roc::memory::access;
using roc::memory::cpu_uses;
using roc::memory::host_uses;

roc::runtime::stream_id id_of(roc::stream_ref stream) {
  return roc::runtime::stream_id_of(stream, 0);
}

void fail_once(char const* call) {
  ASSERT_TRUE(roc::platform::fail_call(call, 1, hipErrorLaunchFailure));
}

// Adds 1 to `count`, in the order of a stream.
void enqueue_count(roc::stream_ref stream, std::atomic<int>& count) {
  ROCARRAY_HIP(
      hipLaunchHostFunc, roc::native(stream),
      [](void* counted) { ++*static_cast<std::atomic<int>*>(counted); }, &count);
}

class HostUses : public testing::Test {
 protected:
  void SetUp() override {
    previous_hook_ = roc::set_log_hook([](char const*) noexcept {});
  }
  void TearDown() override {
    roc::platform::clear_failures();
    roc::set_log_hook(previous_hook_);
  }

  // Returns a copy of the uses.
  roc::runtime::stream_uses uses() const {
    roc::runtime::stream_uses result;
    uses_.add_to(result, false);
    return result;
  }

  roc::log_hook previous_hook_ = nullptr;
  host_uses uses_;
  std::atomic<int> count_ = 0;
};

TEST_F(HostUses, WaitQuietlyBlocksUntilTheReadsAndWritesOfAllStreamsHaveFinished) {
  roc::stream const first, second;
  hipStream_t foreign = nullptr;
  ROCARRAY_HIP(hipStreamCreateWithFlags, &foreign, hipStreamNonBlocking);
  for (roc::stream_ref const stream : {roc::stream_ref(first), roc::stream_ref(second),
                                       roc::from_native(foreign), roc::stream_ref()}) {
    enqueue_count(stream, count_);
    uses_.record(id_of(stream), stream == first ? access::write : access::read);
  }
  {
    roc::stream const destroyed;
    enqueue_count(destroyed, count_);
    uses_.record(id_of(destroyed), access::write);
  }
  EXPECT_TRUE(uses_.wait_quietly());
  EXPECT_EQ(5, count_);
  EXPECT_TRUE(uses().empty());
  ROCARRAY_HIP(hipStreamDestroy, foreign);
}

TEST_F(HostUses, AreKeptIfAQueryOfACopyFails) {
  roc::stream const stream;
  enqueue_count(stream, count_);
  uses_.record(id_of(stream), access::read);
  roc::runtime::stream_uses copied = uses();
  copied.record_events();
  fail_once("hipEventQuery");
  EXPECT_THROW(copied.remove_finished(), roc::error);
  EXPECT_FALSE(copied.empty());
  EXPECT_TRUE(uses_.wait_quietly());
  EXPECT_EQ(1, count_);
}

TEST_F(HostUses, WaitQuietlyWaitsInAnotherWayIfEventsFail) {
  roc::stream const first, second;
  for (auto const* const call : {"hipEventCreateWithFlags", "hipEventRecord", "hipEventSynchronize",
                                 "hipStreamSynchronize"}) {
    count_ = 0;
    for (auto const* stream : {&first, &second}) {
      enqueue_count(*stream, count_);
      uses_.record(id_of(*stream), access::write);
    }
    fail_once("hipEventRecord");
    fail_once(call);
    EXPECT_TRUE(uses_.wait_quietly()) << call;
    EXPECT_EQ(2, count_) << call;
  }
}

TEST_F(HostUses, WaitQuietlyReturnsFalseIfEveryWayToWaitFails) {
  roc::stream const stream;
  enqueue_count(stream, count_);
  uses_.record(id_of(stream), access::write);
  for (auto const* const call :
       {"hipEventRecord", "hipStreamSynchronize", "hipDeviceSynchronize"}) {
    fail_once(call);
  }
  EXPECT_FALSE(uses_.wait_quietly());
  EXPECT_TRUE(uses_.wait_quietly());
  EXPECT_EQ(1, count_);
}

// Without memory for a copy of the uses, they are awaited in place.
TEST_F(HostUses, WaitQuietlyReturnsFalseIfReadsOrWritesCannotBeAwaitedWithoutMemory) {
  if (!roc::test::on_cpu()) GTEST_SKIP() << "only HIP on the CPU survives failures of new";
  roc::stream const stream;
  for (access const kind : {access::read, access::write}) {
    enqueue_count(stream, count_);
    uses_.record(id_of(stream), kind);
    for (auto const* const call :
         {"hipEventRecord", "hipStreamSynchronize", "hipDeviceSynchronize"}) {
      fail_once(call);
    }
    roc::test::fail_new_of_all_threads(1, true);
    bool const has_waited = uses_.wait_quietly();
    roc::test::stop_failing_new();
    EXPECT_FALSE(has_waited) << (kind == access::read ? "reads" : "writes");
    roc::platform::clear_failures();
    EXPECT_TRUE(uses_.wait_quietly());
  }
  EXPECT_EQ(2, count_);
}

TEST_F(HostUses, ThreadsMayRecordAndWait) {
  roc::stream const streams[3];
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 100; ++k) {
        uses_.record(id_of(streams[i]), k % 2 == 0 ? access::read : access::write);
        roc::runtime::stream_uses copied;
        uses_.add_to(copied, k % 3 == 0);
        copied.wait();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_TRUE(uses_.wait_quietly());
}

using CpuUses = HostUses;

TEST_F(CpuUses, OverlapIsExact) {
  cpu_uses writes;
  roc::stream const stream;
  writes.record({{300, 400}, {100, 200}, {150, 250}}, id_of(stream));
  auto const overlaps = [&](byte_range range) {
    roc::runtime::stream_uses found;
    writes.add_overlapping({&range, 1}, found);
    return !found.empty();
  };
  EXPECT_TRUE(overlaps({0, 101}));
  EXPECT_TRUE(overlaps({249, 250}));
  EXPECT_TRUE(overlaps({240, 310}));
  EXPECT_TRUE(overlaps({399, 500}));
  EXPECT_FALSE(overlaps({0, 100}));
  EXPECT_FALSE(overlaps({250, 300}));
  EXPECT_FALSE(overlaps({400, 500}));
}

TEST_F(CpuUses, FinishedUsesDoNotAccumulate) {
  cpu_uses writes;
  roc::stream const stream;
  for (std::uintptr_t i = 1; i <= 100; ++i) {
    writes.record({{i, i + 1}}, id_of(stream));
    stream.synchronize();
  }
  EXPECT_LE(writes.count(), 1u);
}

TEST_F(CpuUses, AreKeptIfAQueryFails) {
  cpu_uses writes;
  roc::stream const stream;
  for (std::uintptr_t i = 1; i <= 4; ++i) {
    enqueue_count(stream, count_);
    writes.record({{i, i + 1}}, id_of(stream));
  }
  std::size_t const before = writes.count();
  fail_once("hipEventQuery");
  EXPECT_THROW(writes.record({{9, 10}}, id_of(stream)), roc::error);
  EXPECT_EQ(before, writes.count());
  roc::runtime::stream_uses found;
  byte_range const all{1, 10};
  writes.add_overlapping({&all, 1}, found);
  found.wait();
  EXPECT_EQ(4, count_);
}

}  // namespace
