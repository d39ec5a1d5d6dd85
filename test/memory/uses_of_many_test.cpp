// SPDX-License-Identifier: MIT
// What the host table says of many ranges at once is what it says of each.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "memory/host/host_table.hpp"
#include "support/environment.hpp"

namespace {

using roc::memory::host_table;
using roc::base::byte_range;

std::pair<bool, bool> kinds(host_table::use_of_memory of) { return {of.pinned, of.managed}; }

// Between, within and across arrays of all kinds, and registered parts of some.
TEST(UsesOfMany, AreThoseOfEach) {
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
  for (auto const& each : arrays) known.push_back(byte_range::of(each.data(), count));
  known.push_back(byte_range::of(unknown.data(), unknown.size()));
  known.push_back(byte_range::of(partly.data(), partly.size()));
  known.push_back(byte_range::of(partly.data() + count, count));

  auto random = roc::test::random_generator("UsesOfMany.AreThoseOfEach");
  std::vector<byte_range> where;
  for (int i = 0; i != 4000; ++i) {
    byte_range const of = known[random() % known.size()];
    for (int k = 0; k != 3; ++k) {
      std::uintptr_t const begin = of.begin + random() % of.bytes();
      where.push_back({begin, begin + 1 + random() % 9000});  // beyond the end too
    }
  }
  auto const uses = table.about_to_use(where, true);
  ASSERT_EQ(where.size(), uses.size());
  for (std::size_t i = 0; i != where.size(); ++i) {
    auto const expected = kinds(table.about_to_use(where[i], true));
    EXPECT_EQ(expected, kinds(uses[i])) << i;
    // What holds for all parts holds for the whole.
    if (auto const parts = table.about_to_use_parts(where[i], true)) {
      EXPECT_EQ(expected, kinds(*parts)) << i;
    }
  }
  EXPECT_TRUE(table.about_to_use_parts(known[0], true).has_value());
  EXPECT_TRUE(table.about_to_use_parts(known[2], true).value().pinned);
  EXPECT_FALSE(table.about_to_use_parts(known[4], true).value().pinned);
  EXPECT_FALSE(table.about_to_use_parts(known[5], true).has_value()) << "in part registered";
}

TEST(UsesOfMany, NoneAnswersForWhatMayNotBeWritten) {
  std::vector<int> memory(5000);
  roc::registration_options options;
  options.read_only = true;
  std::optional<roc::registration> registered;
  try {
    registered.emplace(roc::register_host(options, memory));
  } catch (roc::error const& error) {
    GTEST_SKIP() << "this platform registers nothing for reading only: " << error.what();
  }
  auto const& table = host_table::instance();
  byte_range const whole = byte_range::of(memory.data(), memory.size() * sizeof(int));
  std::vector<byte_range> const parts(3, {whole.begin + 8, whole.begin + 16});
  EXPECT_TRUE(table.about_to_use_parts(whole, false).has_value());
  EXPECT_FALSE(table.about_to_use_parts(whole, true).has_value());
  EXPECT_NO_THROW(static_cast<void>(table.about_to_use(parts, false)));
  EXPECT_THROW(static_cast<void>(table.about_to_use(parts, true)), roc::registration_error);
}

}  // namespace
