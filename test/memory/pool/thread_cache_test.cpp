// SPDX-License-Identifier: MIT
// The caches of a thread: one for each stream and pool, found again without a new one.
#include "memory/pool/thread_cache.hpp"

#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <iterator>
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

TEST(ThreadCache, BelongsToTheDefaultStreamOfOneDevice) {
  auto const pool = std::make_shared<owner>();
  roc::stream_ref const of_second(nullptr, 1, roc::detail::stream_kind::default_stream);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(0, pool->cache_of_thread(roc::stream_ref(), 0)->stream.device());
    EXPECT_EQ(1, pool->cache_of_thread(of_second, 0)->stream.device());
  }
  EXPECT_EQ(2, pool->acquired);
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

TEST(ThreadCache, KeepsTheLargeBlocksThatWereFreedLast) {
  struct large_block {
    explicit large_block(std::size_t pages) : span(nullptr, 0, pages) {
      span.block_bytes = span.bytes();
      block.span = &span;
    }
    roc::memory::pool_span span;
    roc::memory::pool_block block;
  };
  std::list<large_block> blocks;
  for (std::size_t const pages : {20, 30, 40, 30, 50, 60}) blocks.emplace_back(pages);
  auto const block = [&](std::ptrdiff_t i) { return &std::next(blocks.begin(), i)->block; };
  auto const bytes = [](std::size_t pages) { return pages * roc::memory::page_bytes; };
  thread_cache cache;
  EXPECT_EQ(nullptr, cache.pop_large());
  for (std::ptrdiff_t i = 0; i != 4; ++i) EXPECT_EQ(nullptr, cache.push_large(*block(i)));
  EXPECT_EQ(bytes(20 + 30 + 40 + 30), cache.bytes);
  EXPECT_EQ(block(0), cache.push_large(*block(4)));
  EXPECT_EQ(nullptr, cache.take(bytes(20)));
  EXPECT_EQ(nullptr, cache.take(bytes(41)));
  EXPECT_EQ(block(3), cache.take(bytes(30)));  // the one freed later
  EXPECT_EQ(block(1), cache.take(bytes(29) + 1));
  EXPECT_EQ(nullptr, cache.take(bytes(30)));
  EXPECT_EQ(nullptr, cache.push_large(*block(5)));
  EXPECT_EQ(bytes(60 + 50 + 40), cache.bytes);
  EXPECT_EQ(block(5), cache.pop_large());
  EXPECT_EQ(block(4), cache.pop_large());
  EXPECT_EQ(block(2), cache.pop_large());
  EXPECT_EQ(nullptr, cache.pop_large());
  EXPECT_EQ(0u, cache.bytes);
}

}  // namespace
