// SPDX-License-Identifier: MIT
#include <roc/detail/index_grid.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "support/environment.hpp"

namespace {

using roc::block_shape;
using roc::shape;
using roc::detail::default_block;
using roc::detail::index_divisor;
using roc::detail::index_grid;
using roc::detail::make_index_grid;
using roc::detail::threads_of_block;

constexpr std::size_t giga = std::size_t{1} << 30;

template <std::size_t N>
std::vector<shape<N>> visited_by(index_grid<N> const& grid,
                                 roc::detail::kernel_array<std::uint32_t, N> const& first) {
  std::vector<shape<N>> result;
  auto const note = [&](auto... index) { result.push_back({index...}); };
  roc::detail::visit_indices(note, grid, first);
  return result;
}

// Returns the indices that a thread visits.
template <class Block, std::size_t N>
std::vector<shape<N>> visited_by_thread(index_grid<N> const& grid, std::uint32_t block,
                                        std::uint32_t thread) {
  roc::detail::kernel_array<std::uint32_t, N> first;
  if (!roc::detail::find_first_position<Block>(grid, block, thread, &first)) return {};
  return visited_by(grid, first);
}

// Expects that all threads together visit each index of a box once.
template <class Block, std::size_t N>
void expect_each_index_once(shape<N> const& begin, shape<N> const& extents,
                            std::size_t per_thread = roc::detail::columns_per_thread) {
  auto const grid = make_index_grid<Block>(begin, extents, per_thread);
  std::vector<unsigned char> visits(roc::layout::element_count(extents));
  std::size_t outside = 0;
  auto const visit = [&](auto... index) {
    std::size_t const position[] = {index...};
    std::size_t linear = 0;
    for (std::size_t axis = 0; axis < N; ++axis) {
      if (position[axis] - begin[axis] >= extents[axis]) {
        ++outside;
        return;
      }
      linear = linear * extents[axis] + (position[axis] - begin[axis]);
    }
    ++visits[linear];
  };
  for (std::uint32_t block = 0; block < grid.template blocks<Block>(); ++block) {
    for (std::uint32_t thread = 0; thread < threads_of_block<Block>; ++thread) {
      roc::detail::kernel_array<std::uint32_t, N> first;
      if (roc::detail::find_first_position<Block>(grid, block, thread, &first))
        roc::detail::visit_indices(visit, grid, first);
    }
  }
  EXPECT_EQ(0u, outside);
  EXPECT_EQ(static_cast<std::ptrdiff_t>(visits.size()), std::count(visits.begin(), visits.end(), 1))
      << ::testing::PrintToString(extents);
}

template <class Block>
void expect_each_index_once_in_boxes() {
  if constexpr (roc::detail::rank_of_block<Block> <= 1) {
    for (std::size_t n : {1, 31, 32, 255, 256, 257, 5000}) {
      expect_each_index_once<Block>(shape<1>{7}, shape<1>{n});
    }
  }
  if constexpr (roc::detail::rank_of_block<Block> <= 2) {
    for (std::size_t columns : {1, 2, 3, 17, 33, 128, 513}) {
      expect_each_index_once<Block>(shape<2>{0, 3}, shape<2>{37, columns});
    }
  }
  if constexpr (roc::detail::rank_of_block<Block> <= 3) {
    expect_each_index_once<Block>(shape<3>{1, 1, 1}, shape<3>{5, 17, 33});
    expect_each_index_once<Block>(shape<3>{}, shape<3>{1, 1, 300});
    expect_each_index_once<Block>(shape<3>{}, shape<3>{300, 1, 1});
  }
  expect_each_index_once<Block>(shape<4>{1, 2, 3, 4}, shape<4>{5, 4, 3, 65});
  expect_each_index_once<Block>(shape<4>{}, shape<4>{3, 2, 129, 3});
}

TEST(IndexDivisor, DividesAllNumbersBelowTwoToThe31) {
  std::vector<std::uint32_t> divisors{1, 2, 3, 5, 6, 7, 10, 17, 255, 641, 65537};
  for (unsigned bit = 1; bit < 32; ++bit) {
    std::uint32_t const power = std::uint32_t{1} << bit;
    divisors.push_back(power - 1);
    divisors.push_back(power);
    if (bit != 31) divisors.push_back(power + 1);
  }
  constexpr std::uint32_t largest = (std::uint32_t{1} << 31) - 1;
  auto random = roc::test::random_generator("index grid");
  for (int i = 0; i < 200; ++i)
    divisors.push_back(static_cast<std::uint32_t>(random() % largest + 1));
  for (std::uint32_t const d : divisors) {
    index_divisor const divisor(d);
    std::vector<std::uint32_t> numbers{0, 1, d - 1, largest, largest / d * d, largest - 1};
    if (d <= largest) numbers.push_back(d);
    if (largest / d * d != 0) numbers.push_back(largest / d * d - 1);
    for (int i = 0; i < 200; ++i) {
      auto const number = static_cast<std::uint32_t>(random() % largest);
      numbers.push_back(number);
      numbers.push_back(number / d * d);
    }
    for (std::uint32_t const number : numbers) {
      ASSERT_EQ(number / d, divisor.quotient(number)) << number << " / " << d;
    }
  }
}

TEST(IndexGrid, ThreadsOfDefaultBlocksVisitEachIndexOnce) {
  expect_each_index_once_in_boxes<default_block>();
}

TEST(IndexGrid, LargeBoxesKeepTheLimitsOfBlocksAndThreads) {
  shape<2> const extents{std::size_t{1} << 31, std::size_t{1} << 31};
  auto const blocks_of = [&]<class Block>(Block) {
    return make_index_grid<Block>(shape<2>{}, extents).template blocks<Block>();
  };
  EXPECT_EQ(3u << 29, blocks_of(block_shape<1>{}));
  EXPECT_EQ(1u << 30, blocks_of(block_shape<2>{}));
  EXPECT_EQ(1u << 23, blocks_of(default_block{}));
}

TEST(IndexGrid, ThreadsOfBlockShapesVisitEachIndexOnce) {
  expect_each_index_once_in_boxes<block_shape<1>>();
  expect_each_index_once_in_boxes<block_shape<64>>();
  expect_each_index_once_in_boxes<block_shape<1024>>();
  expect_each_index_once_in_boxes<block_shape<8, 32>>();
  expect_each_index_once_in_boxes<block_shape<7, 5>>();
  expect_each_index_once_in_boxes<block_shape<4, 4, 16>>();
  expect_each_index_once_in_boxes<block_shape<2, 3, 1, 33>>();
}

TEST(IndexGrid, ThreadsThatShareLongRowsVisitEachIndexOnce) {
  expect_each_index_once<default_block>(shape<1>{5}, shape<1>{(1 << 20) + 77});
  expect_each_index_once<default_block>(shape<2>{}, shape<2>{2100, 513});
  expect_each_index_once<default_block>(shape<3>{1, 1, 1}, shape<3>{2, 2, 300'001}, 3);
  expect_each_index_once<default_block>(shape<4>{}, shape<4>{3, 11, 256, 128}, 7);
  expect_each_index_once<block_shape<8, 32>>(shape<2>{1, 1}, shape<2>{2100, 513});
  expect_each_index_once<block_shape<7, 5>>(shape<3>{}, shape<3>{3, 700, 509}, 3);
  expect_each_index_once<block_shape<1024>>(shape<1>{}, shape<1>{(1 << 20) + 77});
}

TEST(IndexGrid, SharesLongRowsOfLargeBoxesOnly) {
  EXPECT_EQ(4096u * 1024, (make_index_grid<default_block>({}, shape<2>{4096, 4096}).count));
  EXPECT_EQ(16u * 4096, (make_index_grid<default_block>({}, shape<2>{16, 4096}).count));
  EXPECT_EQ(17u << 20, (make_index_grid<default_block>({}, shape<2>{1 << 20, 17}).count));
  EXPECT_EQ(1u << 22, (make_index_grid<default_block>({}, shape<1>{1 << 24}).count));
  EXPECT_EQ(1u << 19, (make_index_grid<default_block>({}, shape<1>{1 << 19}).count));
  // Warps access whole sectors of aligned rows.
  EXPECT_EQ(64u, (make_index_grid<default_block>({}, shape<2>{1 << 20, 160}).steps[1]));
  using block = block_shape<8, 32>;
  EXPECT_EQ(512u * 32, (make_index_grid<block>({}, shape<2>{4096, 4096}).count));
  EXPECT_EQ(2u * 128, (make_index_grid<block>({}, shape<2>{16, 4096}).count));
  EXPECT_EQ(1u << 17, (make_index_grid<block>({}, shape<2>{1 << 20, 17}).count));
}

// Expects that the grid has at most 2^31 threads, and that the thread that should visit `index`
// visits it once, beside as many others as its positions on the axes tell.
template <class Block, std::size_t N>
void expect_visited(shape<N> const& begin, shape<N> const& extents, shape<N> const& index) {
  auto const grid = make_index_grid<Block>(begin, extents);
  std::size_t const threads = threads_of_block<Block>;
  ASSERT_LE(grid.template blocks<Block>() * threads, 2 * giga);
  ASSERT_NE(0u, grid.count);
  roc::detail::kernel_array<std::uint32_t, N> first;
  std::size_t expected = 1;
  for (std::size_t axis = 0; axis < N; ++axis) {
    std::size_t const step = grid.steps[axis];
    ASSERT_LE(step, 2 * giga);
    first[axis] = static_cast<std::uint32_t>((index[axis] - begin[axis]) % step);
    expected *= (extents[axis] - first[axis] + step - 1) / step;
  }
  std::size_t found = 0;
  std::size_t visits = 0;
  auto const visit = [&](auto... visited) {
    ++visits;
    found += shape<N>{visited...} == index;
  };
  roc::detail::visit_indices(visit, grid, first);
  EXPECT_EQ(1u, found);
  EXPECT_EQ(expected, visits);
  // A thread begins at these positions.
  std::uint32_t number = 0;
  std::uint32_t thread = 0;
  roc::detail::kernel_array<std::uint32_t, N> block;
  if constexpr (roc::detail::rank_of_block<Block> == 0) {
    for (std::size_t axis = 0; axis < N; ++axis) block[axis] = 1;
  } else {
    block = roc::detail::extents_of_block<N>(Block{});
  }
  for (std::size_t axis = 0; axis < N; ++axis) {
    number = number * grid.widths[axis].divisor + first[axis] / block[axis];
    thread = thread * block[axis] + first[axis] % block[axis];
  }
  if constexpr (roc::detail::rank_of_block<Block> == 0) {
    thread = number % threads;
    number /= static_cast<std::uint32_t>(threads);
  }
  ASSERT_LT(number, grid.template blocks<Block>());
  roc::detail::kernel_array<std::uint32_t, N> actual;
  EXPECT_TRUE(roc::detail::find_first_position<Block>(grid, number, thread, &actual));
  EXPECT_EQ(first.to_array(), actual.to_array());
}

template <class Block, std::size_t N>
void expect_corners_visited(shape<N> const& begin, shape<N> const& extents) {
  for (unsigned corner = 0; corner < (1u << N); ++corner) {
    auto index = begin;
    for (std::size_t axis = 0; axis < N; ++axis) {
      if (corner >> axis & 1) index[axis] += extents[axis] - 1;
    }
    expect_visited<Block>(begin, extents, index);
  }
  auto random = roc::test::random_generator("index grid");
  for (int i = 0; i < 20; ++i) {
    auto index = begin;
    for (std::size_t axis = 0; axis < N; ++axis) index[axis] += random() % extents[axis];
    expect_visited<Block>(begin, extents, index);
  }
}

template <class Block>
void expect_corners_of_huge_boxes_visited() {
  expect_corners_visited<Block>(shape<1>{5}, shape<1>{2 * giga});
  expect_corners_visited<Block>(shape<1>{9 * giga}, shape<1>{2 * giga - 3});
  expect_corners_visited<Block>(shape<2>{}, shape<2>{3, 2 * giga});
  expect_corners_visited<Block>(shape<2>{}, shape<2>{2 * giga, 3});
  expect_corners_visited<Block>(shape<2>{}, shape<2>{2 * giga - 5, 300});
  expect_corners_visited<Block>(shape<3>{1, 1, 1}, shape<3>{65'537, 65'537, 3});
  expect_corners_visited<Block>(shape<4>{}, shape<4>{3, 65'537, 65'537, 17});
  expect_corners_visited<Block>(shape<4>{8 * giga, 8 * giga, 8 * giga, 8 * giga},
                                shape<4>{3, 4, 5, 6});
}

TEST(IndexGrid, ThreadsOfDefaultBlocksVisitHugeBoxes) {
  expect_corners_of_huge_boxes_visited<default_block>();
}

TEST(IndexGrid, ThreadsOfBlockShapesVisitHugeBoxes) {
  expect_corners_of_huge_boxes_visited<block_shape<1024>>();
}

// A part of a box: its first index and its extents.
template <std::size_t N>
using part = std::array<shape<N>, 2>;

// Returns the parts of a box, up to the one with the number `failing`, which fails.
template <std::size_t N>
std::vector<part<N>> parts_of(shape<N> const& begin, shape<N> const& extents,
                              std::size_t failing = SIZE_MAX) {
  std::vector<part<N>> result;
  bool const has_failed = roc::detail::for_each_grid_part<bool>(
      begin, extents, [&](shape<N> const& part_begin, shape<N> const& part_extents) {
        result.push_back({part_begin, part_extents});
        return result.size() == failing;
      });
  EXPECT_EQ(result.size() == failing, has_failed);
  return result;
}

TEST(IndexGridParts, BoxesWithShortAxesAreOnePart) {
  EXPECT_EQ((std::vector<part<0>>{{}}), parts_of(shape<0>{}, shape<0>{}));
  shape<2> const begin{9 * giga, 1};
  shape<2> const extents{2 * giga, 2 * giga};
  EXPECT_EQ((std::vector<part<2>>{{begin, extents}}), parts_of(begin, extents));
}

TEST(IndexGridParts, LongAxesAreDivided) {
  EXPECT_EQ((std::vector<part<1>>{{{{5}, {2 * giga}}}, {{{2 * giga + 5}, {1}}}}),
            parts_of(shape<1>{5}, shape<1>{2 * giga + 1}));
  std::vector<part<3>> const expected{{{{1, 0, 7}, {2 * giga, 3, 2 * giga}}},
                                      {{{1, 0, 2 * giga + 7}, {2 * giga, 3, giga}}},
                                      {{{2 * giga + 1, 0, 7}, {1, 3, 2 * giga}}},
                                      {{{2 * giga + 1, 0, 2 * giga + 7}, {1, 3, giga}}}};
  EXPECT_EQ(expected, parts_of(shape<3>{1, 0, 7}, shape<3>{2 * giga + 1, 3, 3 * giga}));
}

TEST(IndexGridParts, NothingFollowsThePartThatFails) {
  shape<2> const extents{3 * giga, 5 * giga};
  auto const all = parts_of(shape<2>{}, extents);
  ASSERT_EQ(6u, all.size());
  for (std::size_t failing = 1; failing <= all.size(); ++failing) {
    std::vector<part<2>> const expected(all.begin(), all.begin() + static_cast<long>(failing));
    EXPECT_EQ(expected, parts_of(shape<2>{}, extents, failing));
  }
}

TEST(IndexGrid, ThreadsBeyondTheBoxVisitNothing) {
  auto const grid = make_index_grid<default_block>({}, shape<1>{257});
  EXPECT_EQ(2u, grid.blocks<default_block>());
  EXPECT_EQ(1u, visited_by_thread<default_block>(grid, 1, 0).size());
  EXPECT_TRUE(visited_by_thread<default_block>(grid, 1, 1).empty());
  using block = block_shape<4, 8>;
  auto const tiles = make_index_grid<block>({}, shape<2>{5, 9});
  EXPECT_EQ(4u, tiles.blocks<block>());
  EXPECT_EQ((std::vector<shape<2>>{{4, 8}}), (visited_by_thread<block>(tiles, 3, 0)));
  EXPECT_TRUE(visited_by_thread<block>(tiles, 3, 1).empty());
  EXPECT_TRUE(visited_by_thread<block>(tiles, 3, 8).empty());
}

TEST(IndexGrid, HasOneThreadOfRankZero) {
  auto const grid = make_index_grid<default_block>(shape<0>{}, shape<0>{});
  EXPECT_EQ(1u, grid.blocks<default_block>());
  EXPECT_EQ(1u, visited_by_thread<default_block>(grid, 0, 0).size());
  EXPECT_TRUE(visited_by_thread<default_block>(grid, 0, 1).empty());
}

// The host platform divides the positions of a box among threads.
TEST(IndexRangeFunctor, RangesTogetherVisitEachIndexInOrder) {
  shape<3> const begin{8 * giga, 2, 1};
  shape<3> const extents{3, 5, 7};
  std::vector<shape<3>> expected;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 5; ++j) {
      for (std::size_t k = 0; k < 7; ++k) expected.push_back({8 * giga + i, 2 + j, 1 + k});
    }
  }
  for (std::size_t part = 1; part <= expected.size(); ++part) {
    std::vector<shape<3>> visited;
    auto const note = [&](std::size_t i, std::size_t j, std::size_t k) {
      visited.push_back({i, j, k});
    };
    roc::detail::index_range_functor<decltype(note), 3> const range{note, begin, extents};
    for (std::size_t first = 0; first < expected.size(); first += part) {
      range(first, std::min(first + part, expected.size()));
    }
    ASSERT_EQ(expected, visited) << part;
  }
}

}  // namespace
