// SPDX-License-Identifier: MIT
// Shared memory between source and destination: never missed, and what is apart is never called
// shared.
#include "layout/overlap.hpp"

#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "layout/oracle.hpp"

namespace {

TEST(Overlap, IsAnErrorThatNamesBoth) {
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
  EXPECT_THROW(roc::copy(roc::host_view<int>(host), roc::host_view<int>(host)),
               roc::overlap_error);
}

TEST(Overlap, PartsOfOneArrayAreApart) {
  roc::device_array<int, 2> array({10, 12});
  using roc::all;
  using roc::none;
  using roc::slice;
  EXPECT_NO_THROW(roc::copy(array(slice(0, 5), all), array(slice(5, 10), all)));    // halves
  EXPECT_NO_THROW(roc::copy(array(all, slice(0, 6)), array(all, slice(6, 12))));    // sides
  EXPECT_NO_THROW(roc::copy(array(all, 3), array(all, 4)));                         // columns
  EXPECT_NO_THROW(roc::copy(array(all, slice(0, none, 2)), array(all, slice(1, none, 2))));
  EXPECT_NO_THROW(roc::copy(array(slice(0, none, 2), all), array(slice(1, none, 2), all)));
  EXPECT_NO_THROW(roc::copy(array(all, slice(5, none, -1)), array(all, slice(6, 12))));
  EXPECT_THROW(roc::copy(array(all, slice(0, 7)), array(all, slice(5, 12))), roc::overlap_error);
}

// The bytes of a region, one by one.
template <std::size_t N>
std::vector<std::ptrdiff_t> bytes_of(roc::layout::mapping<N> const& m, std::ptrdiff_t element) {
  std::vector<std::ptrdiff_t> result;
  for (std::ptrdiff_t place : roc::test::places(m)) {
    for (std::ptrdiff_t i = 0; i < element; ++i) result.push_back(place * element + i);
  }
  std::sort(result.begin(), result.end());
  return result;
}

template <std::size_t N>
roc::detail::region region_of(roc::layout::mapping<N> const& m, std::byte* base,
                              std::size_t element) {
  return {base + m.offset * static_cast<std::ptrdiff_t>(element), element, N, m.shape.data(),
          m.strides.data(), roc::detail::place::host, -1};
}

// Interleaved, reversed, repeated: any strides at all, against every byte.
template <std::size_t N>
void exactly(roc::test::random_layouts& random, std::size_t element, std::size_t& shared,
             std::size_t& apart) {
  std::vector<std::byte> memory(1 << 14);
  auto from = random.one_in(2) ? random.mapping<N>(5) : random.wild<N>(5);
  auto to = random.one_in(2) ? random.mapping<N>(5) : random.wild<N>(5);
  for (std::size_t i = 0; i < N; ++i) {
    from.shape[i] = to.shape[i] = std::max<std::size_t>(from.shape[i], 1);
  }
  to.offset += random.between(-30, 30);
  auto const source = bytes_of(from, static_cast<std::ptrdiff_t>(element));
  auto const destination = bytes_of(to, static_cast<std::ptrdiff_t>(element));
  std::vector<std::ptrdiff_t> both;
  std::set_intersection(source.begin(), source.end(), destination.begin(), destination.end(),
                        std::back_inserter(both));
  bool const repeats =
      std::adjacent_find(destination.begin(), destination.end()) != destination.end();

  auto* const middle = memory.data() + memory.size() / 2;
  auto const form = roc::layout::canonicalize(region_of(from, middle, element),
                                             region_of(to, middle, element),
                                             roc::layout::side::source);
  ASSERT_EQ(!both.empty(), roc::layout::sides_overlap(form)) << "rank " << N;
  ASSERT_EQ(repeats, roc::layout::destination_repeats(form)) << "rank " << N;
  using roc::layout::side;
  bool const sure = roc::layout::surely_disjoint(form, side::source, form, side::destination);
  ASSERT_TRUE(!sure || both.empty()) << "rank " << N;
  (both.empty() ? apart : shared) += 1;
}

TEST(Overlap, IsFoundExactly) {
  roc::test::random_layouts random("Overlap.IsFoundExactly");
  std::size_t shared = 0;
  std::size_t apart = 0;
  for (int round = 0; round < 3'000; ++round) {
    std::size_t const element = 1 + random.below(5);
    ASSERT_NO_FATAL_FAILURE(exactly<1>(random, element, shared, apart));
    ASSERT_NO_FATAL_FAILURE(exactly<2>(random, element, shared, apart));
    ASSERT_NO_FATAL_FAILURE(exactly<3>(random, element, shared, apart));
  }
  EXPECT_GT(shared, 1000u);
  EXPECT_GT(apart, 1000u);
}

// What a batch of tiles must know quickly.
TEST(Overlap, TilesAndColumnsAreSurelyApart) {
  roc::host_array<int, 3> const array({6, 10, 12});
  auto const form_of = [](auto const& from, auto const& to) {
    return roc::layout::canonicalize(roc::detail::side_of(from).region(),
                                    roc::detail::side_of(to).region(),
                                    roc::layout::side::source);
  };
  auto const apart = [&](auto const& from, auto const& to) {
    using roc::layout::side;
    auto const form = form_of(from, to);
    return roc::layout::surely_disjoint(form, side::source, form, side::destination);
  };
  using roc::all;
  using roc::slice;
  auto const tile = [&](std::ptrdiff_t row, std::ptrdiff_t column) {
    return array(all, slice(row, row + 3), slice(column, column + 4));
  };
  EXPECT_TRUE(apart(array(all, all, 3), array(all, all, 4)));
  EXPECT_TRUE(apart(tile(0, 0), tile(0, 4)));
  EXPECT_TRUE(apart(tile(0, 0), tile(3, 0)));
  EXPECT_TRUE(apart(tile(3, 8), tile(0, 0)));
  EXPECT_FALSE(apart(tile(0, 0), tile(2, 3)));
  EXPECT_TRUE(apart(array(all, all, slice(0, 12, 2)), array(all, all, slice(1, 12, 2))));
  EXPECT_TRUE(apart(array(all, all, slice(11, 5, -1)), array(all, all, slice(0, 6))));
}

// Steps without a common structure make a search long: it ends, and calls what it cannot tell
// shared.
TEST(Overlap, ASearchThatIsTooLongEnds) {
  constexpr std::size_t rank = 14;
  roc::shape<rank> extents{};
  roc::strides<rank> from{};
  roc::strides<rank> to{};
  for (std::size_t i = 0; i < rank; ++i) {
    extents[i] = 1000 + i;
    from[i] = 2 * (1'000'003 + 7919 * static_cast<std::ptrdiff_t>(i * i));
    to[i] = 2 * (1'000'033 + 6007 * static_cast<std::ptrdiff_t>(i * i));
  }
  alignas(16) static std::byte place[32];
  using where = roc::detail::place;
  roc::detail::region const a{place, 1, rank, extents.data(), from.data(), where::host, -1};
  roc::detail::region const even{place + 2, 1, rank, extents.data(), to.data(), where::host, -1};
  roc::detail::region const odd{place + 1, 1, rank, extents.data(), to.data(), where::host, -1};
  using roc::layout::side;
  EXPECT_TRUE(roc::layout::sides_overlap(roc::layout::canonicalize(a, even, side::source)));
  EXPECT_FALSE(roc::layout::sides_overlap(roc::layout::canonicalize(a, odd, side::source)));
}

}  // namespace
