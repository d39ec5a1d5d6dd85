// SPDX-License-Identifier: MIT
// roc::mipmap: its levels, their computation, and samples at any level of detail.
#include "kernels/mipmap_kernels.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include <roc/roc.hpp>

#include "support/environment.hpp"
#include "support/expect_error.hpp"
#include "support/gate.hpp"

namespace {

using roc::filter_mode;
using roc::mipmap;
using roc::sampler;
using roc::sampler_unit;
using roc::shape;
using roc::test::expect_error;

constexpr sampler normalized{.normalized_coordinates = true};

template <std::size_t N>
std::vector<shape<N>> shapes_of(mipmap<float, N> const& levels) {
  std::vector<shape<N>> result;
  for (std::size_t i = 0; i < levels.levels(); ++i) result.push_back(levels.level(i).shape());
  return result;
}

// Returns the first channels of samples; each point has its coordinates and its level.
template <class View>
std::vector<double> sampled(View const& view, std::vector<std::vector<float>> const& points) {
  constexpr std::size_t columns = View::rank + 1;
  std::vector<float> flat;
  for (auto const& point : points) flat.insert(flat.end(), point.begin(), point.end());
  auto const coordinates = roc::to_device(flat);
  roc::device_array<double, 2> const out({points.size(), 4});
  out.zero();
  roc::test::sample_levels({}, view, coordinates.view().reshape(int(points.size()), int(columns)),
                           out.view());
  auto const values = out.copy_to_host();
  std::vector<double> result;
  for (std::size_t i = 0; i < points.size(); ++i) result.push_back(values(i, 0));
  return result;
}

static_assert(!std::is_copy_constructible_v<mipmap<float, 2>>);
static_assert(std::is_nothrow_move_constructible_v<mipmap<float, 2>>);
static_assert(std::is_trivially_copyable_v<roc::mipmap_view<float, 3>>);
static_assert(sizeof(roc::mipmap_view<float, 1>) >= 700);
static_assert(sizeof(roc::mipmap_view<float, 3>) <= 1300);

// Returns a mipmap of which each element of level k is k.
mipmap<float, 2> numbered(shape<2> const& extents) {
  mipmap<float, 2> result(extents);
  for (std::size_t i = 0; i < result.levels(); ++i) {
    result.level(i).pixels().fill(static_cast<float>(i));
  }
  return result;
}

TEST(Mipmap, LevelsHaveHalfOfTheExtents) {
  EXPECT_EQ((std::vector<shape<2>>{{5, 17}, {2, 8}, {1, 4}, {1, 2}, {1, 1}}),
            shapes_of(mipmap<float, 2>({5, 17})));
  EXPECT_EQ((std::vector<shape<1>>{{8}, {4}}), shapes_of(mipmap<float, 1>({8}, 2)));
  EXPECT_EQ((std::vector<shape<3>>{{1, 1, 1}}), shapes_of(mipmap<float, 3>({1, 1, 1})));
  mipmap<float, 1> const large({1 << 17});
  EXPECT_EQ(16u, large.levels());
  EXPECT_EQ((shape<1>{4}), large.level(15).shape());
}

TEST(Mipmap, LevelsAreImages) {
  roc::stream const stream;
  roc::hip_memory_resource direct;
  roc::pool_resource pool(direct);
  mipmap<float, 2> const levels({4, 6}, 2, pool, stream);
  EXPECT_GE(pool.statistics().current_bytes, 6u * 256);
  EXPECT_EQ((shape<2>{4, 6}), levels.shape());
  EXPECT_EQ(stream, levels.stream());
  EXPECT_EQ(roc::device().ordinal(), levels.device_ordinal());
  std::vector<float> const values{1, 2, 3, 4, 5, 6};
  levels.level(1).copy_to_device(values);
  levels.record_stream(roc::stream_ref());
  EXPECT_EQ(6, levels.level(1).copy_to_host()(1, 2));
}

TEST(Mipmap, MovedFromOwnsNothing) {
  mipmap<float, 2> first = numbered({4, 4});
  mipmap<float, 2> second(std::move(first));
  EXPECT_THROW(first.levels(), roc::lifetime_error);
  EXPECT_THROW(first.level(0), roc::lifetime_error);
  EXPECT_THROW(first.shape(), roc::lifetime_error);
  EXPECT_THROW(first.view(normalized), roc::lifetime_error);
  first = std::move(second);
  EXPECT_EQ(2, first.level(2).copy_to_host()(0, 0));
  EXPECT_THROW((mipmap<float, 1>().device_ordinal()), roc::lifetime_error);
}

TEST(MipmapFill, ElementsAreMeans) {
  roc::stream const stream;
  mipmap<float, 2> const levels({4, 8}, stream);
  std::vector<float> values(32);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * i % 29);
  levels.level(0).copy_to_device(values, stream);
  roc::test::fill_levels(levels, stream);
  auto expected = levels.level(0).copy_to_host();
  for (std::size_t k = 1; k < levels.levels(); ++k) {
    auto const level = levels.level(k).copy_to_host();
    std::size_t const rows = level.extent(0);
    std::size_t const row_step = expected.extent(0) / rows;
    std::size_t const column_step = expected.extent(1) / level.extent(1);
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < level.extent(1); ++j) {
        float sum = 0;
        for (std::size_t a = 0; a < row_step; ++a) {
          for (std::size_t b = 0; b < column_step; ++b) {
            sum += expected(i * row_step + a, j * column_step + b);
          }
        }
        EXPECT_FLOAT_EQ(sum / static_cast<float>(row_step * column_step), level(i, j))
            << "level " << k << ", " << i << ", " << j;
      }
    }
    expected = levels.level(k).copy_to_host();
  }
}

