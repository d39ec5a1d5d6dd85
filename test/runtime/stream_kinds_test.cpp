// SPDX-License-Identifier: MIT
// Per-thread and non-blocking streams, priorities, and destroyed streams.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "platform/call.hpp"
#include "support/gate.hpp"

namespace {

using roc::test::gate;

TEST(PerThreadStream, IsHipStreamPerThreadOfTheCurrentDevice) {
  auto const stream = roc::per_thread_stream();
  EXPECT_EQ(hipStreamPerThread, roc::native(stream));
  EXPECT_EQ(roc::device().ordinal(), stream.device_ordinal());
  EXPECT_EQ(stream, roc::per_thread_stream());
  stream.synchronize();
  EXPECT_TRUE(stream.query());
  EXPECT_EQ(0, stream.priority());
}

TEST(PerThreadStream, DiffersBetweenThreads) {
  if (!gate::holds()) GTEST_SKIP() << "work is done by the call that enqueues it";
  gate hold;
  auto const first_stream = roc::per_thread_stream();
  hold.close(first_stream);
  bool own_done = false;
  first_stream.launch_host_function([&] { own_done = true; });
  std::thread([] {
    // An event, not a host function: the gate is a host function, and CUDA runs one at a time.
    auto const second_stream = roc::per_thread_stream();
    roc::event reached;
    reached.record(second_stream);
    reached.synchronize();  // does not wait for the work after the gate
  }).join();
  EXPECT_FALSE(own_done);
  EXPECT_FALSE(first_stream.query());
  hold.open();
  first_stream.synchronize();
  EXPECT_TRUE(own_done);
}

TEST(PerThreadStream, SynchronousCallsWaitForItsWork) {
  auto const array = roc::device_array<int, 2>(roc::shape<2>{2, 1000});
  std::thread([&] { array(0, roc::all).fill(3, roc::per_thread_stream()); }).join();
  array(1, roc::all).fill(4, roc::per_thread_stream());
  auto const host = array.copy_to_host();
  for (std::size_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(3, host(0, i));  // written by a thread that has ended
    ASSERT_EQ(4, host(1, i));
  }
}

TEST(NonBlockingStream, DoesNotWaitForTheDefaultStream) {
  gate hold;
  roc::stream const stream(roc::non_blocking);
  EXPECT_EQ(roc::detail::stream_kind::non_blocking, stream.kind());
  EXPECT_EQ(stream, roc::from_native(roc::native(stream)));
  hold.close(roc::stream_ref());
  roc::event reached;
  reached.record(stream);
  reached.synchronize();  // does not wait for the work after the gate
  hold.open();
}

TEST(NonBlockingStream, SynchronousCallsWaitForItsWork) {
  auto const array = roc::device_array<int>(roc::shape<1>{1000});
  roc::stream const stream(roc::non_blocking);
  for (int value : {1, 2}) {
    array.fill(value, stream);
    auto const host = array.copy_to_host();
    EXPECT_TRUE(
        std::all_of(host.begin(), host.end(), [&](int element) { return element == value; }));
  }
}

TEST(NonBlockingStream, SynchronousCallsWaitForTheWorkOfADestroyedStream) {
  auto const array = roc::device_array<int>(roc::shape<1>{1000});
  array.fill(4);  // loads the kernel now: CUDA synchronizes the device for that
  gate hold;
  {
    roc::stream const stream(roc::non_blocking);
    hold.close(stream);
    array.fill(5, stream);
  }
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    hold.open();
  });
  { roc::stream const next(roc::non_blocking); }  // its end must not drop the first stream's work
  auto const host = array.copy_to_host();
  opener.join();
  EXPECT_TRUE(std::all_of(host.begin(), host.end(), [](int element) { return element == 5; }));
}

TEST(NonBlockingStream, CanBeMoved) {
  roc::stream first(roc::non_blocking);
  auto const handle = first.handle();
  roc::stream second = std::move(first);
  EXPECT_EQ(handle, second.handle());
  EXPECT_EQ(roc::detail::stream_kind::non_blocking, second.kind());
  second = roc::stream(roc::non_blocking, -1);
  EXPECT_NO_THROW(second.synchronize());
}

TEST(StreamPriority, IsClampedToTheDevicesRange) {
  auto const range = roc::device().stream_priorities();
  EXPECT_LE(range.greatest, range.least);
  EXPECT_EQ(0, roc::stream().priority());
  EXPECT_EQ(range.greatest, roc::stream(range.greatest).priority());
  EXPECT_EQ(range.greatest, roc::stream(range.greatest - 100).priority());
  EXPECT_EQ(range.least, roc::stream(range.least + 100).priority());
  EXPECT_EQ(range.greatest, roc::stream(roc::non_blocking, range.greatest).priority());
}

// Returns the message of the lifetime_error that `use` throws.
std::string thrown_by(auto&& use) {
  try {
    use();
  } catch (roc::lifetime_error const& error) {
    return error.what();
  }
  return "no lifetime_error";
}

TEST(DestroyedStream, UseThrowsLifetimeError) {
  auto const array = roc::device_array<int>(roc::shape<1>{10});
  roc::stream_ref dangling;
  std::optional<roc::stream> owner(std::in_place);
  dangling = *owner;
  owner.reset();
  auto const expect = [](std::string const& operation, std::string const& message) {
    EXPECT_TRUE(message.starts_with(operation)) << message;
    EXPECT_TRUE(message.ends_with(
        "the stream has been destroyed; let a stream live as long as its stream_refs are used"))
        << message;
  };
  expect("synchronize at ", thrown_by([&] { dangling.synchronize(); }));
  expect("query at ", thrown_by([&] { static_cast<void>(dangling.query()); }));
  expect("launch_host_function at ", thrown_by([&] { dangling.launch_host_function([] {}); }));
  expect("fill at ", thrown_by([&] { array.fill(1, dangling); }));
  expect("record at ", thrown_by([&] { roc::event().record(dangling); }));
  expect("", thrown_by([&] { static_cast<void>(dangling.auto_synchronize()); }));
}

std::string logged;

TEST(DestroyedStream, GuardThatOutlivesItLogsAnError) {
  logged.clear();
  auto const previous_hook = roc::set_log_hook([](char const* text) noexcept { logged = text; });
  {
    std::optional<roc::stream> owner(std::in_place);
    auto const guard = static_cast<roc::stream_ref const&>(*owner).auto_synchronize();
    owner.reset();
  }
  roc::set_log_hook(previous_hook);
  EXPECT_EQ(0u, logged.find("the stream has been destroyed")) << logged;
}

TEST(DestroyedStream, NewStreamWithItsHandleIsUsable) {
  for (int i = 0; i < 3000; ++i) {
    roc::stream const stream;
    ASSERT_TRUE(stream.query());
  }
}

}  // namespace
