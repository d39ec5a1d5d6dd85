// SPDX-License-Identifier: MIT
// The groups of a batch: a new group begins at each copy that conflicts with its group, and at no
// other copy.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <random>
#include <set>
#include <vector>

#include "copy/batch/batch.hpp"
#include "copy/batch/conflicts.hpp"
#include "support/environment.hpp"

namespace {

using roc::transfer::batch;
using roc::transfer::independent_groups;
using groups = std::vector<std::size_t>;

template <class S, class D>
void add(batch& copies, S const& source, D const& destination) {
  copies.add(roc::detail::operand_of(source).region(),
             roc::detail::operand_of(destination).region());
}

auto range_of(std::vector<std::uint8_t>& memory, std::size_t first, std::size_t count) {
  return roc::host_view(memory.data() + first, roc::shape<1>{count});
}

TEST(IndependentGroups, DisjointCopiesInAnyOrderOfAddressesAreOneGroup) {
  std::vector<std::uint8_t> from(1000), to(1000);
  std::vector<std::size_t> offsets(100);
  for (std::size_t i = 0; i != offsets.size(); ++i) offsets[i] = 10 * i;
  for (int const order : {0, 1, 2}) {
    if (order == 1) std::reverse(offsets.begin(), offsets.end());
    if (order == 2) std::shuffle(offsets.begin(), offsets.end(), std::mt19937(3));
    batch copies;
    for (std::size_t const offset : offsets) {
      add(copies, range_of(from, offset, 10), range_of(to, 990 - offset, 10));
    }
    EXPECT_EQ(groups{100}, independent_groups(copies));
  }
}

TEST(IndependentGroups, CopiesWithTheSameSourceAreOneGroup) {
  std::vector<std::uint8_t> from(10), to(100);
  batch copies;
  for (std::size_t i = 0; i != 10; ++i)
    add(copies, range_of(from, 0, 10), range_of(to, 10 * i, 10));
  EXPECT_EQ(groups{10}, independent_groups(copies));
}

TEST(IndependentGroups, ConflictingCopyBeginsAGroup) {
  std::vector<std::uint8_t> a(100), b(100);
  batch written_twice;
  add(written_twice, range_of(a, 0, 10), range_of(b, 0, 10));
  add(written_twice, range_of(a, 20, 10), range_of(b, 50, 10));
  add(written_twice, range_of(a, 10, 10), range_of(b, 9, 10));
  EXPECT_EQ((groups{2, 3}), independent_groups(written_twice));

  batch read_after_written;
  add(read_after_written, range_of(a, 0, 10), range_of(b, 0, 10));
  add(read_after_written, range_of(b, 9, 10), range_of(a, 50, 10));
  EXPECT_EQ((groups{1, 2}), independent_groups(read_after_written));

  batch written_after_read;
  add(written_after_read, range_of(a, 0, 10), range_of(b, 0, 10));
  add(written_after_read, range_of(b, 20, 10), range_of(a, 5, 10));
  EXPECT_EQ((groups{1, 2}), independent_groups(written_after_read));
}

// The bounding ranges of tiles and columns of one array overlap, but the tiles and columns do not.
TEST(IndependentGroups, TilesAndColumnsOfOneArrayAreOneGroup) {
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

// Returns the smallest of three CPU times: other work and page faults disturb some.
double seconds_to_group(batch const& copies) {
  double smallest = 0;
  for (int i = 0; i != 3; ++i) {
    auto const begin = std::clock();
    static_cast<void>(independent_groups(copies));
    double const seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    if (i == 0 || seconds < smallest) smallest = seconds;
  }
  return smallest;
}

// For any number of copies.
TEST(IndependentGroups, AllColumnsOrBoxesOfOneArrayAreOneGroup) {
  std::size_t const many = roc::test::scaled(4000);
  std::vector<std::uint8_t> memory(8 * many), source(8 * 8 * 8);
  // Columns in an order other than that of their addresses.
  batch columns;
  for (std::size_t i = 0; i != many; ++i) {
    add(columns, range_of(source, 0, 8),
        roc::host_view(memory.data() + i * 7 % many, roc::shape<1>{8},
                       roc::strides<1>{static_cast<std::ptrdiff_t>(many)}));
  }
  ASSERT_NE(0u, many % 7);
  EXPECT_EQ(groups{many}, independent_groups(columns));
  add(columns, range_of(source, 0, 2), range_of(memory, many - 1, 2));
  EXPECT_EQ(many + 1, independent_groups(columns).back());
  EXPECT_LT(1u, independent_groups(columns).size());

  // Boxes that fill a cube, every other one with its first axis reversed.
  constexpr std::size_t side = 40, edge = 8;
  roc::host_array<std::uint8_t, 3> cube({side, side, side});
  roc::host_view const box(source.data(), roc::shape<3>{edge, edge, edge});
  batch boxes;
  for (std::size_t i = 0; i != side * side * side / source.size(); ++i) {
    std::size_t const boxes_per_side = side / edge;
    auto const box_slice = [&](std::size_t box_index) {
      auto const first = static_cast<std::ptrdiff_t>(box_index * edge);
      return roc::slice(first, first + static_cast<std::ptrdiff_t>(edge));
    };
    auto const to =
        cube(box_slice(i / boxes_per_side / boxes_per_side),
             box_slice(i / boxes_per_side % boxes_per_side), box_slice(i % boxes_per_side));
    if (i % 2 == 0) {
      add(boxes, box, to);
    } else {
      add(boxes, box, to(roc::slice(roc::none, roc::none, -1), roc::all, roc::all));
    }
  }
  EXPECT_EQ(groups{125}, independent_groups(boxes));
  // From the even planes of an array to the odd planes.
  batch planes;
  for (std::size_t i = 0; i + 1 < 40; i += 2) {
    auto const plane = static_cast<std::ptrdiff_t>(i);
    add(planes, cube(roc::all, roc::all, plane), cube(roc::all, roc::all, plane + 1));
  }
  EXPECT_EQ(groups{20}, independent_groups(planes));
}

// Four times as many copies take about four times the CPU time, not sixteen times.
TEST(IndependentGroups, CostGrowsLinearlyWithTheNumberOfCopies) {
  std::vector<std::uint8_t> small(8);
  // Many short copies between the elements of a long strided one.
  auto const within_long_copy = [&](std::size_t count) {
    std::vector<std::uint8_t> to(16 * count), from(count);
    batch copies;
    add(copies, from, roc::host_view(to.data(), roc::shape<1>{count}, roc::strides<1>{16}));
    for (std::size_t i = 0; i != count; ++i) {
      add(copies, range_of(small, 0, 8), range_of(to, 16 * i + 4, 8));
    }
    return seconds_to_group(copies);
  };
  // Reads that connect disjoint clusters, towards lower addresses; the last copy conflicts.
  auto const connected = [&](std::size_t count) {
    std::vector<std::uint8_t> from(8 * count + 8), to(32 * count + 32);
    batch copies;
    for (std::size_t i = count; i-- != 0;) {
      add(copies, range_of(from, 8 * i, 4), range_of(to, 32 * i, 4));
      add(copies, range_of(from, 8 * i + 2, 8), range_of(to, 32 * i + 16, 8));
    }
    add(copies, range_of(to, 0, 1), range_of(to, 32 * count, 1));
    return seconds_to_group(copies);
  };
  std::size_t const count = roc::test::scaled(20'000);
  double const seconds_within = within_long_copy(count);
  EXPECT_LT(within_long_copy(4 * count), 0.2 + 10 * seconds_within);
  double const seconds_connected = connected(count / 2);
  EXPECT_LT(connected(2 * count), 0.2 + 10 * seconds_connected);
}

// Compares the groups with those computed from the set of bytes that each copy touches.
TEST(IndependentGroups, RandomCopiesHaveTheGroupsOfTheirBytes) {
  auto random =
      roc::test::random_generator("IndependentGroups.RandomCopiesHaveTheGroupsOfTheirBytes");
  std::vector<std::uint8_t> memory(300);
  for (int round = 0; round != 500; ++round) {
    batch copies;
    std::vector<std::set<std::size_t>> reads, writes;
    for (int i = 0; i != 12; ++i) {
      std::size_t const count = 1 + random() % 6;
      std::size_t const step = 1 + random() % 5;
      std::size_t const from = random() % 260;
      std::size_t const to = random() % 260;
      auto const elements = [&](std::size_t first) {
        return roc::host_view(memory.data() + first, roc::shape<1>{count},
                              roc::strides<1>{static_cast<std::ptrdiff_t>(step)});
      };
      try {
        add(copies, elements(from), elements(to));
      } catch (roc::overlap_error const&) {
        continue;
      }
      auto& read_bytes = reads.emplace_back();
      auto& written_bytes = writes.emplace_back();
      for (std::size_t k = 0; k != count; ++k) {
        read_bytes.insert(from + k * step);
        written_bytes.insert(to + k * step);
      }
    }
    auto const intersect = [](std::set<std::size_t> const& a, std::set<std::size_t> const& b) {
      return std::any_of(a.begin(), a.end(), [&](std::size_t byte) { return b.contains(byte); });
    };
    groups expected;
    std::size_t first = 0;
    for (std::size_t i = 0; i != writes.size(); ++i) {
      for (std::size_t earlier = first; earlier != i; ++earlier) {
        if (intersect(writes[i], writes[earlier]) || intersect(writes[i], reads[earlier]) ||
            intersect(reads[i], writes[earlier])) {
          expected.push_back(i);
          first = i;
          break;
        }
      }
    }
    expected.push_back(writes.size());
    ASSERT_EQ(expected, independent_groups(copies)) << "round " << round;
  }
}

}  // namespace