TEST(MipmapFill, EachElementContributesAsMuchAsTheOthers) {
  for (std::size_t const extent : {2, 3, 5, 6, 7, 15}) {
    mipmap<float, 1> const levels({extent}, 2);
    for (std::size_t i = 0; i < extent; ++i) {
      std::vector<float> values(extent);
      values[i] = static_cast<float>(extent);
      levels.level(0).copy_to_device(values);
      roc::test::fill_levels(levels, {});
      auto const level = levels.level(1).copy_to_host();
      float sum = 0;
      for (std::size_t k = 0; k < level.size(); ++k) sum += level(k);
      EXPECT_NEAR(static_cast<float>(level.size()), sum, 1e-5) << extent << ", " << i;
    }
  }
}

TEST(MipmapFill, PartsOfElementsOfOddExtents) {
  mipmap<float, 1> const levels({5}, 2);
  levels.level(0).copy_to_device(std::vector<float>{5, 10, 20, 40, 80});
  roc::test::fill_levels(levels, {});
  auto const level = levels.level(1).copy_to_host();  // of 0 to 2.5 and of 2.5 to 5
  EXPECT_FLOAT_EQ((5 + 10 + 20 / 2.0f) / 2.5f, level(0));
  EXPECT_FLOAT_EQ((20 / 2.0f + 40 + 80) / 2.5f, level(1));
}

TEST(MipmapFill, LongRows) {
  std::size_t const extent = roc::test::scaled(std::size_t{1} << 22) + 1;
  mipmap<float, 1> const levels({extent}, 2);
  std::vector<float> values(extent);
  for (std::size_t i = 0; i < extent; ++i) values[i] = static_cast<float>(i % 1009);
  levels.level(0).copy_to_device(values);
  roc::test::fill_levels(levels, {});
  std::vector<float> level(extent / 2);
  levels.level(1).copy_to_host(level);
  auto const half = static_cast<double>(level.size());
  double largest = 0;
  for (std::size_t i = 0; i < level.size(); ++i) {
    double const expected = ((half - static_cast<double>(i)) * values[2 * i] +
                             half * values[2 * i + 1] + (1 + double(i)) * values[2 * i + 2]) /
                            static_cast<double>(extent);
    largest = std::max(largest, std::abs(expected - level[i]));
  }
  EXPECT_LT(largest, 1e-3);
}

TEST(MipmapFill, FractionsAreRounded) {
  using rgba = roc::test::rgba8;
  mipmap<rgba, 2> const levels({2, 2});
  levels.level(0).copy_to_device(
      std::vector<rgba>{{0, 255, 3, 9}, {0, 255, 3, 9}, {0, 255, 3, 9}, {1, 254, 0, 9}});
  roc::test::fill_levels(levels, {});
  rgba const mean = levels.level(1).copy_to_host()(0, 0);  // of 0.25, 254.75, 2.25, 9
  EXPECT_EQ((rgba{0, 255, 2, 9}), mean)
      << int(mean.x) << ", " << int(mean.y) << ", " << int(mean.z);
}

