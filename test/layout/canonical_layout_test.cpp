// SPDX-License-Identifier: MIT
// Canonical layouts of many axes, that those of few allocate nothing, and layouts of one side.
#include "layout/canonical_layout.hpp"

#include <roc/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "layout/for_each_row.hpp"
#include "support/environment.hpp"
#include "support/failing_new.hpp"

namespace {

namespace layout = roc::layout;
using roc::detail::memory_space;
using roc::detail::strided_region;

// A copy between two regions of extent 2 on each of `Rank` axes, with these strides.
template <std::size_t Rank>
struct copy_of_pairs {
  std::array<std::size_t, Rank> shape;
  std::array<std::ptrdiff_t, Rank> source_strides{};
  std::array<std::ptrdiff_t, Rank> destination_strides{};

  explicit copy_of_pairs(std::ptrdiff_t factor) {
    shape.fill(2);
    std::ptrdiff_t source_step = 1;
    std::ptrdiff_t destination_step = 1;
    for (std::size_t i = Rank; i-- != 0;) {
      source_strides[i] = source_step;
      destination_strides[i] = destination_step;
      source_step *= 2;
      destination_step *= factor;
    }
  }

  layout::canonical_layout canonical() const {
    static std::array<std::byte, 1> source;
    static std::array<std::byte, 1> destination;
    return layout::canonicalize(strided_region{source.data(), 1, Rank, shape.data(),
                                               source_strides.data(), memory_space::host, -1},
                                strided_region{destination.data(), 1, Rank, shape.data(),
                                               destination_strides.data(), memory_space::host, -1},
                                layout::side::source);
  }
};

TEST(CanonicalLayout, AxesBeyondTheLimitAreMerged) {
  auto const canonical = copy_of_pairs<layout::max_axes + 4>(2).canonical();
  EXPECT_EQ(0u, canonical.rank);
  EXPECT_EQ(std::size_t{1} << (layout::max_axes + 4), canonical.run);
}

TEST(CanonicalLayout, AsManyAxesAsTheLimitAreKept) {
  auto const canonical = copy_of_pairs<layout::max_axes>(3).canonical();
  EXPECT_EQ(layout::max_axes - 1, canonical.rank) << "the innermost axis is part of the run";
  EXPECT_EQ(2u, canonical.run);
}

TEST(CanonicalLayout, ThrowsIfTooManyAxesRemain) {
  copy_of_pairs<layout::max_axes + 2> const copy(3);
  EXPECT_THROW(static_cast<void>(copy.canonical()), roc::layout_error);
}

// Every copy makes one.
TEST(CanonicalLayout, AllocatesNothingUpToTheLimit) {
  copy_of_pairs<layout::max_axes> const copy(3);
  EXPECT_EQ(0, roc::test::fail_each_new([&] { static_cast<void>(copy.canonical()); }));
  copy_of_pairs<layout::max_axes + 1> const larger(2);
  EXPECT_EQ(1, roc::test::fail_each_new([&] { static_cast<void>(larger.canonical()); }));
}

layout::canonical_layout layout_of(std::size_t run, std::vector<layout::axis> const& axes) {
  layout::canonical_layout result;
  result.run = run;
  result.rank = axes.size();
  std::copy(axes.begin(), axes.end(), result.axes.begin());
  return result;
}

// The offsets of the bytes of a range on one side, in linear order.
std::vector<std::ptrdiff_t> offsets_of(layout::canonical_layout const& canonical, layout::side side,
                                       layout::packed_range range) {
  std::ptrdiff_t const step = layout::inner_step(canonical, side);
  std::vector<std::ptrdiff_t> result;
  layout::for_each_row(
      canonical, range,
      [&](std::ptrdiff_t source, std::ptrdiff_t destination, std::size_t, layout::rows rows) {
        std::ptrdiff_t from = side == layout::side::source ? source : destination;
        for (std::size_t i = 0; i != rows.count; ++i, from += step) {
          for (std::size_t k = 0; k != rows.run; ++k) {
            result.push_back(from + static_cast<std::ptrdiff_t>(k));
          }
        }
      });
  return result;
}

TEST(HalvesOf, LayoutIsDividedAlongItsOutermostAxis) {
  std::byte const source{};
  std::byte destination{};
  for (std::size_t const extent : {2u, 3u, 7u}) {
    auto whole = layout_of(4, {{extent, -200, 60}, {5, 8, 12}});
    whole.source = &source;
    whole.destination = &destination;
    auto const [first, second] = layout::halves_of(whole);
    std::size_t const middle = extent / 2;
    auto const steps = static_cast<std::ptrdiff_t>(middle);
    EXPECT_EQ(&source, first.source);
    EXPECT_EQ(&destination, first.destination);
    EXPECT_EQ(&source - steps * 200, second.source);
    EXPECT_EQ(&destination + steps * 60, second.destination);
    EXPECT_EQ(middle * 20, first.bytes());
    EXPECT_EQ((extent - middle) * 20, second.bytes());
    EXPECT_EQ(middle == 1 ? 1u : 2u, first.rank);
    EXPECT_EQ(extent == 2 ? 1u : 2u, second.rank);
    for (auto const& half : {first, second}) {
      layout::axis const& inner = half.axes[half.rank - 1];
      EXPECT_EQ(5u, inner.extent);
      EXPECT_EQ(8, inner.source);
      EXPECT_EQ(12, inner.destination);
      EXPECT_EQ(4u, half.run);
    }
  }
}

TEST(HalvesOf, OneAxisOfTwoStepsGivesContiguousHalves) {
  auto const [first, second] = layout::halves_of(layout_of(4, {{2, 100, 8}}));
  EXPECT_EQ(0u, first.rank);
  EXPECT_EQ(0u, second.rank);
}

TEST(MergedFor, DenseSideIsOneRun) {
  auto const planes = layout_of(4, {{3, 40, 108}, {5, 8, 20}, {5, 4, 4}});
  EXPECT_EQ(1u, layout::merged_for(planes, layout::side::destination).rank);
  EXPECT_EQ(100u, layout::merged_for(planes, layout::side::destination).run);
  auto const dense = layout_of(4, {{3, 200, 60}, {5, 8, 12}, {3, 100, 4}});
  EXPECT_EQ(0u, layout::merged_for(dense, layout::side::destination).rank);
  EXPECT_EQ(180u, layout::merged_for(dense, layout::side::destination).run);
  EXPECT_EQ(3u, layout::merged_for(dense, layout::side::source).rank);
}

TEST(MergedFor, AxesWithGapsAreMergedWithoutTheRun) {
  auto const canonical = layout_of(4, {{3, 70, 32}, {4, 8, 8}});
  auto const merged = layout::merged_for(canonical, layout::side::destination);
  EXPECT_EQ(4u, merged.run);
  ASSERT_EQ(1u, merged.rank);
  EXPECT_EQ(12u, merged.axes[0].extent);
  EXPECT_EQ(8, merged.axes[0].destination);
}

TEST(MergedFor, KeepsAsManyAxesAsTheLimit) {
  auto const canonical = layout_of(1, [] {
    std::vector<layout::axis> axes;
    for (std::ptrdiff_t step = 1 << layout::max_axes; step != 1; step /= 2) {
      axes.push_back({2, 2 * step * step, step / 2});
    }
    return axes;
  }());
  EXPECT_EQ(layout::max_axes, canonical.rank);
  EXPECT_EQ(layout::max_axes, layout::merged_for(canonical, layout::side::source).rank);
  EXPECT_EQ(0u, layout::merged_for(canonical, layout::side::destination).rank);
}

TEST(MergedFor, KeepsTheLinearOrder) {
  std::mt19937 random(5);
  auto const below = [&](std::size_t end) { return static_cast<std::size_t>(random()) % end; };
  for (int round = 0; round != 2000; ++round) {
    std::size_t const run = 1 + below(4);
    std::vector<layout::axis> axes(below(5));
    std::array<std::ptrdiff_t, 2> next{static_cast<std::ptrdiff_t>(run),
                                       static_cast<std::ptrdiff_t>(run)};
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
      axis->extent = 2 + below(3);
      std::array<std::ptrdiff_t, 2> step{};
      for (std::size_t side = 0; side != 2; ++side) {
        // No gap, a gap, the opposite direction, or the same bytes again.
        std::array<std::ptrdiff_t, 4> const steps{next[side], next[side] + 3, -next[side], 0};
        step[side] = steps[std::min<std::size_t>(below(6), 3)];
        next[side] = step[side] * static_cast<std::ptrdiff_t>(axis->extent);
      }
      axis->source = step[0];
      axis->destination = step[1];
    }
    auto const canonical = layout_of(run, axes);
    std::size_t const bytes = canonical.bytes();
    std::size_t const begin = below(bytes);
    layout::packed_range const range{begin, begin + 1 + below(bytes - begin)};
    for (auto const side : {layout::side::source, layout::side::destination}) {
      auto const merged = layout::merged_for(canonical, side);
      ASSERT_EQ(bytes, merged.bytes());
      ASSERT_LE(merged.rank, canonical.rank);
      ASSERT_EQ(offsets_of(canonical, side, range), offsets_of(merged, side, range)) << round;
    }
  }
}

