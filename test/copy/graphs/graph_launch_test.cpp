// SPDX-License-Identifier: MIT
// Launches of graphs: their order, their streams and threads, exceptions of host functions, and
// updates.
#include "copy/graphs/support.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <roc/native.hpp>

#include "platform/call.hpp"
#include "support/call_counter.hpp"

namespace {

using namespace roc::test;

using GraphLaunch = roc::test::graph_fixture;

// On AMD, HIP may change a part of a graph before an update of it fails.
#if ROCARRAY_PLATFORM_AMD
constexpr bool updates_in_place = false;
#else
constexpr bool updates_in_place = true;
#endif

// Streams

TEST_F(GraphLaunch, OnStreamsOfAnyKind) {
  auto executable = captured_copy();
  int round = 0;
  auto const expect_copied_on = [&](roc::stream_ref stream) {
    renew(input, ++round);
    executable.launch(stream);
    stream.synchronize();
    EXPECT_EQ(values(input), values(output));
  };
  expect_copied_on({});
  std::thread([&] { expect_copied_on(roc::per_thread_stream()); }).join();
  hipStream_t native = nullptr;
  ROCARRAY_HIP(hipStreamCreateWithFlags, &native, hipStreamNonBlocking);
  auto const adopted = roc::from_native(native);
  expect_copied_on(adopted);
  expect_copied_on(adopted);
  expect_copied_on(roc::stream(roc::non_blocking));
  ROCARRAY_HIP(hipStreamDestroy, native);
  expect_copied_on(roc::stream());
}

TEST_F(GraphLaunch, LaunchOnAStreamOfAnotherDeviceIsAnError) {
  if (roc::device::count() < 2) GTEST_SKIP() << "there is one device";
  auto executable = captured([&](roc::stream_ref stream) { device.fill(1, stream); });
  roc::device_guard const second{roc::device(1)};
  roc::stream const stream;
  EXPECT_THROW(executable.launch(stream), roc::error);
  executable.launch();
  EXPECT_EQ(1, device.copy_to_host()(0, 0));
}

TEST_F(GraphLaunch, FromSeveralThreads) {
  auto const graph = roc::capture([&](roc::stream_ref stream) {
    device.copy_to_device(input, stream);
    other.copy_to_device(device, stream);
    other.copy_to_host(output, stream);
  });
  renew(input, 4);
  roc::graph_exec first(graph);
  roc::graph_exec second(graph);
  std::vector<std::thread> threads;
  for (int t = 0; t != 4; ++t) {
    threads.emplace_back([&, t] {
      roc::graph_exec& launched = t == 0 ? second : first;
      roc::stream const stream(roc::non_blocking);
      for (int i = 0; i != 20; ++i) {
        if (i % 5 == 4) {
          launched.launch();
        } else {
          launched.launch(stream);
        }
      }
      stream.synchronize();
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(values(input), values(output));
}

#if ROCARRAY_TEST_CAPTURES_HOST_FUNCTIONS
TEST_F(GraphLaunch, LaunchesFromSeveralThreadsDoNotOverlap) {
  std::atomic<int> inside = 0;
  std::atomic<int> overlaps = 0;
  auto const graph = roc::capture([&](roc::stream_ref stream) {
    stream.launch_host_function([&] {
      if (++inside != 1) ++overlaps;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      --inside;
    });
  });
  roc::graph_exec first(graph);
  roc::graph_exec second(graph);
  std::vector<std::thread> threads;
  for (int t = 0; t != 4; ++t) {
    threads.emplace_back([&, t] {
      roc::stream const stream(roc::non_blocking);
      for (int i = 0; i != 5; ++i) (t % 2 == 0 ? first : second).launch(stream);
      stream.synchronize();
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(0, overlaps);
}
#endif

// Order

TEST_F(GraphLaunch, LaunchIsAUseOfTheArrays) {
  auto freed_array = std::make_optional<roc::device_array<int, 2>>(roc::shape<2>{rows, columns});
  auto executable = captured([&](roc::stream_ref stream) {
    freed_array->copy_to_device(input, stream);
    freed_array->copy_to_host(output, stream);
  });
  renew(input, 1);
  roc::stream const stream(roc::non_blocking);
  roc::stream const later(roc::non_blocking);
  gate closed;
  closed.close(stream);
  executable.launch(stream);
  // The memory is not reused before the launch has finished.
  freed_array.reset();
  auto next = roc::device_array<int, 2>({rows, columns}, roc::order::c, later);
  next.fill(3, later);
  closed.open();
  stream.synchronize();
  later.synchronize();
  EXPECT_EQ(values(input), values(output));
  EXPECT_EQ(3, next.copy_to_host()(0, 0));
}

TEST_F(GraphLaunch, LaunchesOfOneGraphRunOneAfterTheOther) {
  auto const graph = roc::capture([&](roc::stream_ref stream) {
    device.copy_to_device(input, stream);
    device.copy_to_host(output, stream);
  });
  roc::graph_exec first(graph);
  roc::graph_exec second(graph);
  roc::stream const busy(roc::non_blocking);
  roc::stream const idle(roc::non_blocking);
  gate closed;
  closed.close(busy);
  first.launch(busy);
  second.launch(idle);
  delayed_opening const opening(closed);
  idle.synchronize();
  opening.expect_open();
  busy.synchronize();
}

TEST_F(GraphLaunch, CallWithoutAStreamComesAfterALaunch) {
  auto executable = captured([&](roc::stream_ref stream) { device.copy_to_device(input, stream); });
  renew(input, 2);
  roc::stream const stream(roc::non_blocking);
  gate closed;
  closed.close(stream);
  executable.launch(stream);
  delayed_opening const opening(closed);
  auto const copied = device.copy_to_host();
  opening.expect_open();
  EXPECT_EQ(values(input), values(copied));
}

TEST_F(GraphLaunch, LaunchWithoutAStreamComesAfterWorkOfAllDevices) {
  if (roc::device::count() < 2) GTEST_SKIP() << "there is one device";
  std::optional<roc::device_array<int, 2>> there;
  std::optional<roc::stream> stream_there;
  {
    roc::device_guard const second{roc::device(1)};
    there.emplace(roc::shape<2>{rows, columns});
    stream_there.emplace(roc::non_blocking);
    there->fill(1);
  }
  auto executable = captured([&](roc::stream_ref stream) {
    device.copy_to_device(*there, stream);
    device.copy_to_host(output, stream);
  });
  gate closed;
  {
    roc::device_guard const second{roc::device(1)};
    closed.close(*stream_there);
    there->fill(2, *stream_there);
  }
  delayed_opening const opening(closed);
  executable.launch();
  opening.expect_open();
  EXPECT_EQ(2, output(0, 0));
}

TEST_F(GraphLaunch, DestructorAndAssignmentAndUpdateWaitForLaunches) {
  renew(input, 3);
  roc::stream const stream(roc::non_blocking);
  auto const launch_and = [&](auto const& action) {
    auto executable = std::make_optional(captured_copy());
    auto next = captured_copy();
    gate closed;
    closed.close(stream);
    executable->launch(stream);
    delayed_opening const opening(closed);
    action(executable, next);
    opening.expect_open();
    EXPECT_EQ(values(input), values(output));
    stream.synchronize();
    renew(input, 4);
    if (executable) executable->launch();
  };
  launch_and([](auto& executable, auto&) { executable.reset(); });
  launch_and([](auto& executable, auto& next) { *executable = std::move(next); });
  launch_and([&](auto& executable, auto&) {
    executable->update(
        roc::capture([&](roc::stream_ref captured) { device.copy_to_device(input, captured); }));
  });
}

TEST_F(GraphLaunch, DestructorDoesNotWaitForLaterWorkOfTheStream) {
  if (!gate::holds()) GTEST_SKIP();
  renew(input, 3);
  roc::stream const stream(roc::non_blocking);
  gate closed;
  {
    auto executable = captured_copy();
    executable.launch(stream);
    closed.close(stream);
  }
  EXPECT_EQ(values(input), values(output));
  closed.open();
  stream.synchronize();
}

TEST_F(GraphLaunch, HostMemoryIsFreedAfterAPendingLaunch) {
  std::vector<int> registered(input.size());
  auto freed_array = std::make_optional(roc::pinned_array<int>(roc::shape<2>{rows, columns}));
  auto registration = std::make_optional(roc::register_host(registered));
  auto flat = roc::device_array<int, 1>({registered.size()});
  roc::stream const stream(roc::non_blocking);
  renew(*freed_array, 5);
  std::iota(registered.begin(), registered.end(), 6);
  auto executable = captured([&](roc::stream_ref captured) {
    device.copy_to_device(*freed_array, captured);
    flat.copy_to_device(registered, captured);
  });
  auto const expected = values(*freed_array);
  for (bool const is_array : {true, false}) {
    gate closed;
    closed.close(stream);
    executable.launch(stream);
    delayed_opening const opening(closed);
    if (is_array) {
      freed_array.reset();
    } else {
      registration.reset();
    }
    opening.expect_open();
    stream.synchronize();
    if (is_array) {
      executable = captured([&](roc::stream_ref next) { flat.copy_to_device(registered, next); });
    }
  }
  EXPECT_EQ(expected, values(device.copy_to_host()));
  EXPECT_EQ(registered, values(flat.copy_to_host()));
}

// Exceptions

#if ROCARRAY_TEST_CAPTURES_HOST_FUNCTIONS
TEST_F(GraphLaunch, ExceptionOfAHostFunctionIsThrownBySynchronization) {
  auto executable = captured([&](roc::stream_ref stream) {
    stream.launch_host_function([] { throw std::runtime_error("from the graph"); });
  });
  roc::stream const stream;
  for (int round = 0; round != 2; ++round) {
    executable.launch(stream);
    EXPECT_THROW(stream.synchronize(), std::runtime_error);
    stream.synchronize();
  }
  EXPECT_THROW(executable.launch(), std::runtime_error);
}

TEST_F(GraphLaunch, ExceptionIsThrownByTheStreamOfItsLaunch) {
  int launches = 0;
  auto const graph = roc::capture([&](roc::stream_ref stream) {
    stream.launch_host_function([&] { throw std::runtime_error(std::to_string(++launches)); });
  });
  roc::graph_exec first(graph);
  roc::graph_exec second(graph);
  roc::stream const streams[] = {roc::stream(roc::non_blocking), roc::stream(roc::non_blocking)};
  gate closed;
  closed.close(streams[0]);
  first.launch(streams[0]);
  second.launch(streams[1]);
  closed.open();
  for (int i : {1, 0}) {
    try {
      streams[i].synchronize();
      ADD_FAILURE() << "no exception on stream " << i;
    } catch (std::runtime_error const& error) {
      EXPECT_EQ(std::to_string(i + 1), error.what());
    }
  }
}

TEST_F(GraphLaunch, ExceptionOfALaunchByHipIsLogged) {
  log_record const log;
  {
    auto executable = captured([](roc::stream_ref stream) {
      stream.launch_host_function([] { throw std::runtime_error("from the graph"); });
    });
    roc::stream const stream;
    hipStream_t const native_stream = roc::native(stream);
    hipGraphExec_t const native_graph = roc::native(executable);
    ROCARRAY_HIP(hipGraphLaunch, native_graph, native_stream);
    stream.synchronize();
  }
  EXPECT_NE(std::string::npos, log.take().find("from the graph"));
}
#endif

// Updates

#if ROCARRAY_TEST_CAPTURES_HOST_FUNCTIONS
TEST_F(GraphLaunch, UpdateReplacesAddressesAndValues) {
  auto const make = [&](roc::device_array<int, 2>& array, int value) {
    return roc::capture([&](roc::stream_ref stream) {
      array.fill(value, stream);
      array.copy_to_host(output, stream);
      stream.launch_host_function([] {});
    });
  };
  roc::graph_exec executable(make(device, 1));
  roc::stream const stream;
  executable.launch(stream);
  executable.update(make(other, 2));
  other.fill(0);
  device.fill(7);
  executable.launch(stream);
  stream.synchronize();
  EXPECT_EQ(2, output(0, 0));
  EXPECT_EQ(2, other.copy_to_host()(1, 1));
  EXPECT_EQ(7, device.copy_to_host()(1, 1));
  // The first array is not used any more.
  device = roc::device_array<int, 2>({1, 1});
  executable.launch();
}
#endif

TEST_F(GraphLaunch, UpdateOfTheSameCallsChangesTheNodesInPlace) {
  auto const make = [&](roc::device_array<int, 2>& array, int value) {
    return roc::capture([&](roc::stream_ref stream) {
      array.fill(value, stream);
      array.copy_to_host(output, stream);
    });
  };
  auto const second = make(other, 2);
  auto const differing = roc::capture([&](roc::stream_ref stream) { other.zero(stream); });
  roc::graph_exec executable(make(device, 1));
  {
    call_counter const instantiations("hipGraphInstantiateWithFlags");
    executable.update(second);
    EXPECT_EQ(updates_in_place ? 0 : 1, instantiations.count());
  }
  executable.launch();
  EXPECT_EQ(2, output(0, 0));
  {
    call_counter const instantiations("hipGraphInstantiateWithFlags");
    executable.update(differing);
    EXPECT_EQ(1, instantiations.count());
  }
  executable.launch();
  EXPECT_EQ(0, other.copy_to_host()(1, 1));
}

TEST_F(GraphLaunch, UpdateToOtherCallsReplacesTheGraph) {
  roc::graph_exec executable(
      roc::capture([&](roc::stream_ref stream) { device.copy_to_device(input, stream); }));
  renew(input, 1);
  executable.update(roc::capture([&](roc::stream_ref stream) {
    other.copy_to_device(input, stream);
    other.copy_to_host(output, stream);
  }));
  expect_output_is_input(executable);
  // The last call is of another kind.
  executable.update(roc::capture([&](roc::stream_ref stream) {
    other.copy_to_device(input, stream);
    other.zero(stream);
  }));
  executable.launch();
  EXPECT_EQ(0, other.copy_to_host()(1, 1));
}

TEST_F(GraphLaunch, UpdateThatFailsLeavesTheGraphUnchanged) {
  auto executable = captured([&](roc::stream_ref stream) {
    device.copy_to_device(input, stream);
    device.copy_to_host(output, stream);
  });
  {
    auto freed_array = roc::device_array<int, 2>({rows, columns});
    // The last call is of another kind.
    auto const differing = roc::capture([&](roc::stream_ref stream) {
      freed_array.copy_to_device(input, stream);
      freed_array.zero(stream);
    });
    ASSERT_TRUE(roc::platform::fail_call("hipGraphInstantiateWithFlags", 1, hipErrorUnknown));
    EXPECT_THROW(executable.update(differing), roc::error);
    roc::platform::clear_failures();
  }
  expect_output_is_input(executable);
}

TEST_F(GraphLaunch, IsRefusedInHostFunctions) {
  auto const graph = roc::capture([&](roc::stream_ref stream) { device.zero(stream); });
  roc::graph_exec executable(graph);
  roc::stream const stream;
  int refusals = 0;
  stream.launch_host_function([&] {
    auto const expect_refused = [&](auto const& call) {
      try {
        call();
      } catch (roc::error const&) {
        ++refusals;
      }
    };
    expect_refused([&] { executable.launch(); });
    expect_refused([&] { executable.update(graph); });
    expect_refused([&] { static_cast<void>(roc::graph_exec(graph)); });
  });
  stream.synchronize();
  EXPECT_EQ(3, refusals);
}

}  // namespace