TEST(MipmapFill, ThreeAxes) {
  mipmap<float, 3> const levels({2, 2, 4});
  std::vector<float> values(16);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  levels.level(0).copy_to_device(values);
  roc::test::fill_levels(levels, {});
  auto const level = levels.level(1).copy_to_host();
  EXPECT_FLOAT_EQ((0 + 1 + 4 + 5 + 8 + 9 + 12 + 13) / 8.0f, level(0, 0, 0));
  EXPECT_FLOAT_EQ((2 + 3 + 6 + 7 + 10 + 11 + 14 + 15) / 8.0f, level(0, 0, 1));
  EXPECT_FLOAT_EQ(7.5f, levels.level(2).copy_to_host()(0, 0, 0));
}

TEST(MipmapFill, IsCapturedInAGraph) {
  mipmap<float, 2> const levels({2, 2});
  roc::graph_exec executable(
      roc::capture([&](roc::stream_ref stream) { roc::test::fill_levels(levels, stream); }));
  for (float const value : {1.0f, 2.0f}) {
    levels.level(0).pixels().fill(value);
    executable.launch();
    EXPECT_EQ(value, levels.level(1).copy_to_host()(0, 0));
  }
}

TEST(MipmapLifetime, MayBeDestroyedBeforeItsKernelsHaveFinished) {
  roc::stream const stream(roc::non_blocking);
  auto const coordinates = roc::to_device(std::vector<float>{0.5f, 0.5f, 1});
  roc::device_array<double, 2> const out({1, 4});
  out.zero();
  roc::device().synchronize();
  roc::test::gate gate;
  {
    mipmap<float, 2> const levels({4, 4}, stream);
    auto const view = levels.view(normalized);
    gate.close(stream);
    levels.level(0).pixels().fill(7, stream);
    roc::test::fill_levels(levels, stream);
    roc::test::sample_levels(stream, view, coordinates.view().reshape(1, 3), out.view());
  }
  mipmap<float, 2> const other({4, 4});
  roc::stream const other_stream(roc::non_blocking);
  other.level(1).pixels().fill(9, other_stream);
  gate.open();
  stream.synchronize();
  other_stream.synchronize();
  EXPECT_EQ(7, out.copy_to_host()(0, 0));
}

TEST(MipmapLifetime, LaunchAfterTheEndOfTheMipmapIsAnError) {
  auto const coordinates = roc::to_device(std::vector<float>{0.5f, 0.5f, 1});
  roc::device_array<double, 2> const out({1, 4});
  out.zero();
  auto levels = std::make_optional<mipmap<float, 2>>(roc::shape<2>{4, 4});
  roc::graph_exec fills(
      roc::capture([&](roc::stream_ref stream) { roc::test::fill_levels(*levels, stream); }));
  roc::graph_exec samples(roc::capture([&](roc::stream_ref stream) {
    roc::test::sample_levels(stream, levels->view(normalized), coordinates.view().reshape(1, 3),
                             out.view());
  }));
  levels->level(0).pixels().fill(6);
  fills.launch();
  samples.launch();
  EXPECT_EQ(6, out.copy_to_host()(0, 0));
  levels.reset();
  constexpr auto text = "the graph uses the device array at ";
  roc::test::expect_error<roc::lifetime_error>([&] { fills.launch(); }, text);
  roc::test::expect_error<roc::lifetime_error>([&] { samples.launch(); }, text);
}

TEST(MipmapLifetime, GraphKeepsLevels) {
  auto const coordinates = roc::to_device(std::vector<float>{0.5f, 0.5f, 2});
  roc::device_array<double, 2> const out({1, 4});
  out.zero();
  roc::device_array<float, 2> const values({4, 4});
  roc::graph_exec executable(roc::capture([&](roc::stream_ref stream) {
    mipmap<float, 2> const levels({4, 4}, stream);
    roc::copy(values, levels.level(0).pixels(), stream);
    roc::test::fill_levels(levels, stream);
    roc::test::sample_levels(stream, levels.view(normalized), coordinates.view().reshape(1, 3),
                             out.view());
  }));
  for (float const value : {1.0f, 2.0f}) {
    values.fill(value);
    executable.launch();
    EXPECT_EQ(value, out.copy_to_host()(0, 0));
  }
}

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