// Two regions of the same shape and element size.
struct region_pair {
  std::vector<std::size_t> shape;
  std::vector<std::ptrdiff_t> source_strides;
  std::vector<std::ptrdiff_t> destination_strides;
  std::size_t element_size = 4;
  std::uintptr_t source = 0x10000;
  std::uintptr_t destination = 0x7000'0000'0000;

  strided_region region(std::uintptr_t address, std::vector<std::ptrdiff_t> const& strides) const {
    return {reinterpret_cast<void*>(address),
            element_size,
            shape.size(),
            shape.data(),
            strides.data(),
            memory_space::host,
            -1};
  }
  strided_region source_region() const { return region(source, source_strides); }
  strided_region destination_region() const { return region(destination, destination_strides); }
  std::size_t bytes_of_one_run() const {
    return layout::bytes_of_one_run(source_region(), destination_region());
  }
};

TEST(BytesOfOneRun, AreThoseOfRegionsThatAreContiguousInCOrder) {
  EXPECT_EQ(4u, (region_pair{{}, {}, {}}.bytes_of_one_run()));
  EXPECT_EQ(120u, (region_pair{{5, 6}, {6, 1}, {6, 1}}.bytes_of_one_run()));
  // The strides of axes of extent 1 do not matter.
  EXPECT_EQ(120u, (region_pair{{1, 5, 1, 6}, {-9, 6, 77, 1}, {0, 6, 1, 1}}.bytes_of_one_run()));
  EXPECT_EQ(0u, (region_pair{{5, 6}, {7, 1}, {6, 1}}.bytes_of_one_run()));
  EXPECT_EQ(0u, (region_pair{{5, 6}, {6, 1}, {7, 1}}.bytes_of_one_run()));
  EXPECT_EQ(0u, (region_pair{{5, 6}, {1, 5}, {1, 5}}.bytes_of_one_run()));
  EXPECT_EQ(0u, (region_pair{{6}, {-1}, {-1}}.bytes_of_one_run()));
  EXPECT_EQ(0u, (region_pair{{6}, {0}, {1}}.bytes_of_one_run()));
}

