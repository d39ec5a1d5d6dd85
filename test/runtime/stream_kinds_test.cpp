// SPDX-License-Identifier: MIT
// Per-thread and non-blocking streams, priorities, and streams that have gone.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "platform/call.hpp"
#include "support/gate.hpp"

namespace {

using roc::test::gate;

TEST(PerThreadStream, IsHipsOwnOfTheCurrentDevice) {
  auto const stream = roc::per_thread_stream();
  EXPECT_EQ(hipStreamPerThread, roc::native(stream));
  EXPECT_EQ(roc::device().ordinal(), stream.device_ordinal());
  EXPECT_EQ(stream, roc::per_thread_stream());
  stream.synchronize();
  EXPECT_TRUE(stream.query());
  EXPECT_EQ(0, stream.priority());
}

TEST(PerThreadStream, IsAnotherInAnotherThread) {
  if (!gate::holds()) GTEST_SKIP() << "work is done by the call that enqueues it";
  gate hold;
  auto const mine = roc::per_thread_stream();
  hold.close(mine);
  bool mine_done = false;
  mine.launch_host_function([&] { mine_done = true; });
  std::thread([] {
    // Not a host function: CUDA runs one at a time, and the gate is one.
    auto const theirs = roc::per_thread_stream();
    roc::event reached;
    reached.record(theirs);
    reached.synchronize();  // does not wait for what is held back
  }).join();
  EXPECT_FALSE(mine_done);
  EXPECT_FALSE(mine.query());
  hold.open();
  mine.synchronize();
  EXPECT_TRUE(mine_done);
}

TEST(PerThreadStream, CallsWithoutAStreamComeAfterItsWork) {
  auto const array = roc::device_array<int, 2>(roc::shape<2>{2, 1000});
  std::thread([&] { array(0, roc::all).fill(3, roc::per_thread_stream()); }).join();
  array(1, roc::all).fill(4, roc::per_thread_stream());
  auto const host = array.copy_to_host();
  for (std::size_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(3, host(0, i));  // of a thread that has ended
    ASSERT_EQ(4, host(1, i));
  }
}

TEST(NonBlockingStream, IsNotHeldUpByTheDefaultStream) {
  gate hold;
  roc::stream const stream(roc::non_blocking);
  EXPECT_EQ(roc::detail::stream_kind::non_blocking, stream.kind());
  EXPECT_EQ(stream, roc::from_native(roc::native(stream)));
  hold.close(roc::stream_ref());
  roc::event reached;
  reached.record(stream);
  reached.synchronize();  // does not wait for what is held back
  hold.open();
}

TEST(NonBlockingStream, CallsWithoutAStreamComeAfterItsWork) {
  auto const array = roc::device_array<int>(roc::shape<1>{1000});
  roc::stream const stream(roc::non_blocking);
  for (int value : {1, 2}) {
    array.fill(value, stream);
    auto const host = array.copy_to_host();
    EXPECT_TRUE(std::all_of(host.begin(), host.end(), [&](int each) { return each == value; }));
  }
}

TEST(NonBlockingStream, CallsWithoutAStreamComeAfterTheWorkOfADestroyedOne) {
  auto const array = roc::device_array<int>(roc::shape<1>{1000});
  array.fill(4);  // CUDA loads a kernel when it is first launched, and waits for the device then
  gate hold;
  {
    roc::stream const stream(roc::non_blocking);
    hold.close(stream);
    array.fill(5, stream);
  }
  { roc::stream const next(roc::non_blocking); }  // forgetting it must not forget the other
  std::thread opener([&] { hold.open(); });
  auto const host = array.copy_to_host();
  opener.join();
  EXPECT_TRUE(std::all_of(host.begin(), host.end(), [](int each) { return each == 5; }));
}

TEST(NonBlockingStream, MovesAsOthersDo) {
  roc::stream first(roc::non_blocking);
  auto const handle = first.handle();
  roc::stream second = std::move(first);
  EXPECT_EQ(handle, second.handle());
  EXPECT_EQ(roc::detail::stream_kind::non_blocking, second.kind());
  second = roc::stream(roc::non_blocking, -1);
  EXPECT_NO_THROW(second.synchronize());
}

TEST(StreamPriority, IsWhatWasAskedWithinTheDevicesRange) {
  auto const range = roc::device().stream_priorities();
  EXPECT_LE(range.greatest, range.least);
  EXPECT_EQ(0, roc::stream().priority());
  EXPECT_EQ(range.greatest, roc::stream(range.greatest).priority());
  EXPECT_EQ(range.greatest, roc::stream(range.greatest - 100).priority());
  EXPECT_EQ(range.least, roc::stream(range.least + 100).priority());
  EXPECT_EQ(range.greatest, roc::stream(roc::non_blocking, range.greatest).priority());
}

std::string thrown_by(auto&& use) {
  try {
    use();
  } catch (roc::lifetime_error const& error) {
    return error.what();
  }
  return "no lifetime_error";
}

TEST(DestroyedStream, UseIsALifetimeErrorThatSaysSo) {
  auto const array = roc::device_array<int>(roc::shape<1>{10});
  roc::stream_ref late;
  std::optional<roc::stream> owner(std::in_place);
  late = *owner;
  owner.reset();
  std::string const expected =
      "use of a stream that has been destroyed: let the stream live as long as its stream_refs";
  EXPECT_EQ(expected, thrown_by([&] { late.synchronize(); }));
  EXPECT_EQ(expected, thrown_by([&] { static_cast<void>(late.query()); }));
  EXPECT_EQ(expected, thrown_by([&] { late.launch_host_function([] {}); }));
  EXPECT_EQ(expected, thrown_by([&] { array.fill(1, late); }));
  EXPECT_EQ(expected, thrown_by([&] { roc::event().record(late); }));
  EXPECT_EQ(expected, thrown_by([&] { static_cast<void>(late.auto_synchronize()); }));
}

std::string logged;

TEST(DestroyedStream, GuardThatOutlivesItLogs) {
  logged.clear();
  auto const before = roc::set_log_hook([](char const* text) noexcept { logged = text; });
  {
    std::optional<roc::stream> owner(std::in_place);
    auto const guard = static_cast<roc::stream_ref const&>(*owner).auto_synchronize();
    owner.reset();
  }
  roc::set_log_hook(before);
  EXPECT_EQ(0u, logged.find("use of a stream that has been destroyed")) << logged;
}

// Runtimes give handles of destroyed streams to new ones.
TEST(DestroyedStream, NewOnesAreNotTakenForIt) {
  for (int i = 0; i < 3000; ++i) {
    roc::stream const stream;
    ASSERT_TRUE(stream.query());
  }
  hipStream_t native = nullptr;
  { roc::stream const gone; }
  ROCARRAY_HIP(hipStreamCreateWithFlags, &native, hipStreamDefault);  // perhaps with its handle
  EXPECT_NO_THROW(roc::from_native(native).synchronize());
  ROCARRAY_HIP(hipStreamDestroy, native);
}

}  // namespace
