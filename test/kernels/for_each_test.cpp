// SPDX-License-Identifier: MIT
#include "kernels/for_each_kernels.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "platform/call.hpp"
#include "support/environment.hpp"
#include "support/expect_error.hpp"
#include "support/gate.hpp"

namespace {

using roc::test::gate;

TEST(ForEach, VisitsEveryIndexOfOneAxis) {
  std::size_t const n = roc::test::scaled(100'000);
  std::vector<float> x(n);
  std::iota(x.begin(), x.end(), 0.0f);
  auto const dx = roc::to_device(x);
  auto const dy = roc::to_device(std::vector<float>(n, 1.0f));
  roc::stream const stream;
  roc::test::saxpy(stream, 2.0f, dx.view(), dy.view());
  stream.synchronize();
  auto const y = dy.copy_to_host();
  for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(2.0f * static_cast<float>(i) + 1.0f, y(i)) << i;
}

TEST(ForEach, WritesAStridedViewOfTwoAxes) {
  roc::device_array<int, 2> array({10, 30});
  array.copy_to_device(std::vector<int>(300, -1));
  roc::stream const stream;
  roc::test::number(stream, array(roc::slice(1, 9, 2), roc::slice(roc::none, roc::none, -3)));
  stream.synchronize();
  auto const back = array.copy_to_host();
  EXPECT_EQ(0, back(1, 29));
  EXPECT_EQ(309, back(7, 2));
  EXPECT_EQ(-1, back(0, 29));
  EXPECT_EQ(-1, back(1, 28));
}

TEST(ForEach, CallsTheFunctorOnceForRankZero) {
  int const start = 41;
  roc::device_array<int, 0> array(roc::shape<0>{});
  array.copy_to_device(roc::host_view<int const, 0>(&start, {}));
  roc::test::increment({}, array.view());
  EXPECT_EQ(42, array.copy_to_host()());
}

// On CUDA and new ROCm, the last error of a thread stays until it is read.
TEST(ForEach, IgnoresAnEarlierErrorOfTheProgram) {
  int const start = 41;
  roc::device_array<int, 0> array(roc::shape<0>{});
  array.copy_to_device(roc::host_view<int const, 0>(&start, {}));
  roc::device_array<int, 2> matrix({10, 30});
  void* none = nullptr;
  ASSERT_NE(hipSuccess, hipMalloc(&none, ~std::size_t{0} / 2));
  EXPECT_NO_THROW(roc::test::increment({}, array.view()));
  EXPECT_NO_THROW(matrix(roc::all, roc::slice(0, 30, 2)).fill(5));
  EXPECT_NO_THROW(matrix(roc::all, roc::slice(1, 30, 2))
                      .copy_to_device(matrix(roc::all, roc::slice(0, 30, 2))));
  static_cast<void>(hipGetLastError());
  EXPECT_EQ(42, array.copy_to_host()());
  EXPECT_EQ(5, matrix.copy_to_host()(9, 29));
}

TEST(ForEach, DoesNothingForAnEmptyShape) {
  roc::device_array<int, 2> const array({0, 5});
  EXPECT_NO_THROW(roc::test::number({}, array.view()));
}

constexpr roc::test::block_choice all_blocks[] = {
    roc::test::block_choice::standard, roc::test::block_choice::rows,
    roc::test::block_choice::tiles, roc::test::block_choice::threads_1024};

// Calls for_each for a box of an array, and expects one call for each index of the box, and none
// for any other. The array has a margin of 1 around the box on all axes.
template <std::size_t N>
void expect_one_call_for_each_index(roc::shape<N> const& begin, roc::shape<N> const& extents,
                                    roc::test::block_choice blocks) {
  roc::shape<N> origin = begin;
  roc::shape<N> end = begin;
  roc::shape<N> whole = extents;
  for (std::size_t axis = 0; axis < N; ++axis) {
    origin[axis] -= 1;
    end[axis] += extents[axis];
    whole[axis] += 2;
  }
  roc::device_array<int, N> array(whole);
  roc::stream const stream;
  array.zero(stream);
  roc::test::count_visits(stream, begin, end, origin, array.view(), blocks);
  stream.synchronize();
  auto const visits = array.copy_to_host();
  int const* const actual = visits.data();
  for (std::size_t i = 0; i < visits.size(); ++i) {
    std::size_t rest = i;
    bool is_inside = true;
    for (std::size_t axis = N; axis-- != 0; rest /= whole[axis]) {
      std::size_t const index = rest % whole[axis];
      is_inside = is_inside && index != 0 && index != whole[axis] - 1;
    }
    int const expected = is_inside ? static_cast<int>(i) + 1 : 0;
    if (actual[i] == expected) continue;
    FAIL() << "element " << i << " of the array around a box of "
           << ::testing::PrintToString(extents) << " is " << actual[i] << ", not " << expected;
  }
}

TEST(ForEachOfABox, CallsTheFunctorOnceForEachIndex) {
  for (auto const blocks : all_blocks) {
    expect_one_call_for_each_index<1>({1}, {1}, blocks);
    expect_one_call_for_each_index<1>({7}, {3000}, blocks);
    expect_one_call_for_each_index<2>({1, 1}, {63, 65}, blocks);
    expect_one_call_for_each_index<2>({5, 1}, {1000, 3}, blocks);
    expect_one_call_for_each_index<2>({1, 9}, {3, 1000}, blocks);
    for (std::size_t columns : {3, 17, 33}) {
      expect_one_call_for_each_index<3>({1, 2, 3}, {9, 21, columns}, blocks);
      expect_one_call_for_each_index<4>({1, 2, 3, 4}, {3, 5, 7, columns}, blocks);
    }
  }
}

TEST(ForEachOfABox, CallsTheFunctorOnceForEachIndexOfLongRows) {
  if (roc::test::scaled(100'000) != 100'000) GTEST_SKIP() << "too many elements for a simulator";
  auto const standard = roc::test::block_choice::standard;
  expect_one_call_for_each_index<2>({1, 1}, {2051, 513}, standard);
  expect_one_call_for_each_index<4>({1, 1, 1, 1}, {5, 3, 600, 128}, standard);
  expect_one_call_for_each_index<3>({1, 1, 1}, {17, 127, 512}, roc::test::block_choice::tiles);
}

TEST(ForEachOfABox, HasIndicesOf64Bits) {
  constexpr std::size_t far = (std::size_t{1} << 33) - 2;
  for (auto const blocks : all_blocks) {
    expect_one_call_for_each_index<1>({far}, {100}, blocks);
    expect_one_call_for_each_index<2>({far, 2 * far}, {6, 5}, blocks);
    expect_one_call_for_each_index<3>({far, 3, 2 * far}, {4, 5, 6}, blocks);
    expect_one_call_for_each_index<4>({far, 3 * far, far, 2 * far}, {4, 3, 6, 5}, blocks);
  }
}

TEST(ForEachOfABox, TakesBoundsInBraces) {
  auto const array = roc::to_device(std::vector<int>(5 * 6, 0));
  roc::stream const stream;
  roc::test::increment_interior(stream, array.reshape(5, 6), 3);
  stream.synchronize();
  auto const back = array.copy_to_host();
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t k = 0; k < 6; ++k) {
      EXPECT_EQ(i >= 1 && i < 4 && k >= 1 && k < 5, back(i * 6 + k)) << i << ", " << k;
    }
  }
}

TEST(ForEachOfABox, TakesNumbersForOneAxis) {
  auto const array = roc::to_device(std::vector<int>(6, 0));
  roc::test::increment_range({}, array.view(), 1, 4);
  auto const back = array.copy_to_host();
  EXPECT_EQ((std::vector<int>{0, 1, 1, 1, 0, 0}), std::vector<int>(back.begin(), back.end()));
}

TEST(ForEachOfABox, DoesNothingForAnEmptyBox) {
  roc::device_array<int, 2> const array({5, 6});
  array.zero();
  roc::test::count_visits<2>({}, {2, 3}, {2, 5}, {0, 0}, array.view(),
                             roc::test::block_choice::standard);
  for (int const value : array.copy_to_host()) EXPECT_EQ(0, value);
}

TEST(ForEachOfABox, ThrowsShapeErrorIfItBeginsAfterItsEnd) {
  roc::device_array<int, 3> const array({5, 6, 7});
  try {
    roc::test::count_visits<3>({}, {1, 2, 3}, {4, 1, 3}, {0, 0, 0}, array.view(),
                               roc::test::block_choice::tiles);
    FAIL();
  } catch (roc::shape_error const& error) {
    EXPECT_NE(std::string::npos,
              std::string(error.what())
                  .find("the box from (1, 2, 3) to (4, 1, 3) begins at 2 and ends at 1 on "
                        "axis 1; use a begin that is not greater than the end"))
        << error.what();
  }
}

TEST(ForEachOfABox, ThrowsShapeErrorForANegativeBound) {
  roc::device_array<int> const array({5});
  try {
    roc::test::increment_range({}, array.view(), -1, 4);
    FAIL();
  } catch (roc::shape_error const& error) {
    EXPECT_NE(std::string::npos,
              std::string(error.what()).find("a bound is negative: -1; use 0 or more"))
        << error.what();
  }
}

TEST(ForEachOfABox, ThrowsShapeErrorIfTheNumberOfIndicesOverflows) {
  roc::device_array<int, 2> const array({5, 6});
  constexpr std::size_t large = std::size_t{1} << 32;
  EXPECT_THROW(roc::test::count_visits<2>({}, {1, 1}, {large, large}, {0, 0}, array.view(),
                                          roc::test::block_choice::standard),
               roc::shape_error);
}

TEST(ForEach, IsCapturedInAGraph) {
  std::vector<float> const ones(1000, 1.0f);
  auto const x = roc::to_device(ones);
  auto const y = roc::to_device(ones);
  roc::graph_exec executable(roc::capture(
      [&](roc::stream_ref stream) { roc::test::saxpy(stream, 2.0f, x.view(), y.view()); }));
  EXPECT_EQ(1.0f, y.copy_to_host()(999));
  executable.launch();
  executable.launch();
  EXPECT_EQ(5.0f, y.copy_to_host()(999));
}

TEST(ForEach, IsRefusedOnTheDefaultStreamDuringACapture) {
  roc::device_array<int, 2> const array({2, 2});
  array.zero();
  roc::graph_exec executable(roc::capture([&](roc::stream_ref) {
    try {
      roc::test::number({}, array.view());
      ADD_FAILURE() << "no error";
    } catch (roc::error const& error) {
      EXPECT_NE(std::string::npos, std::string(error.what()).find("default stream"))
          << error.what();
    }
  }));
  executable.launch();
  EXPECT_EQ(0, array.copy_to_host()(1, 1));
}

TEST(ForEach, RunsInStreamOrder) {
  std::vector<float> const ones(1000, 1.0f);
  std::vector<float> back(1000);
  roc::device_array<float> const x({1000});
  roc::device_array<float> const y({1000});
  roc::stream const stream;
  // Loads the kernel before the gate is closed: CUDA synchronizes the device for that.
  roc::test::saxpy(stream, 1.0f, x.view(), y.view());
  stream.synchronize();
  gate hold;
  hold.close(stream);
  x.copy_to_device(ones, stream);
  y.copy_to_device(ones, stream);
  for (int i = 0; i < 3; ++i) roc::test::saxpy(stream, 1.0f, x.view(), y.view());
  y.copy_to_host(back, stream);
  hold.open();
  stream.synchronize();
  EXPECT_EQ(std::vector<float>(1000, 4.0f), back);
}

TEST(ForEach, SynchronousCopiesWaitForIt) {
  std::vector<float> const ones(1000, 1.0f);
  auto const x = roc::to_device(ones);
  auto const y = roc::to_device(ones);
  roc::stream const stream;
  roc::test::saxpy(stream, 5.0f, x.view(), y.view());
  EXPECT_EQ(6.0f, y.copy_to_host()(999));
}

TEST(ForEach, CallsALambda) {
  if (roc::test::on_fake_runtime()) GTEST_SKIP() << "a lambda's kernel has no host stub";
  auto const array = roc::to_device(std::vector<int>{1, 2, 3});
  roc::test::double_by_lambda({}, array.view());
  EXPECT_EQ(6, array.copy_to_host()(2));
}

TEST(ForEach, ThrowsLifetimeErrorForAMovedFromStream) {
  roc::device_array<int, 2> const array({2, 2});
  roc::stream first;
  auto const second = std::move(first);
  EXPECT_THROW(roc::test::number(first, array.view()), roc::lifetime_error);
}

#if !ROCARRAY_PLATFORM_HOST  // whose compiler has no <<<>>>; roc::launch is tested there
TEST(UserKernel, AcceptsViewsByValue) {
  std::vector<int> host(6 * 7);
  std::iota(host.begin(), host.end(), 0);
  auto const from = roc::to_device(host);
  roc::device_array<int, 2> const to({7, 6});
  roc::stream const stream;
  ASSERT_TRUE(roc::test::transpose_by_kernel(stream, from.reshape(6, 7), to.view()));
  auto const back = to.copy_to_host();
  for (int i = 0; i < 6; ++i) {
    for (int k = 0; k < 7; ++k) ASSERT_EQ(i * 7 + k, back(k, i));
  }
}

TEST(UserKernel, IsCapturedInAGraph) {
  auto const from = roc::device_array<int, 2>({6, 7});
  auto to = std::make_optional<roc::device_array<int, 2>>(roc::shape<2>{7, 6});
  bool is_launched = false;
  roc::graph_exec executable(roc::capture([&](roc::stream_ref stream) {
    is_launched = roc::test::transpose_by_kernel(stream, from.view(), to->view());
    from.record_stream(stream);
    to->record_stream(stream);
  }));
  ASSERT_TRUE(is_launched);
  for (int const value : {3, 4}) {
    from.fill(value);
    executable.launch();
    EXPECT_EQ(value, to->copy_to_host()(6, 5));
  }
  to.reset();
  roc::test::expect_error<roc::lifetime_error>([&] { executable.launch(); },
                                               "the graph uses the device array at ");
}

// The host platform runs functions that a host compiler compiled.
TEST(ForEach, ThrowsNotSupportedOnADeviceIfCompiledByAHostCompiler) {
  struct nothing {
    void operator()(std::size_t) const {}
  };
  try {
    roc::for_each({}, std::size_t{4}, nothing{});
    FAIL();
  } catch (roc::error const& error) {
    EXPECT_EQ(std::errc::not_supported, error.code()) << error.what();
  }
}
#endif

}  // namespace