TEST(BytesOfOneRun, AreZeroBeyondTheAddressSpace) {
  constexpr std::size_t half = std::size_t{1} << 63;
  auto const step = static_cast<std::ptrdiff_t>(half / 4);
  EXPECT_EQ(0u, (region_pair{{half / 4}, {1}, {1}, 4, 0x10000, 0x10000}.bytes_of_one_run()));
  EXPECT_EQ(0u, (region_pair{{8, half / 4}, {step, 1}, {step, 1}}.bytes_of_one_run()));
  EXPECT_EQ(0u, (region_pair{{half}, {1}, {1}, 2}.bytes_of_one_run()));
  EXPECT_EQ(0u, (region_pair{{100}, {1}, {1}, 4, UINTPTR_MAX - 399}.bytes_of_one_run()));
  EXPECT_EQ(0u, (region_pair{{100}, {1}, {1}, 4, 16, UINTPTR_MAX - 399}.bytes_of_one_run()));
  EXPECT_EQ(400u, (region_pair{{100}, {1}, {1}, 4, 16, UINTPTR_MAX - 400}.bytes_of_one_run()));
}

// The copies of one run have the canonical layout that all other copies get by canonicalize.
TEST(BytesOfOneRun, AreTheRunOfTheCanonicalLayout) {
  auto random = roc::test::random_generator("bytes of one run");
  int found = 0;
  for (int round = 0; round < 20'000; ++round) {
    region_pair pair;
    std::ptrdiff_t step = 1;
    for (std::size_t axes = random() % 5; axes != 0; --axes) {
      std::size_t const extent = random() % 3 + 1;
      bool const is_changed = random() % 8 == 0;
      auto const changed = static_cast<std::ptrdiff_t>(random() % 20) - 4;
      pair.shape.insert(pair.shape.begin(), extent);
      pair.source_strides.insert(pair.source_strides.begin(), is_changed ? changed : step);
      pair.destination_strides.insert(pair.destination_strides.begin(),
                                      is_changed && random() % 2 == 0 ? changed : step);
      step *= static_cast<std::ptrdiff_t>(extent);
    }
    std::size_t const bytes = pair.bytes_of_one_run();
    if (bytes == 0) continue;
    ++found;
    auto const canonical =
        layout::canonicalize(pair.source_region(), pair.destination_region(), layout::side::source);
    ASSERT_EQ(0u, canonical.rank) << testing::PrintToString(pair.shape);
    ASSERT_EQ(bytes, canonical.run);
    ASSERT_EQ(pair.source_region().data, canonical.source);
    ASSERT_EQ(pair.destination_region().data, canonical.destination);
  }
  EXPECT_LT(1000, found);
}

}  // namespace
