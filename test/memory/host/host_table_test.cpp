// SPDX-License-Identifier: MIT
// host_table: queries of many ranges at once return what queries of each range return.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "memory/host/host_table.hpp"
#include "support/environment.hpp"

namespace {

using roc::base::byte_range;
using roc::memory::host_table;

std::array<bool, 4> as_array(host_table::host_memory_properties properties) {
  return {properties.pinned, properties.managed, properties.partly_pinned, properties.read_only};
}

// Uses ranges between, inside and across arrays of several kinds, and a registered part of a
// vector.
TEST(HostTable, QueryOfManyRangesEqualsQueriesOfEach) {
  auto const& table = host_table::instance();
  constexpr std::size_t count = std::size_t{64} << 10;
  std::vector<roc::host_array<std::byte>> arrays;
  for (auto const kind : {roc::host_memory::pageable, roc::host_memory::pinned}) {
    for (int i = 0; i != 2; ++i) arrays.emplace_back(roc::shape<1>{count}, roc::order::c, kind);
  }
  std::vector<std::byte> unknown(4 * count), partly(4 * count);
  auto const registered =
      roc::register_host(roc::host_view(partly.data() + count, roc::shape<1>{count}));
  std::vector<byte_range> known;
  for (auto const& array : arrays) known.push_back(byte_range::of(array.data(), count));
  known.push_back(byte_range::of(unknown.data(), unknown.size()));
  known.push_back(byte_range::of(partly.data(), partly.size()));
  known.push_back(byte_range::of(partly.data() + count, count));

  auto random = roc::test::random_generator("HostTable.QueryOfManyRangesEqualsQueriesOfEach");
  std::vector<byte_range> queried;
  for (int i = 0; i != 4000; ++i) {
    byte_range const range = known[random() % known.size()];
    for (int k = 0; k != 3; ++k) {
      std::uintptr_t const begin = range.begin + random() % range.bytes();
      queried.push_back({begin, begin + 1 + random() % 9000});  // some end after the range
    }
  }
  auto const properties = table.query_access(queried, true);
  ASSERT_EQ(queried.size(), properties.size());
  for (std::size_t i = 0; i != queried.size(); ++i) {
    auto const expected = as_array(table.query_access(queried[i], true));
    EXPECT_EQ(expected, as_array(properties[i])) << i;
    // Properties of all parts are those of the whole.
    if (auto const parts = table.query_uniform_access(queried[i], true)) {
      EXPECT_EQ(expected, as_array(*parts)) << i;
    }
  }
  EXPECT_TRUE(table.query_uniform_access(known[0], true).has_value());
  EXPECT_TRUE(table.query_uniform_access(known[2], true).value().pinned);
  EXPECT_FALSE(table.query_uniform_access(known[4], true).value().pinned);
  EXPECT_FALSE(table.query_uniform_access(known[5], true).has_value()) << "registered in part";
}

TEST(HostTable, QueryThrowsIfWrittenMemoryIsReadOnly) {
  std::vector<int> memory(5000);
  roc::registration_options options;
  options.read_only = true;
  std::optional<roc::registration> registered;
  try {
    registered.emplace(roc::register_host(options, memory));
  } catch (roc::error const& error) {
    GTEST_SKIP() << "this platform has no read-only registration: " << error.what();
  }
  auto const& table = host_table::instance();
  byte_range const whole = byte_range::of(memory.data(), memory.size() * sizeof(int));
  std::vector<byte_range> const parts(3, {whole.begin + 8, whole.begin + 16});
  EXPECT_TRUE(table.query_uniform_access(whole, false).has_value());
  EXPECT_FALSE(table.query_uniform_access(whole, true).has_value());
  EXPECT_NO_THROW(static_cast<void>(table.query_access(parts, false)));
  EXPECT_THROW(static_cast<void>(table.query_access(parts, true)), roc::registration_error);
}

}  // namespace
