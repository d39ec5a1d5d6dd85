// SPDX-License-Identifier: MIT
// Copies between two devices in any layout, in pieces of 4 KiB, with and without a stream.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "platform/call.hpp"
#include "support/gate.hpp"

namespace {

constexpr roc::shape<2> extents = {90, 70};

class BetweenDevices : public testing::Test {
 protected:
  void SetUp() override {
    if (roc::device::count() < 2) GTEST_SKIP() << "there is one device";
  }
};

roc::device_array<int, 2> on_device(int ordinal, roc::shape<2> const& shape) {
  roc::device_guard const guard{roc::device(ordinal)};
  return roc::device_array<int, 2>(shape);
}

std::vector<int> numbers(int first) {
  std::vector<int> result(extents[0] * extents[1]);
  std::iota(result.begin(), result.end(), first);
  return result;
}

// A part of an array with rows to spare, so that it has `extents` in some layout.
using part_of = roc::device_view<int, 2> (*)(roc::device_array<int, 2> const&);
struct layout {
  char const* name;
  roc::shape<2> whole;
  part_of of;
};
layout const layouts[] = {
    {"contiguous", extents, [](auto const& a) { return a.view(); }},
    {"rows", {90, 100}, [](auto const& a) { return a(roc::all, roc::slice(3, 73)); }},
    {"every other", {180, 140},
     [](auto const& a) { return a(roc::slice(0, 180, 2), roc::slice(1, 140, 2)); }},
    {"transposed", {70, 90}, [](auto const& a) { return a.view().transpose(); }},
    {"backwards", extents,
     [](auto const& a) { return a(roc::slice(roc::none, roc::none, -1), roc::all); }},
};

enum class order { none, of_source, of_destination, default_stream };

void check(layout const& from, layout const& to, order in, int source_device) {
  SCOPED_TRACE(std::string(from.name) + " to " + to.name + ", " +
               std::to_string(static_cast<int>(in)));
  int const target_device = 1 - source_device;
  auto const source = on_device(source_device, from.whole);
  auto const target = on_device(target_device, to.whole);
  target.fill(-7);
  auto const expected = numbers(5);
  {
    roc::device_guard const guard{
        roc::device(in == order::of_destination ? target_device : source_device)};
    roc::stream const own;
    roc::stream_ref const stream =
        in == order::default_stream ? roc::stream_ref() : roc::stream_ref(own);
    if (in == order::none) {
      roc::copy(expected, from.of(source));
      roc::copy(from.of(source), to.of(target));
    } else {
      roc::copy(expected, from.of(source));
      roc::copy(from.of(source), to.of(target), stream);
      // Comes after it, in the stream's order.
      if (in == order::of_destination) {
        to.of(target)(0, roc::all).fill(8, stream);
      } else {
        from.of(source).fill(-1, stream);
      }
      stream.synchronize();
    }
  }
  std::vector<int> seen(expected.size());
  roc::copy(to.of(target), seen);
  auto wanted = expected;
  if (in == order::of_destination) std::fill_n(wanted.begin(), extents[1], 8);
  EXPECT_EQ(wanted, seen);
  // Nothing else was written.
  auto const all = target.copy_to_host();
  std::size_t const untouched =
      static_cast<std::size_t>(std::count(all.data(), all.data() + all.size(), -7));
  EXPECT_EQ(target.size() - expected.size(), untouched);
}

TEST_F(BetweenDevices, AnyLayoutToAny) {
  for (auto const& from : layouts) {
    for (auto const& to : layouts) {
      for (int const source_device : {0, 1}) check(from, to, order::none, source_device);
    }
  }
}

TEST_F(BetweenDevices, InTheOrderOfAStreamOfEither) {
  for (auto const& from : layouts) {
    for (auto const& to : layouts) {
      for (order const in : {order::of_source, order::of_destination}) check(from, to, in, 0);
    }
  }
  check(layouts[1], layouts[3], order::default_stream, 0);
  check(layouts[2], layouts[3], order::of_source, 1);
}

TEST_F(BetweenDevices, AfterWorkThatIsNotDone) {
  auto const source = on_device(0, {70, 90});
  auto const target = on_device(1, extents);
  roc::stream const stream;
  {
    roc::test::gate gate;
    gate.close(stream);
    source.fill(3, stream);
    roc::copy(source.view().transpose(), target, stream);
    if (roc::test::gate::holds()) {
      EXPECT_FALSE(stream.query());
    }
  }
  stream.synchronize();
  EXPECT_EQ(3, target(89, 69).get());
}

TEST_F(BetweenDevices, InBothDirectionsAtOnce) {
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      int const device = t % 2;
      roc::device(device).make_current();
      auto const source = on_device(device, {70, 90});
      auto const target = on_device(1 - device, extents);
      roc::stream const stream;
      for (int i = 0; i < 10; ++i) {
        source.fill(10 * t + i, stream);
        roc::copy(source.view().transpose(), target, stream);
        stream.synchronize();
        if (target(0, 0).get() != 10 * t + i || target(-1, -1).get() != 10 * t + i) ++wrong[t];
      }
    });
  }
  for (auto& each : threads) each.join();
  EXPECT_EQ(std::vector<int>(4, 0), wrong);
}

// A batch sorts its copies by device, and sends those between devices by themselves.
TEST_F(BetweenDevices, InABatch) {
  auto const source = numbers(1);
  roc::host_view const host(source.data(), extents);
  auto const first = on_device(0, extents);
  auto const second = on_device(1, extents);
  auto const third = on_device(1, {70, 90});
  roc::host_array<int, 2> back({70, 90});
  roc::copy_batch batch;
  batch.add(host, first).add(first, second).add(second.view().transpose(), third);
  batch.add(third, back);
  batch.submit();
  EXPECT_EQ(source[5 * extents[1] + 7], back(7, 5));

  roc::stream const stream;  // of device 0
  roc::copy_batch wrong;
  wrong.add(host, second);
  EXPECT_THROW(wrong.submit(stream), roc::error);
  roc::copy_batch right;
  first.zero();
  right.add(host, first).add(first, second);
  second.zero();
  right.submit(stream);
  stream.synchronize();
  EXPECT_EQ(source[5 * extents[1] + 7], second(5, 7).get());
}

TEST_F(BetweenDevices, AnyCallMayFail) {
  auto const before = roc::set_log_hook([](char const*) noexcept {});
  auto const source = on_device(0, {70, 90});
  auto const target = on_device(1, {90, 100});
  auto const part = target(roc::all, roc::slice(0, 70));
  source.fill(6);
  for (char const* const name : {"hipSetDevice", "hipGetDevice", "hipStreamCreateWithFlags",
                                 "hipEventCreateWithFlags", "hipEventRecord",
                                 "hipStreamWaitEvent", "hipMemcpyAsync", "hipMalloc"}) {
    for (unsigned nth = 1; nth < 6; ++nth) {
      roc::stream const stream;
      ASSERT_TRUE(roc::platform::fail_call(name, nth, hipErrorLaunchFailure));
      try {
        roc::copy(source.view().transpose(), part, stream);
        stream.synchronize();
      } catch (roc::error const& error) {
        EXPECT_STREQ(name, error.call());
      } catch (std::logic_error const&) {
        ADD_FAILURE() << name;
      }
      roc::platform::clear_failures();
    }
  }
  target.fill(0);
  roc::copy(source.view().transpose(), part);
  EXPECT_EQ(6, part(89, 69).get());
  roc::set_log_hook(before);
}

}  // namespace
