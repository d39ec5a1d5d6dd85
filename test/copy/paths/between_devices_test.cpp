// SPDX-License-Identifier: MIT
// Copies between two devices in any layout, in chunks of 4 KiB, with and without a stream.
#include <roc/native.hpp>
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "platform/call.hpp"
#include "runtime/default_stream_sync.hpp"
#include "support/call_counter.hpp"
#include "support/gate.hpp"
#include "support/held_auxiliary_streams.hpp"
#include "support/options.hpp"

namespace {

// Staging memory is small, so that copies take many chunks.
roc::test::program_options const options_of_tests(roc::test::small_staging);

constexpr roc::shape<2> extents = {90, 70};

class BetweenDevices : public testing::Test {
 protected:
  void SetUp() override {
    if (roc::device::count() < 2) GTEST_SKIP() << "needs two devices";
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

// A named layout: an array of shape `array_shape`, of which `view_of` returns a view of `extents`.
using view_function = roc::device_view<int, 2> (*)(roc::device_array<int, 2> const&);
struct layout {
  char const* name;
  roc::shape<2> array_shape;
  view_function view_of;
};
layout const layouts[] = {
    {"contiguous", extents, [](auto const& a) { return a.view(); }},
    {"rows", {90, 100}, [](auto const& a) { return a(roc::all, roc::slice(3, 73)); }},
    {"every other",
     {180, 140},
     [](auto const& a) { return a(roc::slice(0, 180, 2), roc::slice(1, 140, 2)); }},
    {"transposed", {70, 90}, [](auto const& a) { return a.view().transpose(); }},
    {"backwards", extents,
     [](auto const& a) { return a(roc::slice(roc::none, roc::none, -1), roc::all); }},
};

// The stream of the copy.
enum class stream_choice { none, source_device, destination_device, default_stream };

void check(layout const& from, layout const& to, stream_choice choice, int source_device) {
  SCOPED_TRACE(std::string(from.name) + " to " + to.name + ", " +
               std::to_string(static_cast<int>(choice)));
  int const target_device = 1 - source_device;
  auto const source = on_device(source_device, from.array_shape);
  auto const target = on_device(target_device, to.array_shape);
  target.fill(-7);
  auto const expected = numbers(5);
  {
    roc::device_guard const guard{
        roc::device(choice == stream_choice::destination_device ? target_device : source_device)};
    roc::stream const stream_of_device;
    roc::stream_ref const stream = choice == stream_choice::default_stream
                                       ? roc::stream_ref()
                                       : roc::stream_ref(stream_of_device);
    if (choice == stream_choice::none) {
      roc::copy(expected, from.view_of(source));
      roc::copy(from.view_of(source), to.view_of(target));
    } else {
      roc::copy(expected, from.view_of(source));
      roc::copy(from.view_of(source), to.view_of(target), stream);
      // A fill that must run after the copy, in the stream's order.
      if (choice == stream_choice::destination_device) {
        to.view_of(target)(0, roc::all).fill(8, stream);
      } else {
        from.view_of(source).fill(-1, stream);
      }
      stream.synchronize();
    }
  }
  std::vector<int> seen(expected.size());
  roc::copy(to.view_of(target), seen);
  auto expected_result = expected;
  if (choice == stream_choice::destination_device)
    std::fill_n(expected_result.begin(), extents[1], 8);
  EXPECT_EQ(expected_result, seen);
  // No other element has changed.
  auto const all = target.copy_to_host();
  std::size_t const untouched =
      static_cast<std::size_t>(std::count(all.data(), all.data() + all.size(), -7));
  EXPECT_EQ(target.size() - expected.size(), untouched);
}

TEST_F(BetweenDevices, AnyLayoutsAreCopied) {
  for (auto const& from : layouts) {
    for (auto const& to : layouts) {
      for (int const source_device : {0, 1}) check(from, to, stream_choice::none, source_device);
    }
  }
}

TEST_F(BetweenDevices, AnyLayoutsAreCopiedWithoutPeerAccess) {
  roc::scoped_options const scope({.peer_access = false});
  for (auto const& from : layouts) {
    for (auto const& to : layouts) {
      for (int const source_device : {0, 1}) check(from, to, stream_choice::none, source_device);
    }
  }
}

// The view names no device: that of its memory is found out.
TEST_F(BetweenDevices, CopyOfAViewWithoutDeviceComesAfterPendingWorkOfItsDevice) {
  auto const without_device = [](roc::device_view<int, 2> const& view) {
    return roc::device_view<int, 2>(view.data(), view.shape(), view.strides());
  };
  auto const expected = numbers(5);
  auto pinned = roc::pinned_array<int>(expected.size());
  std::copy(expected.begin(), expected.end(), pinned.data());
  roc::host_view<int, 2> const contents(pinned.data(), extents);
  for (bool const peer_access : {true, false}) {
    roc::scoped_options const scope({.peer_access = peer_access});
    for (bool const is_source : {true, false}) {
      for (auto const& from : layouts) {
        SCOPED_TRACE(std::string(from.name) + (is_source ? ", source" : ", destination"));
        auto const source = on_device(is_source ? 0 : 1, from.array_shape);
        auto const target = on_device(is_source ? 1 : 0, from.array_shape);
        auto const source_view = from.view_of(source);
        auto const target_view = from.view_of(target);
        roc::device_guard const of_source{roc::device(source.device_ordinal())};
        roc::stream const writer(roc::non_blocking);
        roc::copy(contents, source_view, writer);
        roc::device_guard const current{roc::device(0)};
        if (is_source) {
          roc::copy(without_device(source_view), target_view);
        } else {
          roc::copy(source_view, without_device(target_view));
        }
        std::vector<int> seen(expected.size());
        roc::copy(target_view, seen);
        EXPECT_EQ(expected, seen);
      }
    }
  }
}

// All devices can read it, so that no peer access is needed.
TEST_F(BetweenDevices, ManagedMemoryIsReadByTheOtherDevice) {
  if (!roc::device(0).has_managed_memory() || !roc::device(1).has_managed_memory()) {
    GTEST_SKIP() << "needs managed memory";
  }
  roc::scoped_options const scope({.peer_access = false});
  auto managed = roc::managed_array<int>(extents);
  auto const expected = numbers(9);
  std::copy(expected.begin(), expected.end(), managed.data());
  auto const target = on_device(1, {70, 90});
  roc::device_view<int, 2> const source(managed.data(), extents);
  {
    roc::test::call_counter const counter("hipMemcpyAsync");
    roc::copy(source, target.view().transpose());
    EXPECT_EQ(0, counter.count()) << "one kernel copies all";
  }
  std::vector<int> seen(expected.size());
  roc::copy(target.view().transpose(), seen);
  EXPECT_EQ(expected, seen);
}

TEST_F(BetweenDevices, CopyWithoutPeerAccessKeepsTheOrderOfAStreamOfEitherDevice) {
  roc::scoped_options const scope({.peer_access = false});
  for (auto const& from : layouts) {
    for (auto const& to : layouts) {
      for (stream_choice const choice :
           {stream_choice::source_device, stream_choice::destination_device})
        check(from, to, choice, 1);
    }
  }
}

TEST_F(BetweenDevices, CopyKeepsTheOrderOfAStreamOfEitherDevice) {
  for (auto const& from : layouts) {
    for (auto const& to : layouts) {
      for (stream_choice const choice :
           {stream_choice::source_device, stream_choice::destination_device})
        check(from, to, choice, 0);
    }
  }
  check(layouts[1], layouts[3], stream_choice::default_stream, 0);
  check(layouts[2], layouts[3], stream_choice::source_device, 1);
}

TEST_F(BetweenDevices, CopyOnStreamRunsAfterPendingWork) {
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

TEST_F(BetweenDevices, CopiesWithoutPeerAccessReuseInternalStreamsAndEvents) {
  roc::scoped_options const scope({.peer_access = false});
  auto const source = on_device(0, {70, 90});
  auto const target = on_device(1, extents);
  roc::stream const stream;
  auto const copy_both_ways = [&] {
    roc::copy(source.view().transpose(), target, stream);
    roc::copy(target, source.view().transpose(), stream);
  };
  auto const copy_while_none_is_done = [&] {
    {
      roc::test::gate gate;
      gate.close(stream);
      for (int i = 0; i < 20; ++i) copy_both_ways();
    }
    stream.synchronize();
  };
  copy_while_none_is_done();
  static unsigned created_streams;
  static unsigned created_events;
  created_streams = 0;
  created_events = 0;
  auto const previous_hook =
      roc::platform::set_call_hook([](roc::platform::call_record const& record) {
        if (std::string_view(record.name) == "hipStreamCreateWithFlags") ++created_streams;
        if (std::string_view(record.name) == "hipEventCreateWithFlags") ++created_events;
      });
  copy_while_none_is_done();
  EXPECT_EQ(0u, created_streams);
#if !defined(__SANITIZE_THREAD__)  // under which stream_uses does not reuse events
  EXPECT_EQ(0u, created_events);
#endif
  for (int i = 0; i < 20; ++i) {
    {
      roc::stream const other;
      roc::copy(source.view().transpose(), target, other);
    }
    roc::device(0).synchronize();
  }
  EXPECT_GE(1u, created_streams);  // that of this test, which uses it again
  roc::platform::set_call_hook(previous_hook);
}

// The work of the source's device waits for the stream, which is one of the other device.
TEST_F(BetweenDevices, CopyOnStreamOfTheDestinationRunsAfterPendingWork) {
  auto const source = on_device(0, {70, 90});
  auto const target = on_device(1, extents);
  auto const written = on_device(1, {70, 90});
  source.zero();
  roc::device_guard const guard{roc::device(1)};
  roc::stream const stream(roc::non_blocking);
  for (int const value : {1, 2, 3, 4}) {
    SCOPED_TRACE(value);
    bool const gathers = value % 2 == 0;
    roc::scoped_options const scope({.peer_access = value > 2});
    {
      roc::test::gate gate;
      gate.close(stream);
      written.fill(value, stream);
      roc::copy(written, source, stream);
      if (gathers) {
        roc::copy(source.view().transpose(), target, stream);
      } else {
        roc::copy(source, target.view().transpose(), stream);
      }
    }
    stream.synchronize();
    std::vector<int> seen(extents[0] * extents[1]);
    roc::copy(target, seen);
    EXPECT_EQ(std::vector<int>(seen.size(), value), seen);
  }
}

#if ROCARRAY_PLATFORM_HOST  // GPUs execute only some streams independently
TEST_F(BetweenDevices, PendingCopiesDelayNoOtherStream) {
  if (!roc::test::gate::holds()) GTEST_SKIP() << "work is done by the call that enqueues it";
  std::vector<roc::stream> const streams(40);  // more than the library keeps
  auto const source = on_device(0, extents);
  auto const target = on_device(1, {streams.size(), extents[1]});
  auto const free_target = on_device(1, extents);
  source.fill(4);
  target.fill(0);
  {
    roc::test::gate gate;
    for (std::size_t i = 0; i != streams.size(); ++i) {
      gate.close(streams[i]);
      roc::copy(source(i, roc::all), target(i, roc::all), streams[i]);
    }
    roc::stream const free_stream;
    roc::copy(source, free_target, free_stream);
    free_stream.synchronize();
    for (auto const& stream : streams) EXPECT_FALSE(stream.query());
  }
  for (auto const& stream : streams) stream.synchronize();
  EXPECT_EQ(4, free_target(89, 69).get());
  auto const copied = target.copy_to_host();
  for (std::size_t i = 0; i != streams.size(); ++i) EXPECT_EQ(4, copied(i, 69)) << i;
}
#endif

// Copies in both directions, each by two threads.
void copy_concurrently(bool has_peer_access) {
  SCOPED_TRACE(has_peer_access);
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      int const device = t % 2;
      roc::scoped_options const scope({.peer_access = has_peer_access});
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
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(std::vector<int>(4, 0), wrong);
}

TEST_F(BetweenDevices, ConcurrentCopiesInBothDirectionsAreCorrect) {
  copy_concurrently(true);
  copy_concurrently(false);
}

// A batch groups its copies by device, and does copies between devices individually.
TEST_F(BetweenDevices, BatchMayUseSeveralDevicesButOneStreamMayNot) {
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

TEST_F(BetweenDevices, FailedHipCallThrowsAndLaterCopiesWork) {
  roc::scoped_options const scope({.peer_access = false});
  auto const previous_hook = roc::set_log_hook([](char const*) noexcept {});
  auto const source = on_device(0, {70, 90});
  auto const target = on_device(1, {90, 100});
  auto const part = target(roc::all, roc::slice(0, 70));
  source.fill(6);
  for (char const* const name :
       {"hipSetDevice", "hipGetDevice", "hipStreamCreateWithFlags", "hipEventCreateWithFlags",
        "hipEventRecord", "hipStreamWaitEvent", "hipMemcpyAsync", "hipMalloc"}) {
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
  roc::set_log_hook(previous_hook);
}

// Makes `count` successive uses of hipSetDevice fail, from the nth on; and then the next use of
// `later_call`, unless that is null.
struct failure_plan {
  unsigned nth;
  unsigned count;
  char const* later_call;
};
class set_device_failures {
 public:
  explicit set_device_failures(failure_plan const& plan)
      : previous_hook_(roc::platform::set_call_hook(&plan_next)) {
    left = plan.count;
    later = plan.later_call;
    EXPECT_TRUE(roc::platform::fail_call("hipSetDevice", plan.nth, hipErrorLaunchFailure));
  }
  ~set_device_failures() {
    roc::platform::set_call_hook(previous_hook_);
    roc::platform::clear_failures();
  }
  set_device_failures(set_device_failures const&) = delete;
  set_device_failures& operator=(set_device_failures const&) = delete;

 private:
  static void plan_next(roc::platform::call_record const& record) {
    if (!record.injected || std::string_view(record.name) != "hipSetDevice") return;
    char const* const next = --left != 0 ? "hipSetDevice" : later.load();
    if (next != nullptr) roc::platform::fail_call(next, 1, hipErrorLaunchFailure);
  }

  static inline std::atomic<unsigned> left = 0;
  static inline std::atomic<char const*> later = nullptr;
  roc::platform::call_hook const previous_hook_;
};

// If the previous device cannot be restored, the other one stays current. The default stream of the
// call must be awaited all the same: after the call, nothing may write the destinations.
TEST_F(BetweenDevices, DefaultStreamIsAwaitedIfTheOtherDeviceStaysCurrent) {
  roc::scoped_options const scope({.peer_access = false});
  auto const previous_hook = roc::set_log_hook([](char const*) noexcept {});
  auto const source = on_device(0, {70, 90});
  auto const target = on_device(1, {90, 100});
  auto const part = target(roc::all, roc::slice(0, 70));
  // The second copy of a batch comes after the first one, and is done by the current device.
  auto const here = on_device(0, {70, 90});
  auto const there = on_device(1, {90, 100});
  roc::copy_batch batches[2];
  batches[0].add(source.view().transpose(), part).add(here, source);
  batches[1].add(source.view().transpose(), part).add(there, target);
  std::pair<char const*, std::function<void(int)>> const operations[] = {
      {"copy", [&](int) { roc::copy(source.view().transpose(), part); }},
      {"copy on the default stream",
       [&](int) { roc::copy(source.view().transpose(), part, roc::stream_ref()); }},
      {"batch", [&](int device) { batches[device].submit(); }},
      {"batch on the default stream",
       [&](int device) { batches[device].submit(roc::stream_ref()); }}};
  auto const synchronize_all = [] {
    for (int i = 0; i != roc::device::count(); ++i) roc::device(i).synchronize();
  };
  std::vector<roc::stream> free_streams;  // by device; nothing orders them with the copies
  for (int const device : {0, 1}) {
    roc::device_guard const guard{roc::device(device)};
    free_streams.emplace_back(roc::non_blocking);
  }
  // Sets all bytes without waiting for other work. Calls HIP alone: the library queries events,
  // which executes pending work in mode deferred.
  auto const overwrite = [&](roc::device_array<int, 2> const& array, int byte) {
    int const device = array.device_ordinal();
    roc::device_guard const guard{roc::device(device)};
    hipStream_t const stream = roc::native(free_streams[static_cast<std::size_t>(device)]);
    ASSERT_EQ(hipSuccess, hipMemsetAsync(array.data(), byte, array.size() * sizeof(int), stream));
    ASSERT_EQ(hipSuccess, hipStreamSynchronize(stream));
  };
  int failed_calls = 0;
  // Checks one operation, during which HIP fails as planned.
  auto const check = [&](char const* name, std::function<void(int)> const& run, int device,
                         failure_plan const& plan) {
    roc::device(device).make_current();
    for (auto const* const array : {&source, &here, &there}) array->fill(6);
    bool has_failed = false;
    {
      set_device_failures const planned(plan);
      try {
        run(device);
      } catch (roc::error const&) {
        has_failed = true;
      }
    }
    failed_calls += has_failed;
    bool const has_stream = std::string_view(name).ends_with("stream");
    // The device of the stream is current before the call, so that only work between the devices
    // changes it.
    if (has_stream && !has_failed) {
      EXPECT_EQ(device, roc::device().ordinal());
    }
    if (has_failed || !has_stream) {
      // Different values, so that a copy that is still pending changes one of the arrays.
      overwrite(target, 0x11);
      overwrite(source, 0x22);
      synchronize_all();
      for (auto const& [array, value] :
           {std::pair(&target, 0x11111111), std::pair(&source, 0x22222222)}) {
        auto const seen = array->copy_to_host();
        EXPECT_EQ(static_cast<std::ptrdiff_t>(seen.size()),
                  std::count(seen.data(), seen.data() + seen.size(), value));
      }
    }
    synchronize_all();
  };
  std::pair<unsigned, char const*> const plans[] = {
      {2, nullptr}, {3, nullptr}, {2, "hipEventRecord"}};
  for (int const device : {0, 1}) {
    for (auto const& operation : operations) {
      char const* const name = operation.first;
      auto const& run = operation.second;  // lambdas of Clang 15 capture no structured bindings
      roc::device(device).make_current();
      run(device);  // acquires scratch memory
      synchronize_all();
      unsigned const calls = [&] {
        roc::test::call_counter const counter("hipSetDevice");
        run(device);
        return static_cast<unsigned>(counter.count());
      }();
      synchronize_all();
      ASSERT_LT(20u, calls);
      for (auto const& [count, later] : plans) {
        for (unsigned nth = 1; nth <= calls; ++nth) {
          if (nth == 10) nth = calls - 9;  // the calls between are the same for each chunk
          SCOPED_TRACE(std::string(name) + ", device " + std::to_string(device) + ", " +
                       std::to_string(count) +
                       (later != nullptr ? std::string(" and ") + later : "") +
                       " from hipSetDevice:" + std::to_string(nth) + " on");
          check(name, run, device, {nth, count, later});
        }
      }
    }
  }
  EXPECT_LT(40, failed_calls);
  roc::device(0).make_current();
  roc::set_log_hook(previous_hook);
}

// The copy first makes its stream wait for work of the other device, which is current meanwhile.
TEST_F(BetweenDevices, CopyIsEnqueuedOnItsDeviceIfTheOtherOneStaysCurrent) {
  auto const previous_hook = roc::set_log_hook([](char const*) noexcept {});
  auto const expected = numbers(3);
  auto const target = on_device(1, extents);
  // Copies to the default stream of device 1 and waits for it. The source is memory that earlier
  // work on its own stream may still use.
  auto const run = [&](failure_plan const& plan) {
    roc::device(0).make_current();
    roc::stream const owner(roc::non_blocking);
    auto const make_source = [&] {
      return roc::device_array<int, 2>(extents, roc::order::c, owner);
    };
    make_source().fill(0, owner);
    auto const source = make_source();
    source.copy_to_device(roc::host_view<int const, 2>(expected.data(), extents), owner);
    roc::device(1).make_current();
    target.fill(0);
    roc::stream const free_stream(roc::non_blocking);
    {
      set_device_failures const planned(plan);
      roc::copy(source, target, roc::stream_ref());
    }
    roc::device(1).make_current();
    roc::stream_ref().synchronize();
    std::vector<int> seen(expected.size());
    ROCARRAY_HIP(hipMemcpyAsync, seen.data(), target.data(), seen.size() * sizeof(int),
                 hipMemcpyDeviceToHost, roc::native(free_stream));
    ROCARRAY_HIP(hipStreamSynchronize, roc::native(free_stream));
    EXPECT_EQ(expected, seen);
    for (int i = 0; i != roc::device::count(); ++i) roc::device(i).synchronize();
  };
  run({1000, 1, nullptr});
  for (unsigned nth = 1; nth != 12; ++nth) {
    SCOPED_TRACE("hipSetDevice:" + std::to_string(nth));
    try {
      run({nth, 2, nullptr});
    } catch (roc::error const&) {
    }
  }
  roc::device(0).make_current();
  roc::set_log_hook(previous_hook);
}

TEST_F(BetweenDevices, InternalStreamsAreUsedAgainOnceTheirWorkIsAwaited) {
  roc::scoped_options const scope({.peer_access = false});
  auto const source = on_device(0, {70, 90});
  source.copy_to_device(numbers(1));
  auto const target = on_device(1, {90, 100});
  auto const part = target(roc::all, roc::slice(0, 70));
  roc::stream const stream;
  roc::copy(source.view().transpose(), part, stream);  // acquires scratch memory
  stream.synchronize();
  roc::test::held_auxiliary_streams first(0, stream);
  roc::test::held_auxiliary_streams second(1, stream);
  ASSERT_LT(0u, first.size());
  ASSERT_LT(0u, second.size());
  first.release_one();
  second.release_one();
  EXPECT_EQ(1u, roc::test::held_auxiliary_streams(0, stream).size());
  EXPECT_EQ(1u, roc::test::held_auxiliary_streams(1, stream).size());
  auto const previous_hook = roc::set_log_hook([](char const*) noexcept {});
  ASSERT_TRUE(roc::platform::fail_call("hipMemcpyAsync", 1, hipErrorLaunchFailure));
  for (char const* const name : {"hipStreamSynchronize", "hipDeviceSynchronize"}) {
    ASSERT_TRUE(roc::platform::fail_call(name, 1, hipErrorLaunchFailure,
                                         roc::platform::failing_uses::all_later));
  }
  EXPECT_THROW(roc::copy(source.view().transpose(), part, stream), roc::error);
  roc::platform::clear_failures();
  roc::set_log_hook(previous_hook);
  EXPECT_EQ(0u, roc::test::held_auxiliary_streams(0, stream).size());
  EXPECT_EQ(0u, roc::test::held_auxiliary_streams(1, stream).size());
  ASSERT_TRUE(roc::runtime::wait_for_abandoned_work());
  EXPECT_EQ(1u, roc::test::held_auxiliary_streams(0, stream).size());
  EXPECT_EQ(1u, roc::test::held_auxiliary_streams(1, stream).size());
  target.fill(0);
  roc::copy(source.view().transpose(), part, stream);
  stream.synchronize();
  auto const copied = part.copy_to_host();
  for (std::size_t i = 0; i != 90; ++i) {
    for (std::size_t j = 0; j != 70; ++j) {
      ASSERT_EQ(static_cast<int>(1 + j * 90 + i), copied(i, j));
    }
  }
}

}  // namespace
