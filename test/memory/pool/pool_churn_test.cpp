// SPDX-License-Identifier: MIT
// Many allocations of random size and lifetime on several streams: the memory that the pool
// reserves stays bounded.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <vector>

#include "support/environment.hpp"
#include "support/trim.hpp"

namespace {

TEST(PoolResource, ReservedMemoryStaysBoundedUnderRandomLoad) {
  // Fewer on the CPU, to keep the tests short.
  std::size_t const rounds = roc::test::on_cpu() ? 50'000 : 1'000'000;
  std::size_t const max_live_bytes =
      roc::test::on_cpu() ? std::size_t{24} << 20 : std::size_t{1} << 30;
  struct block {
    void* data;
    std::size_t bytes;
    std::size_t stream;
  };
  roc::hip_memory_resource hip_resource;
  roc::pool_resource pool(hip_resource);
  roc::stream const streams[4];
  auto random = roc::test::random_generator("ReservedMemoryStaysBoundedUnderRandomLoad");
  std::uniform_real_distribution<double> exponent(8, roc::test::on_cpu() ? 22 : 26);
  std::vector<block> live;
  std::size_t live_bytes = 0;
  std::size_t reserved_at_half_time = 0;
  for (std::size_t i = 0; i < rounds; ++i) {
    block const next{nullptr, static_cast<std::size_t>(std::exp2(exponent(random))), random() % 4};
    while (!live.empty() && (live_bytes + next.bytes > max_live_bytes || random() % 2 == 0)) {
      std::swap(live[random() % live.size()], live.back());
      block const freed = live.back();
      live.pop_back();
      pool.deallocate(freed.data, freed.bytes, streams[freed.stream]);
      live_bytes -= freed.bytes;
    }
    live.push_back(next);
    live.back().data = pool.allocate(next.bytes, streams[next.stream]);
    live_bytes += next.bytes;
    if (i == rounds / 2) reserved_at_half_time = pool.statistics().reserved_bytes;
  }
  auto const statistics = pool.statistics();
  std::printf("peak %zu MiB, reserved %zu MiB (%zu MiB at half time), fragmentation %.2f\n",
              statistics.peak_bytes >> 20, statistics.reserved_bytes >> 20,
              reserved_at_half_time >> 20, statistics.fragmentation());
  EXPECT_LE(statistics.reserved_bytes, 2 * reserved_at_half_time);
  EXPECT_LE(statistics.reserved_bytes, 6 * statistics.peak_bytes);
  for (block const& b : live) pool.deallocate(b.data, b.bytes, streams[b.stream]);
  roc::device().synchronize();
  roc::test::trim_to(pool, 0);
  EXPECT_EQ(0u, pool.statistics().current_bytes);
  EXPECT_EQ(0u, pool.statistics().reserved_bytes);
}

}  // namespace
