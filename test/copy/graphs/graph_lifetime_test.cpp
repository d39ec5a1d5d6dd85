// SPDX-License-Identifier: MIT
// The end of captures, also after errors, and the lifetime of the memory that graphs use.
#include "copy/graphs/support.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <roc/native.hpp>

#include "platform/call.hpp"
#include "runtime/stream_capture.hpp"
#include "support/call_counter.hpp"

namespace {

using namespace roc::test;

using GraphLifetime = roc::test::graph_fixture;

// The end of captures

TEST_F(GraphLifetime, ExceptionOfTheFunctionDiscardsTheCapture) {
  EXPECT_THROW(static_cast<void>(roc::capture([&](roc::stream_ref stream) {
                 device.fill(1, stream);
                 throw std::runtime_error("from the function");
               })),
               std::runtime_error);
  auto executable = captured([&](roc::stream_ref stream) {
    device.copy_to_device(input, stream);
    device.copy_to_host(output, stream);
  });
  expect_output_is_input(executable);
}

TEST_F(GraphLifetime, ExceptionBetweenForkAndJoinFreesTheStream) {
  roc::stream const branch(roc::non_blocking);
  for (int round = 0; round != 2; ++round) {
    EXPECT_THROW(static_cast<void>(roc::capture([&](roc::stream_ref stream) {
                   roc::event forked;
                   forked.record(stream);
                   branch.wait(forked);
                   device.fill(1, branch);
                   throw std::runtime_error("between fork and join");
                 })),
                 std::runtime_error);
    device.fill(round + 2, branch);
    branch.synchronize();
    EXPECT_EQ(round + 2, device.copy_to_host()(0, 0));
    roc::device(0).synchronize();
  }
  expect_captures_work();
}

TEST_F(GraphLifetime, InvalidatedCaptureFreesItsStreams) {
  roc::stream const branch(roc::non_blocking);
  for (int round = 0; round != 2; ++round) {
    try {
      static_cast<void>(roc::capture([&](roc::stream_ref stream) {
        roc::event forked;
        forked.record(stream);
        branch.wait(forked);
        device.fill(1, branch);
        static_cast<void>(ROCARRAY_HIP_CODE(hipStreamQuery, roc::native(stream)));
        EXPECT_THROW(device.fill(1, branch), roc::error);
      }));
      ADD_FAILURE() << "no exception";
    } catch (roc::error const& error) {
      EXPECT_EQ(static_cast<int>(hipErrorStreamCaptureInvalidated), error.code().value());
    }
    device.fill(round + 2, branch);
    branch.synchronize();
    EXPECT_EQ(round + 2, device.copy_to_host()(0, 0));
    roc::device(0).synchronize();
  }
  expect_captures_work();
}

#if !ROCARRAY_PLATFORM_AMD  // where HIP does not end such a capture, and the library cannot
TEST_F(GraphLifetime, StreamThatJoinedByHipAloneMustBeJoinedBack) {
  if (std::getenv("ROCARRAY_HOST_EMULATE") != nullptr) GTEST_SKIP() << "it emulates AMD";
  roc::stream const branch(roc::non_blocking);
  try {
    static_cast<void>(roc::capture([&](roc::stream_ref stream) {
      roc::event forked;
      forked.record(stream);
      hipStream_t const native = roc::native(branch);
      hipEvent_t const event = roc::native(forked);
      ROCARRAY_HIP(hipStreamWaitEvent, native, event, 0);
      device.fill(1, branch);
    }));
    ADD_FAILURE() << "no exception";
  } catch (roc::error const& error) {
    EXPECT_NE(std::string::npos, std::string(error.what()).find("joined back")) << error.what();
  }
  device.fill(2, branch);
  branch.synchronize();
  EXPECT_EQ(2, device.copy_to_host()(0, 0));
}
#endif

TEST_F(GraphLifetime, CaughtFailureOfHipMakesTheGraphInvalid) {
  auto const expect_invalid = [](char const* call, auto const& captured_call) {
    SCOPED_TRACE(call);
    EXPECT_THROW(static_cast<void>(roc::capture([&](roc::stream_ref stream) {
                   ASSERT_TRUE(roc::platform::fail_call(call, 1, hipErrorUnknown));
                   EXPECT_THROW(captured_call(stream), roc::error);
                 })),
                 roc::error);
    roc::platform::clear_failures();
  };
  expect_invalid("hipMemcpyAsync", [&](auto stream) { device.copy_to_device(input, stream); });
  expect_invalid("hipMemsetAsync", [&](auto stream) { device.zero(stream); });
  if (captures_host_functions) {
    expect_invalid("hipLaunchHostFunc", [&](auto stream) { stream.launch_host_function([] {}); });
    expect_invalid("hipLaunchHostFunc", [&](auto stream) {
      roc::copy_batch batch;
      batch.add(device, other);
      batch.add(input, device);
      batch.submit(stream);
    });
  }
  expect_captures_work();
}

TEST_F(GraphLifetime, TransientFailureToEndTheCaptureIsRepeated) {
  ASSERT_TRUE(roc::platform::fail_call("hipStreamEndCapture", 1, hipErrorUnknown));
  auto executable = captured([&](roc::stream_ref stream) {
    device.copy_to_device(input, stream);
    device.copy_to_host(output, stream);
  });
  roc::platform::clear_failures();
  expect_output_is_input(executable);
}

TEST_F(GraphLifetime, FailuresOfHipLeaveNothingBehind) {
  for (char const* const call : {"hipStreamBeginCapture", "hipStreamGetCaptureInfo",
                                 "hipGraphInstantiateWithFlags", "hipGraphLaunch"}) {
    SCOPED_TRACE(call);
    ASSERT_TRUE(roc::platform::fail_call(call, 1, hipErrorUnknown));
    EXPECT_THROW(
        captured([&](roc::stream_ref stream) { device.copy_to_device(input, stream); }).launch(),
        roc::error);
    roc::platform::clear_failures();
    auto executable = captured([&](roc::stream_ref stream) {
      device.copy_to_device(input, stream);
      device.copy_to_host(output, stream);
    });
    expect_output_is_input(executable);
  }
}

TEST_F(GraphLifetime, TransientFailureToJoinIsRepeated) {
  for (char const* const call : {"hipEventRecord", "hipStreamWaitEvent"}) {
    SCOPED_TRACE(call);
    roc::stream const branch(roc::non_blocking);
    auto executable = captured([&](roc::stream_ref stream) {
      roc::event forked;
      forked.record(stream);
      branch.wait(forked);
      device.copy_to_device(input, branch);
      device.copy_to_host(output, branch);
      ASSERT_TRUE(roc::platform::fail_call(call, 1, hipErrorUnknown));
    });
    roc::platform::clear_failures();
    expect_output_is_input(executable);
  }
}

// The memory of graphs

template <class Call>
void expect_lifetime_error(char const* text, Call const& call) {
  try {
    call();
    ADD_FAILURE() << "no exception";
  } catch (roc::lifetime_error const& error) {
    EXPECT_NE(std::string::npos, std::string(error.what()).find(text)) << error.what();
  }
}

TEST_F(GraphLifetime, DestructorsDestroyTheGraphsOfHip) {
  std::optional<roc::graph_exec> executable;
  {
    call_counter const destroyed("hipGraphDestroy");
    {
      auto const graph = roc::capture([&](roc::stream_ref stream) { device.fill(1, stream); });
      executable.emplace(graph);
      EXPECT_EQ(0, destroyed.count());
    }
    EXPECT_EQ(1, destroyed.count());
  }
  executable->launch();
  call_counter const destroyed("hipGraphExecDestroy");
  executable.reset();
  EXPECT_EQ(1, destroyed.count());
}

TEST_F(GraphLifetime, LaunchAfterTheEndOfADeviceArrayIsAnError) {
  std::optional<roc::device_array<int, 2>> freed_array(std::in_place, roc::shape<2>{rows, columns});
  auto executable = captured([&](roc::stream_ref stream) { freed_array->fill(1, stream); });
  executable.launch();
  freed_array.reset();
  // Another array may have the same address.
  freed_array.emplace(roc::shape<2>{rows, columns});
  freed_array->fill(5);
  roc::stream const stream;
  expect_lifetime_error("device array", [&] { executable.launch(stream); });
  expect_lifetime_error("device array", [&] { executable.launch(); });
  EXPECT_EQ(5, freed_array->copy_to_host()(0, 0));
}

TEST_F(GraphLifetime, LaunchAfterTheEndOfAnArrayOfABatchNamesItsAddress) {
  auto const address_of = [](roc::device_array<int, 2> const& array) {
    char text[32];
    std::snprintf(text, sizeof text, "%p", static_cast<void const*>(array.data()));
    return "the device array at " + std::string(text);
  };
  auto source = std::make_optional<roc::device_array<int, 2>>(roc::shape<2>{rows, columns});
  auto target = std::make_optional<roc::device_array<int, 2>>(roc::shape<2>{rows, columns});
  std::string const text_of_source = address_of(*source);
  std::string const text_of_target = address_of(*target);
  roc::copy_batch first;
  first.add(*source, device);
  roc::copy_batch second;
  second.add(device, other);
  second.add(other, *target);
  auto reads = captured([&](roc::stream_ref stream) { first.submit(stream); });
  auto writes = captured([&](roc::stream_ref stream) { second.submit(stream); });
  reads.launch();
  writes.launch();
  source.reset();
  target.reset();
  expect_lifetime_error(text_of_source.c_str(), [&] { reads.launch(); });
  expect_lifetime_error(text_of_target.c_str(), [&] { writes.launch(); });
}

TEST_F(GraphLifetime, LaunchAfterAMoveOfTheArrayWorks) {
  auto executable = captured([&](roc::stream_ref stream) { device.fill(4, stream); });
  auto const moved = std::move(device);
  executable.launch();
  EXPECT_EQ(4, moved.copy_to_host()(0, 0));
}

TEST_F(GraphLifetime, LaunchAfterTheEndOfPinnedMemoryIsAnError) {
  std::optional<pinned<2>> freed_array(roc::pinned_array<int>(roc::shape<2>{rows, columns}));
  auto executable =
      captured([&](roc::stream_ref stream) { device.copy_to_device(*freed_array, stream); });
  freed_array.reset();
  freed_array.emplace(roc::pinned_array<int>(roc::shape<2>{rows, columns}));
  expect_lifetime_error("host memory", [&] { executable.launch(); });
}

TEST_F(GraphLifetime, LaunchAfterDeregistrationIsAnError) {
  std::vector<int> source(100);
  auto flat = roc::device_array<int, 1>({100});
  std::optional<roc::registration> registered(roc::register_host(source));
  auto executable = captured([&](roc::stream_ref stream) { flat.copy_to_device(source, stream); });
  executable.launch();
  registered.reset();
  expect_lifetime_error("deregistered", [&] { executable.launch(); });
}

TEST_F(GraphLifetime, RecordStreamAddsAnArray) {
  std::optional<roc::device_array<int, 1>> freed_array(std::in_place, roc::shape<1>{10});
  auto executable = captured([&](roc::stream_ref stream) { freed_array->record_stream(stream); });
  executable.launch();
  freed_array.reset();
  expect_lifetime_error("device array", [&] { executable.launch(); });
}

TEST_F(GraphLifetime, MovedFromGraphsAreReported) {
  auto graph = roc::capture([&](roc::stream_ref stream) { device.fill(1, stream); });
  roc::graph const moved(std::move(graph));
  EXPECT_THROW(roc::graph_exec{graph}, roc::lifetime_error);
  roc::graph_exec executable(moved);
  roc::graph_exec other_executable(std::move(executable));
  EXPECT_THROW(executable.launch(), roc::lifetime_error);
  executable = std::move(other_executable);
  executable.launch();
}

// Memory that is freed during a capture

TEST_F(GraphLifetime, MappedAndAdoptedMemoryIsFreedDuringACapture) {
  int finalized = 0;
  auto known = roc::device_array<int, 1>({1000});
  auto mapped = std::make_optional(roc::mapped_array<int>(roc::shape<1>{1000}));
  // The library knows the memory already, so that its uses are not in a record of its own.
  auto adopted = std::make_optional(
      roc::adopt(known.data(), roc::shape<1>{1000}, [&](void*) { ++finalized; }));
  roc::stream const busy(roc::non_blocking);
  roc::stream const branch(roc::non_blocking);
  log_record const log;
  gate closed;
  closed.close(busy);  // work that the library has not recorded
  std::optional<delayed_opening> opening;
  auto executable = captured([&](roc::stream_ref stream) {
    roc::event forked;
    forked.record(stream);
    branch.wait(forked);
    device.copy_to_device(input, branch);
    std::thread([&] {
      opening.emplace(closed);
      adopted.reset();
      opening->expect_open();
      mapped.reset();
    }).join();
    device.copy_to_host(output, branch);
  });
  EXPECT_EQ(1, finalized);
  EXPECT_EQ("", log.take());
  expect_output_is_input(executable);
}

TEST_F(GraphLifetime, RawDeallocationOnAJoinedStreamIsOrdered) {
  constexpr std::size_t count = std::size_t{1} << 20;
  constexpr std::size_t bytes = count * sizeof(int);
  roc::hip_memory_resource upstream;
  roc::pool_resource pool(upstream);
  auto target = roc::pinned_array<int>(roc::shape<1>{count});
  roc::stream const branch(roc::non_blocking);
  roc::stream const later(roc::non_blocking);
  void* const data = pool.allocate(bytes, branch);
  auto const view = roc::device_view<int, 1>(static_cast<int*>(data), {count});
  view.fill(1, branch);
  branch.synchronize();
  gate closed;
  closed.close(branch);
  view.copy_to_host(target, branch);
  auto const graph = roc::capture([&](roc::stream_ref stream) {
    roc::event forked;
    forked.record(stream);
    branch.wait(forked);
    pool.deallocate(data, bytes, branch);
  });
  // The pool gives the memory to the default stream, which waits for the copy, and so does the
  // stream that uses it.
  auto next = roc::device_array<int, 1>({count}, pool);
  EXPECT_EQ(data, next.data());
  next.fill(2, later);
  {
    delayed_opening const opening(closed);
    later.synchronize();
    opening.expect_open();
  }
  branch.synchronize();
  EXPECT_EQ(1, target(0));
  EXPECT_EQ(1, target(count - 1));
}

TEST_F(GraphLifetime, WhatWasKeptIsDestroyedInReverseOrder) {
  std::vector<int> destroyed;
  {
    roc::runtime::stream_capture capture(0);
    for (int const i : {1, 2, 3}) {
      capture.keep(std::shared_ptr<void const>(
          &destroyed, [&destroyed, i](void const*) { destroyed.push_back(i); }));
    }
  }
  EXPECT_EQ((std::vector<int>{3, 2, 1}), destroyed);
}

}  // namespace