TEST(MipmapSample, LevelIsRoundedAndLimited) {
  auto const levels = numbered({8, 8});
  auto const view = levels.view(normalized);
  EXPECT_EQ(4u, view.levels());
  EXPECT_EQ((std::vector<double>{0, 0, 1, 1, 2, 3, 3, 3, 0, 0}),
            sampled(view, {{0.5f, 0.5f, 0},
                           {0.1f, 0.9f, 0.49f},
                           {0.1f, 0.9f, 0.51f},
                           {0.5f, 0.5f, 1},
                           {0.5f, 0.5f, 2.25f},
                           {0.5f, 0.5f, 3},
                           {0.5f, 0.5f, 99},
                           {0.5f, 0.5f, infinity},
                           {0.5f, 0.5f, -1},
                           {0.5f, 0.5f, not_a_number}}));
}

TEST(MipmapSample, LevelsAreInterpolated) {
  auto const levels = numbered({8, 8});
  for (auto const unit : {sampler_unit::automatic, sampler_unit::software}) {
    auto const view =
        levels.view({.filter = filter_mode::linear, .normalized_coordinates = true, .unit = unit},
                    filter_mode::linear);
    std::vector<std::vector<float>> points;
    std::vector<float> const at{0, 0.25f, 0.75f, 1, 1.5f, 2.99f, 3, 7, infinity, -0.5f};
    for (float const level : at) points.push_back({0.3f, 0.6f, level});
    auto const values = sampled(view, points);
    for (std::size_t i = 0; i < at.size(); ++i) {
      EXPECT_NEAR(std::clamp(at[i], 0.0f, 3.0f), values[i], 1e-6) << at[i];
    }
  }
}

TEST(MipmapSample, IsThatOfTheLevel) {
  mipmap<float, 1> const levels({8}, 2);
  levels.level(0).copy_to_device(std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7});
  levels.level(1).copy_to_device(std::vector<float>{10, 20, 30, 40});
  auto const view = levels.view(normalized);
  // The element k of an axis of 8 is from k / 8 to (k + 1) / 8.
  EXPECT_EQ(
      (std::vector<double>{0, 3, 7, 10, 20, 40}),
      sampled(view,
              {{0.0625f, 0}, {0.4375f, 0}, {2.0f, 0}, {0.125f, 1}, {0.375f, 1}, {0.875f, 1}}));
}

TEST(MipmapSample, ThreeAxesAndFractions) {
  mipmap<float, 3> const solid({2, 4, 4}, 2);
  solid.level(0).pixels().fill(1);
  solid.level(1).pixels().fill(2);
  EXPECT_EQ((std::vector<double>{1, 1.5, 2}),
            sampled(solid.view(normalized, filter_mode::linear),
                    {{0.5f, 0.5f, 0.5f, 0}, {0.5f, 0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f, 1}}));

  using rgba = roc::test::rgba8;
  mipmap<rgba, 2> const picture({4, 4}, 2);
  picture.level(0).pixels().fill(rgba{255, 0, 0, 0});
  picture.level(1).pixels().fill(rgba{0, 0, 0, 0});
  auto const values = sampled(picture.normalized_view(normalized, filter_mode::linear),
                              {{0.5f, 0.5f, 0}, {0.5f, 0.5f, 0.25f}, {0.5f, 0.5f, 1}});
  EXPECT_NEAR(1, values[0], 1e-6);
  EXPECT_NEAR(0.75, values[1], 1e-6);
  EXPECT_NEAR(0, values[2], 1e-6);
  EXPECT_EQ((std::vector<double>{255, 0}),
            sampled(picture.view(normalized), {{0.5f, 0.5f, 0.4f}, {0.5f, 0.5f, 0.6f}}));
}

TEST(MipmapSample, LargeAndInfiniteValuesAreInterpolated) {
  mipmap<float, 1> const levels({2});
  auto const view = levels.view(normalized, filter_mode::linear);
  for (auto const& [fine, coarse, expected] :
       {std::array{infinity, infinity, infinity}, std::array{infinity, 0.0f, infinity},
        std::array{0.0f, infinity, infinity}, std::array{3e38f, -3e38f, 0.0f}}) {
    levels.level(0).pixels().fill(fine);
    levels.level(1).pixels().fill(coarse);
    EXPECT_EQ(expected, sampled(view, {{0.5f, 0.5f}})[0]) << fine << ", " << coarse;
  }
}

