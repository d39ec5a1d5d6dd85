// SPDX-License-Identifier: MIT
// Many allocations of random size and life over several streams: what the pool holds stays bounded.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <vector>

#include "support/environment.hpp"

namespace {

TEST(PoolChurn, DeviceMemoryStaysFlat) {
  // A million on a device; fewer where every run counts.
  std::size_t const rounds = roc::test::on_cpu() ? 50'000 : 1'000'000;
  std::size_t const live_at_most = roc::test::on_cpu() ? std::size_t{24} << 20 : std::size_t{1} << 30;
  struct block {
    void* data;
    std::size_t bytes;
    std::size_t stream;
  };
  roc::hip_memory_resource direct;
  roc::pool_resource pool(direct);
  roc::stream const streams[4];
  auto random = roc::test::random_generator("DeviceMemoryStaysFlat");
  std::uniform_real_distribution<double> exponent(8, roc::test::on_cpu() ? 22 : 26);
  std::vector<block> live;
  std::size_t live_bytes = 0;
  std::size_t reserved_early = 0;
  for (std::size_t i = 0; i < rounds; ++i) {
    block const made{nullptr, static_cast<std::size_t>(std::exp2(exponent(random))), random() % 4};
    while (!live.empty() && (live_bytes + made.bytes > live_at_most || random() % 2 == 0)) {
      std::swap(live[random() % live.size()], live.back());
      block const gone = live.back();
      live.pop_back();
      pool.deallocate(gone.data, gone.bytes, streams[gone.stream]);
      live_bytes -= gone.bytes;
    }
    live.push_back(made);
    live.back().data = pool.allocate(made.bytes, streams[made.stream]);
    live_bytes += made.bytes;
    if (i == rounds / 2) reserved_early = pool.statistics().reserved_bytes;
  }
  auto const now = pool.statistics();
  std::printf("peak %zu MiB, reserved %zu MiB (%zu MiB half-way), fragmentation %.2f\n",
              now.peak_bytes >> 20, now.reserved_bytes >> 20, reserved_early >> 20,
              now.fragmentation());
  EXPECT_LE(now.reserved_bytes, 2 * reserved_early);
  EXPECT_LE(now.reserved_bytes, 6 * now.peak_bytes);
  for (block const& each : live) pool.deallocate(each.data, each.bytes, streams[each.stream]);
  for (auto const& stream : streams) stream.synchronize();
  pool.trim();
  roc::device().synchronize();
  pool.trim();
  EXPECT_EQ(0u, pool.statistics().current_bytes);
  EXPECT_EQ(0u, pool.statistics().reserved_bytes);
}

}  // namespace
