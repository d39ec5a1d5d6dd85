// SPDX-License-Identifier: MIT
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "platform/call.hpp"
#include "support/gate.hpp"

namespace {

TEST(StreamPoolGet, ReturnsStreamsInRoundRobinOrder) {
  roc::stream_pool pool(3);
  EXPECT_EQ(3u, pool.size());
  std::vector<roc::stream_ref> const seen{pool.get(), pool.get(), pool.get(), pool.get()};
  EXPECT_NE(seen[0], seen[1]);
  EXPECT_NE(seen[1], seen[2]);
  EXPECT_NE(seen[0], seen[2]);
  EXPECT_EQ(seen[0], seen[3]);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(seen[i % 3], pool.get(i));
}

TEST(StreamPool, ThrowsErrorForZeroStreams) {
  try {
    roc::stream_pool const pool(0);
    FAIL();
  } catch (roc::error const& error) {
    EXPECT_EQ(std::errc::invalid_argument, error.code());
    std::string const text = error.what();
    EXPECT_TRUE(text.starts_with("stream_pool at stream_pool_test.cpp:")) << text;
    EXPECT_TRUE(text.ends_with(": a stream pool cannot have 0 streams; create it with 1 or more"))
        << text;
  }
}

TEST(StreamPool, FailedConstructionKeepsItsNativeStreamsForLaterStreams) {
  // A priority that no other test uses, so that no native stream is kept for it.
  int const priority = roc::device().stream_priorities().greatest;
  ASSERT_NE(0, priority);
  roc::platform::fail_call("hipStreamCreateWithPriority", 3, hipErrorOutOfMemory);
  EXPECT_THROW(roc::stream_pool(4, priority), roc::out_of_memory);
  roc::device().synchronize();
  roc::platform::fail_call("hipStreamCreateWithPriority", 1, hipErrorOutOfMemory);
  EXPECT_NO_THROW(roc::stream_pool(2, priority));
  roc::device().synchronize();
  EXPECT_THROW(roc::stream_pool(3, priority), roc::out_of_memory);
  roc::platform::clear_failures();
}

TEST(StreamPool, NonBlockingStreamsRunConcurrently) {
  roc::test::gate hold;
  roc::stream_pool pool(2, roc::non_blocking);
  EXPECT_EQ(roc::detail::stream_kind::non_blocking, pool.get().kind());
  hold.close(pool.get(0));
  // An event, not a host function: the gate is a host function, and CUDA runs one at a time.
  roc::event reached;
  reached.record(pool.get(1));
  reached.synchronize();
  hold.open();
}

TEST(StreamPoolSynchronize, WaitsForAllStreamsAndRethrows) {
  roc::stream_pool pool(3);
  std::vector<int> done(3);
  for (std::size_t i = 0; i < 3; ++i) {
    pool.get(i).launch_host_function([&done, i] { done[i] = 1; });
  }
  pool.synchronize();
  EXPECT_EQ((std::vector<int>{1, 1, 1}), done);
  pool.get(1).launch_host_function([] { throw std::runtime_error("in the pool"); });
  EXPECT_THROW(pool.synchronize(), std::runtime_error);
  EXPECT_NO_THROW(pool.synchronize());
}

TEST(StreamPoolGet, UsesStreamsEvenlyFromManyThreads) {
  roc::stream_pool pool(4);
  std::mutex mutex;
  std::map<roc::detail::native_stream*, int> uses;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 100; ++k) {
        auto const stream = pool.get();
        std::lock_guard const lock(mutex);
        ++uses[stream.handle()];
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(4u, uses.size());
  for (auto const& [stream, count] : uses) EXPECT_EQ(200, count);
}

}  // namespace