TEST(MipmapSample, TextureUnitsAgreeWithSoftware) {
  if (!roc::device().has_texture_units()) GTEST_SKIP() << "the device has no texture units";
  auto random = roc::test::random_generator("TextureUnitsAgreeWithSoftware");
  mipmap<float, 2> const levels({16, 8});
  std::vector<float> values(128);
  std::uniform_real_distribution<float> any(0, 1);
  for (float& value : values) value = any(random);
  levels.level(0).copy_to_device(values);
  roc::test::fill_levels(levels, {});
  std::uniform_real_distribution<float> anywhere(-2.3f, 3.4f);
  std::uniform_real_distribution<float> any_level(-0.5f, 4.5f);
  std::vector<std::vector<float>> points;
  for (int i = 0; i < 1000; ++i) {
    points.push_back({anywhere(random), anywhere(random), any_level(random)});
  }
  for (auto const address : {roc::address_mode::clamp, roc::address_mode::wrap,
                             roc::address_mode::mirror, roc::address_mode::border}) {
    sampler how{.address = address,
                .filter = filter_mode::linear,
                .normalized_coordinates = true,
                .unit = sampler_unit::hardware};
    auto const view = levels.view(how, filter_mode::linear);
    EXPECT_TRUE(view.level(0).uses_hardware());
    auto const hardware = sampled(view, points);
    how.unit = sampler_unit::software;
    auto const software = sampled(levels.view(how, filter_mode::linear), points);
    for (std::size_t i = 0; i < points.size(); ++i) {
      EXPECT_NEAR(software[i], hardware[i], 3.0 / 256) << static_cast<int>(address) << ", " << i;
    }
  }
}

TEST(MipmapErrors, AreNamed) {
  expect_error<roc::shape_error>(
      [] {
        mipmap<float, 2>({4, 4}, 0);
      },
      "with these extents cannot have 0 levels; use 1 to 3");
  expect_error<roc::shape_error>([] { mipmap<float, 2>({4, 4}, -1); }, "cannot have -1 levels");
  expect_error<roc::shape_error>([] { mipmap<float, 2>({4, 4}, 4u); }, "cannot have 4 levels");
  expect_error<roc::shape_error>([] { mipmap<float, 1>({1 << 20}, 17); }, "use 1 to 16");
  expect_error<roc::shape_error>([] { mipmap<float, 2>({4, 0}, {}); }, "extent 0");
  mipmap<float, 2> const levels({4, 4}, {});
  EXPECT_EQ(3u, levels.levels());
  expect_error<roc::shape_error>([&] { levels.level(3); },
                                 "level 3 is out of bounds for a mipmap with 3 levels; use 0 to 2");
  expect_error<roc::shape_error>([&] { levels.level(-1); }, "level -1 is out of bounds");
  expect_error<roc::error>([&] { levels.view({}); }, "needs normalized coordinates");
  expect_error<roc::error>([&] { levels.view(normalized, static_cast<filter_mode>(7)); },
                           "the filter between levels");
  mipmap<roc::test::rgba8, 2> const bytes({4, 4});
  expect_error<roc::error>([&] { bytes.view(normalized, filter_mode::linear); },
                           "linear filter between levels of integers");
  EXPECT_NO_THROW(bytes.normalized_view(normalized, filter_mode::linear));
  EXPECT_THROW(levels.view(normalized).level(3), roc::shape_error);
}

// Ends the process; with code 3 if the kernel, or the synchronization, throws.
[[noreturn]] void load_level(int level) {
  try {
    auto const levels = numbered({4, 4});
    roc::stream const stream;
    roc::test::load_level(stream, levels.view(normalized), level);
    stream.synchronize();
  } catch (roc::error const&) {
    std::_Exit(3);
  }
  std::_Exit(0);
}

TEST(MipmapBoundsDeathTest, LevelsOutsideStopTheKernel) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(load_level(2), testing::ExitedWithCode(0), "");
  auto const has_failed = [](int status) {
    return WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) == 3);
  };
  // Host stubs for the fake HIP runtime check as device code does, which does not print the level.
  auto const message = [](std::string const& of_host) -> std::string {
    if (roc::test::on_fake_runtime()) return "level of a mipmap out of bounds";
    return roc::test::on_cpu() ? of_host : "";
  };
  EXPECT_EXIT(load_level(3), has_failed, message("level 3 is out of bounds"));
  EXPECT_EXIT(load_level(-1), has_failed, message("level -1 is out of bounds"));
}

}  // namespace
