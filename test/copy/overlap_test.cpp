// SPDX-License-Identifier: MIT
// Overlap of source and destination is detected exactly: no false positives, no false negatives.
#include "layout/overlap.hpp"

#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "layout/oracle.hpp"

namespace {

TEST(Overlap, OverlappingCopyThrowsErrorWithBothRanges) {
  roc::device_array<int> array({100});
  auto const from = array(roc::slice(0, 60));
  auto const to = array(roc::slice(40, 100));
  try {
    roc::copy(from, to);
    FAIL();
  } catch (roc::overlap_error const& error) {
    std::string const message = error.what();
    EXPECT_NE(std::string::npos, message.find("source [")) << message;
    EXPECT_NE(std::string::npos, message.find("destination [")) << message;
  }
  EXPECT_THROW(roc::copy(array, array), roc::overlap_error);
  std::vector<int> host(100);
  EXPECT_THROW(roc::copy(roc::host_view<int>(host), roc::host_view<int>(host)), roc::overlap_error);
}

TEST(Overlap, DisjointPartsOfOneArrayCanBeCopied) {
  roc::device_array<int, 2> array({10, 12});
  array.zero();
  using roc::all;
  using roc::none;
  using roc::slice;
  EXPECT_NO_THROW(roc::copy(array(slice(0, 5), all), array(slice(5, 10), all)));  // halves
  EXPECT_NO_THROW(roc::copy(array(all, slice(0, 6)), array(all, slice(6, 12))));  // sides
  EXPECT_NO_THROW(roc::copy(array(all, 3), array(all, 4)));                       // columns
  EXPECT_NO_THROW(roc::copy(array(all, slice(0, none, 2)), array(all, slice(1, none, 2))));
  EXPECT_NO_THROW(roc::copy(array(slice(0, none, 2), all), array(slice(1, none, 2), all)));
  EXPECT_NO_THROW(roc::copy(array(all, slice(5, none, -1)), array(all, slice(6, 12))));
  EXPECT_THROW(roc::copy(array(all, slice(0, 7)), array(all, slice(5, 12))), roc::overlap_error);
}

// Returns the offsets of all bytes of a region, sorted.
template <std::size_t N>
std::vector<std::ptrdiff_t> bytes_of(roc::layout::mapping<N> const& m, std::ptrdiff_t element) {
  std::vector<std::ptrdiff_t> result;
  for (std::ptrdiff_t index : roc::test::element_offsets(m)) {
    for (std::ptrdiff_t i = 0; i < element; ++i) result.push_back(index * element + i);
  }
  std::sort(result.begin(), result.end());
  return result;
}

template <std::size_t N>
roc::detail::strided_region region_of(roc::layout::mapping<N> const& m, std::byte* base,
                                      std::size_t element) {
  return {base + m.offset * static_cast<std::ptrdiff_t>(element),
          element,
          N,
          m.shape.data(),
          m.strides.data(),
          roc::detail::memory_space::host,
          -1};
}

// Compares the result for random strides (interleaved, reversed, repeated) with the sets of bytes.
template <std::size_t N>
void check_random_pair(roc::test::random_layouts& random, std::size_t element,
                       std::size_t& overlapping, std::size_t& disjoint) {
  std::vector<std::byte> memory(1 << 14);
  auto from = random.one_in(2) ? random.mapping<N>(5) : random.any_mapping<N>(5);
  auto to = random.one_in(2) ? random.mapping<N>(5) : random.any_mapping<N>(5);
  for (std::size_t i = 0; i < N; ++i) {
    from.shape[i] = to.shape[i] = std::max<std::size_t>(from.shape[i], 1);
  }
  to.offset += random.between(-30, 30);
  auto const source = bytes_of(from, static_cast<std::ptrdiff_t>(element));
  auto const destination = bytes_of(to, static_cast<std::ptrdiff_t>(element));
  std::vector<std::ptrdiff_t> common;
  std::set_intersection(source.begin(), source.end(), destination.begin(), destination.end(),
                        std::back_inserter(common));
  bool const repeats =
      std::adjacent_find(destination.begin(), destination.end()) != destination.end();

  auto* const middle = memory.data() + memory.size() / 2;
  auto const canonical = roc::layout::canonicalize(
      region_of(from, middle, element), region_of(to, middle, element), roc::layout::side::source);
  ASSERT_EQ(!common.empty(), roc::layout::sides_overlap(canonical)) << "rank " << N;
  ASSERT_EQ(repeats, roc::layout::destination_overlaps_itself(canonical)) << "rank " << N;
  using roc::layout::side;
  bool const is_surely_disjoint =
      roc::layout::provably_disjoint(canonical, side::source, canonical, side::destination);
  ASSERT_TRUE(!is_surely_disjoint || common.empty()) << "rank " << N;
  (common.empty() ? disjoint : overlapping) += 1;
}

TEST(Overlap, RandomLayoutsOverlapIfAndOnlyIfTheyShareAByte) {
  roc::test::random_layouts random("Overlap.RandomLayoutsOverlapIfAndOnlyIfTheyShareAByte");
  std::size_t overlapping = 0;
  std::size_t disjoint = 0;
  for (int round = 0; round < 3'000; ++round) {
    std::size_t const element = 1 + random.below(5);
    ASSERT_NO_FATAL_FAILURE(check_random_pair<1>(random, element, overlapping, disjoint));
    ASSERT_NO_FATAL_FAILURE(check_random_pair<2>(random, element, overlapping, disjoint));
    ASSERT_NO_FATAL_FAILURE(check_random_pair<3>(random, element, overlapping, disjoint));
  }
  EXPECT_GT(overlapping, 1000u);
  EXPECT_GT(disjoint, 1000u);
}

// Batches of tiles rely on this fast test.
TEST(SurelyDisjoint, RecognizesTilesAndColumns) {
  roc::host_array<int, 3> const array({6, 10, 12});
  auto const canonical_of = [](auto const& from, auto const& to) {
    return roc::layout::canonicalize(roc::detail::operand_of(from).region(),
                                     roc::detail::operand_of(to).region(),
                                     roc::layout::side::source);
  };
  auto const are_disjoint = [&](auto const& from, auto const& to) {
    using roc::layout::side;
    auto const canonical = canonical_of(from, to);
    return roc::layout::provably_disjoint(canonical, side::source, canonical, side::destination);
  };
  using roc::all;
  using roc::slice;
  auto const tile = [&](std::ptrdiff_t row, std::ptrdiff_t column) {
    return array(all, slice(row, row + 3), slice(column, column + 4));
  };
  EXPECT_TRUE(are_disjoint(array(all, all, 3), array(all, all, 4)));
  EXPECT_TRUE(are_disjoint(tile(0, 0), tile(0, 4)));
  EXPECT_TRUE(are_disjoint(tile(0, 0), tile(3, 0)));
  EXPECT_TRUE(are_disjoint(tile(3, 8), tile(0, 0)));
  EXPECT_FALSE(are_disjoint(tile(0, 0), tile(2, 3)));
  EXPECT_TRUE(are_disjoint(array(all, all, slice(0, 12, 2)), array(all, all, slice(1, 12, 2))));
  EXPECT_TRUE(are_disjoint(array(all, all, slice(11, 5, -1)), array(all, all, slice(0, 6))));
}

// Strides without a common factor make the search too long: it stops, and the result is an overlap.
TEST(Overlap, UndecidedSearchReturnsTrue) {
  constexpr std::size_t rank = 14;
  roc::shape<rank> extents{};
  roc::strides<rank> from{};
  roc::strides<rank> to{};
  for (std::size_t i = 0; i < rank; ++i) {
    extents[i] = 1000 + i;
    from[i] = 2 * (1'000'003 + 7919 * static_cast<std::ptrdiff_t>(i * i));
    to[i] = 2 * (1'000'033 + 6007 * static_cast<std::ptrdiff_t>(i * i));
  }
  alignas(16) static std::byte memory[32];
  using space = roc::detail::memory_space;
  roc::detail::strided_region const a{memory,      1,           rank, extents.data(),
                                      from.data(), space::host, -1};
  roc::detail::strided_region const even{memory + 2, 1,           rank, extents.data(),
                                         to.data(),  space::host, -1};
  roc::detail::strided_region const odd{memory + 1, 1,           rank, extents.data(),
                                        to.data(),  space::host, -1};
  using roc::layout::side;
  EXPECT_TRUE(roc::layout::sides_overlap(roc::layout::canonicalize(a, even, side::source)));
  EXPECT_FALSE(roc::layout::sides_overlap(roc::layout::canonicalize(a, odd, side::source)));
}

}  // namespace
