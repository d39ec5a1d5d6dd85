// SPDX-License-Identifier: MIT
// Where a batch is cut: never between copies that are apart, always between those that meet.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <random>
#include <set>
#include <vector>

#include "support/environment.hpp"
#include "copy/batch/batch.hpp"

namespace {

using roc::transfer::batch;
using roc::transfer::independent_groups;
using groups = std::vector<std::size_t>;

template <class S, class D>
void add(batch& contents, S const& source, D const& destination) {
  contents.add(roc::detail::side_of(source).region(), roc::detail::side_of(destination).region());
}

auto piece(std::vector<std::uint8_t>& memory, std::size_t first, std::size_t count) {
  return roc::host_view(memory.data() + first, roc::shape<1>{count});
}

TEST(IndependentGroups, InAnyOrderOfMemory) {
  std::vector<std::uint8_t> from(1000), to(1000);
  std::vector<std::size_t> places(100);
  for (std::size_t i = 0; i != places.size(); ++i) places[i] = 10 * i;
  for (int const order : {0, 1, 2}) {
    if (order == 1) std::reverse(places.begin(), places.end());
    if (order == 2) std::shuffle(places.begin(), places.end(), std::mt19937(3));
    batch contents;
    for (std::size_t const at : places) add(contents, piece(from, at, 10), piece(to, 990 - at, 10));
    EXPECT_EQ(groups{100}, independent_groups(contents));
  }
}

TEST(IndependentGroups, ReadingTheSameIsNoMeeting) {
  std::vector<std::uint8_t> from(10), to(100);
  batch contents;
  for (std::size_t i = 0; i != 10; ++i) add(contents, piece(from, 0, 10), piece(to, 10 * i, 10));
  EXPECT_EQ(groups{10}, independent_groups(contents));
}

TEST(IndependentGroups, WhereTheyMeet) {
  std::vector<std::uint8_t> a(100), b(100);
  batch written_twice;
  add(written_twice, piece(a, 0, 10), piece(b, 0, 10));
  add(written_twice, piece(a, 20, 10), piece(b, 50, 10));
  add(written_twice, piece(a, 10, 10), piece(b, 9, 10));
  EXPECT_EQ((groups{2, 3}), independent_groups(written_twice));

  batch read_after_written;
  add(read_after_written, piece(a, 0, 10), piece(b, 0, 10));
  add(read_after_written, piece(b, 9, 10), piece(a, 50, 10));
  EXPECT_EQ((groups{1, 2}), independent_groups(read_after_written));

  batch written_after_read;
  add(written_after_read, piece(a, 0, 10), piece(b, 0, 10));
  add(written_after_read, piece(b, 20, 10), piece(a, 5, 10));
  EXPECT_EQ((groups{1, 2}), independent_groups(written_after_read));
}

// Tiles, columns and interleaved parts of one array reach into each other's bounds, no more.
TEST(IndependentGroups, TilesAndColumnsOfOneArray) {
  roc::host_array<int, 2> matrix({64, 64});
  std::vector<int> const tile(64), column(64);
  batch tiles, columns;
  for (std::ptrdiff_t i = 0; i != 64; i += 8) {
    for (std::ptrdiff_t j = 0; j != 64; j += 8) {
      auto const to = matrix(roc::slice(i, i + 8), roc::slice(j, j + 8));
      add(tiles, roc::host_view(tile.data(), roc::shape<2>{8, 8}), to);
    }
    add(columns, column, matrix(roc::all, i));
    add(columns, column, matrix(roc::all, i + 1));
  }
  EXPECT_EQ(groups{64}, independent_groups(tiles));
  EXPECT_EQ(groups{16}, independent_groups(columns));
  add(columns, column, matrix(3, roc::all));
  EXPECT_EQ((groups{16, 17}), independent_groups(columns));
}

double seconds_to_group(batch const& contents) {
  auto const begin = std::clock();
  static_cast<void>(independent_groups(contents));
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

// However many there are.
TEST(IndependentGroups, AllPartsOfOneArray) {
  std::size_t const many = roc::test::scaled(4000);
  std::vector<std::uint8_t> memory(8 * many), source(8 * 8 * 8);
  // Columns, in an order that is not that of the memory.
  batch columns;
  for (std::size_t i = 0; i != many; ++i) {
    add(columns, piece(source, 0, 8),
        roc::host_view(memory.data() + i * 7 % many, roc::shape<1>{8},
                       roc::strides<1>{static_cast<std::ptrdiff_t>(many)}));
  }
  ASSERT_NE(0u, many % 7);
  EXPECT_EQ(groups{many}, independent_groups(columns));
  add(columns, piece(source, 0, 2), piece(memory, many - 1, 2));
  EXPECT_EQ(many + 1, independent_groups(columns).back());
  EXPECT_LT(1u, independent_groups(columns).size());

  // Boxes that fill a cube, every other one turned upside down.
  constexpr std::size_t side = 40, edge = 8;
  roc::host_array<std::uint8_t, 3> cube({side, side, side});
  roc::host_view const box(source.data(), roc::shape<3>{edge, edge, edge});
  batch boxes;
  for (std::size_t i = 0; i != side * side * side / source.size(); ++i) {
    std::size_t const each = side / edge;
    auto const cut = [&](std::size_t at) {
      auto const first = static_cast<std::ptrdiff_t>(at * edge);
      return roc::slice(first, first + static_cast<std::ptrdiff_t>(edge));
    };
    auto const to = cube(cut(i / each / each), cut(i / each % each), cut(i % each));
    if (i % 2 == 0) {
      add(boxes, box, to);
    } else {
      add(boxes, box, to(roc::slice(roc::none, roc::none, -1), roc::all, roc::all));
    }
  }
  EXPECT_EQ(groups{125}, independent_groups(boxes));
  // From one half of an array into the other, element by element.
  batch halves;
  for (std::size_t i = 0; i + 1 < 40; i += 2) {
    auto const at = static_cast<std::ptrdiff_t>(i);
    add(halves, cube(roc::all, roc::all, at), cube(roc::all, roc::all, at + 1));
  }
  EXPECT_EQ(groups{20}, independent_groups(halves));
}

// Time of the CPU for four times as many copies: near four times, not sixteen.
TEST(IndependentGroups, CostGrowsWithTheCopies) {
  std::vector<std::uint8_t> small(8);
  // Many between the elements of a long one.
  auto const beside_a_long_one = [&](std::size_t count) {
    std::vector<std::uint8_t> to(16 * count), from(count);
    batch contents;
    add(contents, from,
        roc::host_view(to.data(), roc::shape<1>{count}, roc::strides<1>{16}));
    for (std::size_t i = 0; i != count; ++i) {
      add(contents, piece(small, 0, 8), piece(to, 16 * i + 4, 8));
    }
    return seconds_to_group(contents);
  };
  // Reads that join what was apart, towards lower addresses; the last copy meets another one.
  auto const joined = [&](std::size_t count) {
    std::vector<std::uint8_t> from(8 * count + 8), to(32 * count + 32);
    batch contents;
    for (std::size_t i = count; i-- != 0;) {
      add(contents, piece(from, 8 * i, 4), piece(to, 32 * i, 4));
      add(contents, piece(from, 8 * i + 2, 8), piece(to, 32 * i + 16, 8));
    }
    add(contents, piece(to, 0, 1), piece(to, 32 * count, 1));
    return seconds_to_group(contents);
  };
  std::size_t const count = roc::test::scaled(20'000);
  double const long_one = beside_a_long_one(count);
  EXPECT_LT(beside_a_long_one(4 * count), 0.2 + 10 * long_one);
  double const few = joined(count / 2);
  EXPECT_LT(joined(2 * count), 0.2 + 10 * few);
}

// Against the bytes themselves: no group has two copies that meet, and where it is known to be
// exact, no cut is needless.
TEST(IndependentGroups, AgainstEveryByte) {
  auto random = roc::test::random_generator("IndependentGroups.AgainstEveryByte");
  std::vector<std::uint8_t> memory(300);
  for (int round = 0; round != 500; ++round) {
    batch contents;
    std::vector<std::set<std::size_t>> reads, writes;
    for (int i = 0; i != 12; ++i) {
      std::size_t const count = 1 + random() % 6;
      std::size_t const step = 1 + random() % 5;
      std::size_t const from = random() % 260;
      std::size_t const to = random() % 260;
      auto const part = [&](std::size_t first) {
        return roc::host_view(memory.data() + first, roc::shape<1>{count},
                              roc::strides<1>{static_cast<std::ptrdiff_t>(step)});
      };
      try {
        add(contents, part(from), part(to));
      } catch (roc::overlap_error const&) {
        continue;
      }
      auto& read = reads.emplace_back();
      auto& written = writes.emplace_back();
      for (std::size_t k = 0; k != count; ++k) {
        read.insert(from + k * step);
        written.insert(to + k * step);
      }
    }
    auto const meet = [](std::set<std::size_t> const& a, std::set<std::size_t> const& b) {
      return std::any_of(a.begin(), a.end(), [&](std::size_t each) { return b.contains(each); });
    };
    groups expected;
    std::size_t first = 0;
    for (std::size_t i = 0; i != writes.size(); ++i) {
      for (std::size_t before = first; before != i; ++before) {
        if (meet(writes[i], writes[before]) || meet(writes[i], reads[before]) ||
            meet(reads[i], writes[before])) {
          expected.push_back(i);
          first = i;
          break;
        }
      }
    }
    expected.push_back(writes.size());
    ASSERT_EQ(expected, independent_groups(contents)) << "round " << round;
  }
}

}  // namespace
