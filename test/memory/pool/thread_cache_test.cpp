// SPDX-License-Identifier: MIT
// The caches of a thread: one for each stream and pool, found again without a new one.
#include "memory/pool/thread_cache.hpp"

#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <list>
#include <memory>
#include <thread>

#include "runtime/stream_id.hpp"

namespace {

using roc::memory::thread_cache;
using roc::runtime::stream_id;

class owner final : public roc::memory::thread_cache_owner {
 public:
  int acquired = 0;
  int released = 0;

 private:
  thread_cache& acquire_cache(stream_id const& stream) override {
    ++acquired;
    caches_.emplace_back();
    caches_.back().stream = stream;
    return caches_.back();
  }
  void release_cache(thread_cache&) noexcept override { ++released; }
  bool is_closed() const noexcept override { return false; }

  std::list<thread_cache> caches_;
};

TEST(ThreadCache, IsKeptForEachStream) {
  auto const pool = std::make_shared<owner>();
  roc::stream const first;
  roc::stream const second;
  thread_cache* const of_first = pool->cache_of_thread(first, 0);
  thread_cache* const of_second = pool->cache_of_thread(second, 0);
  ASSERT_NE(nullptr, of_first);
  ASSERT_NE(nullptr, of_second);
  EXPECT_NE(of_first, of_second);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(of_first, pool->cache_of_thread(first, 0));
    EXPECT_EQ(of_second, pool->cache_of_thread(roc::runtime::stream_id_of(second)));
    EXPECT_EQ(of_first, pool->cache_of_thread(roc::runtime::stream_id_of(first)));
  }
  EXPECT_EQ(2, pool->acquired);
}

TEST(ThreadCache, BelongsToOnePoolAndOneThread) {
  auto const pool = std::make_shared<owner>();
  auto const other_pool = std::make_shared<owner>();
  roc::stream const stream;
  thread_cache* const cache = pool->cache_of_thread(stream, 0);
  EXPECT_NE(cache, other_pool->cache_of_thread(stream, 0));
  std::thread([&] { EXPECT_NE(cache, pool->cache_of_thread(stream, 0)); }).join();
  EXPECT_EQ(2, pool->acquired);
  EXPECT_EQ(1, pool->released) << "that of the thread that has ended";
  EXPECT_EQ(1, other_pool->acquired);
}

TEST(ThreadCache, IsNotFoundForADestroyedStream) {
  auto const pool = std::make_shared<owner>();
  stream_id id;
  {
    roc::stream const stream;
    id = roc::runtime::stream_id_of(stream);
    EXPECT_NE(nullptr, pool->cache_of_thread(id));
  }
  EXPECT_EQ(nullptr, pool->cache_of_thread(id));
}

}  // namespace
