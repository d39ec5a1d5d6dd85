// SPDX-License-Identifier: MIT
#include "kernels/for_each_kernels.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "platform/call.hpp"
#include "support/environment.hpp"
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

TEST(ForEach, DoesNothingForAnEmptyShape) {
  roc::device_array<int, 2> const array({0, 5});
  EXPECT_NO_THROW(roc::test::number({}, array.view()));
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

TEST(UserKernel, AcceptsViewsByValue) {
  std::vector<int> host(6 * 7);
  std::iota(host.begin(), host.end(), 0);
  auto const from = roc::to_device(host);
  roc::device_array<int, 2> const to({7, 6});
  roc::stream const stream;
  if (!roc::test::transpose_by_kernel(stream, from.reshape(6, 7), to.view())) {
    GTEST_SKIP() << "this compiler has no kernels; the host platform has for_each";
  }
  auto const back = to.copy_to_host();
  for (int i = 0; i < 6; ++i) {
    for (int k = 0; k < 7; ++k) ASSERT_EQ(i * 7 + k, back(k, i));
  }
}

// The host platform runs functions that a host compiler compiled.
#if !ROCARRAY_PLATFORM_HOST
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
