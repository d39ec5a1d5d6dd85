// SPDX-License-Identifier: MIT
// roc::mipmap: its levels, their computation, and samples at any level of detail.
#include "kernels/mipmap_kernels.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <roc/roc.hpp>

#include "support/environment.hpp"

namespace {

using roc::filter_mode;
using roc::mipmap;
using roc::sampler;
using roc::sampler_unit;
using roc::shape;

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
  roc::test::sample_levels({}, view, coordinates.view().reshape(int(points.size()), int(columns)),
                           out.view());
  auto const values = out.copy_to_host();
  std::vector<double> result;
  for (std::size_t i = 0; i < points.size(); ++i) result.push_back(values(i, 0));
  return result;
}

// Returns a mipmap of which each element of level k is k.
mipmap<float, 2> numbered(shape<2> const& extents) {
  mipmap<float, 2> result(extents);
  for (std::size_t i = 0; i < result.levels(); ++i) {
    result.level(i).pixels().fill(static_cast<float>(i));
  }
  return result;
}

// Expects that f() throws an Error whose message contains `text`.
template <class Error, class F>
void expect_error(F f, std::string const& text) {
  try {
    f();
    ADD_FAILURE() << "no error: " << text;
  } catch (Error const& error) {
    EXPECT_NE(std::string::npos, std::string(error.what()).find(text)) << error.what();
    EXPECT_EQ(__FILE__, std::string(error.location().file_name()));
  }
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

TEST(MipmapFill, OddExtentsAreInterpolated) {
  mipmap<float, 1> const levels({5}, 2);
  levels.level(0).copy_to_device(std::vector<float>{0, 4, 8, 12, 16});
  roc::test::fill_levels(levels, {});
  auto const level = levels.level(1).copy_to_host();  // the centers are at 1.25 and 3.75
  EXPECT_FLOAT_EQ(3, level(0));
  EXPECT_FLOAT_EQ(13, level(1));
}

TEST(MipmapFill, FractionsAreRounded) {
  using rgba = roc::test::rgba8;
  mipmap<rgba, 2> const levels({2, 2});
  levels.level(0).copy_to_device(
      std::vector<rgba>{{0, 255, 1, 9}, {0, 255, 1, 9}, {0, 254, 1, 9}, {2, 254, 3, 9}});
  roc::test::fill_levels(levels, {});
  rgba const mean = levels.level(1).copy_to_host()(0, 0);
  EXPECT_TRUE(mean.x == 0 || mean.x == 1) << int(mean.x);  // of 0.5
  EXPECT_TRUE(mean.y == 254 || mean.y == 255) << int(mean.y);
  EXPECT_TRUE(mean.z == 1 || mean.z == 2) << int(mean.z);
  EXPECT_EQ(9, mean.w);
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

TEST(MipmapErrors, AreNamed) {
  expect_error<roc::shape_error>(
      [] {
        mipmap<float, 2>({4, 4}, 0);
      },
      "cannot have 0 levels; one of these extents has from 1 to 3");
  expect_error<roc::shape_error>([] { mipmap<float, 2>({4, 4}, 4); }, "cannot have 4 levels");
  expect_error<roc::shape_error>([] { mipmap<float, 1>({1 << 20}, 17); }, "from 1 to 16");
  expect_error<roc::shape_error>([] { mipmap<float, 2>({4, 0}); }, "extent 0");
  mipmap<float, 2> const levels({4, 4});
  expect_error<roc::shape_error>([&] { levels.level(3); }, "of 3 levels has no level 3");
  expect_error<roc::error>([&] { levels.view({}); }, "set normalized_coordinates");
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
  EXPECT_EXIT(load_level(3), has_failed, roc::test::on_cpu() ? "bounds" : "");
  EXPECT_EXIT(load_level(-1), has_failed, roc::test::on_cpu() ? "bounds" : "");
}

}  // namespace
