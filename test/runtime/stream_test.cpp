// SPDX-License-Identifier: MIT
#include <roc/detail/stream_watcher.hpp>
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include "platform/call.hpp"
#include "support/environment.hpp"
#include "support/gate.hpp"

namespace {

using roc::test::gate;

static_assert(!std::is_copy_constructible_v<roc::stream>);
static_assert(std::is_nothrow_move_constructible_v<roc::stream>);
static_assert(std::is_trivially_copyable_v<roc::stream_ref>);

// Enqueues a host function that sets the flag.
void enqueue_flag(roc::stream_ref stream, bool& flag) {
  ROCARRAY_HIP(
      hipLaunchHostFunc, roc::native(stream),
      [](void* argument) { *static_cast<bool*>(argument) = true; }, &flag);
}

TEST(Stream, IsDoneWithoutWork) {
  roc::stream const stream;
  EXPECT_TRUE(stream.query());
  EXPECT_NO_THROW(stream.synchronize());
}

TEST(StreamSynchronize, WaitsForTheWorkOfTheStream) {
  roc::stream const stream;
  bool done = false;
  enqueue_flag(stream, done);
  stream.synchronize();
  EXPECT_TRUE(done);
}

TEST(StreamQuery, DoesNotBlock) {
  if (!gate::holds()) GTEST_SKIP() << "work is done by the call that enqueues it";
  roc::stream const stream;
  gate hold;
  hold.close(stream);
  bool done = false;
  enqueue_flag(stream, done);
  EXPECT_FALSE(stream.query());
  hold.open();
  while (!stream.query()) {
  }
  EXPECT_TRUE(done);
}

class counting_watcher final : public roc::detail::stream_watcher {
 public:
  bool poll_stream(roc::detail::stream_identity const&,
                   std::chrono::steady_clock::duration) override {
    ++polls;
    if (std::exchange(fails, false)) throw std::runtime_error("an operation has failed");
    return pending == 0 || --pending == 0;
  }
  int polls = 0;
  int pending = 0;  // polls that return false, and one
  bool fails = false;
};

TEST(StreamWatcher, IsPolledUntilNothingIsPending) {
  auto const watcher = std::make_shared<counting_watcher>();
  roc::stream const stream;
  roc::stream const other;
  roc::detail::watch_stream(stream, watcher);
  roc::detail::watch_stream(stream, watcher);  // has no effect
  other.synchronize();
  EXPECT_EQ(0, watcher->polls);
  watcher->pending = 4;
  stream.synchronize();
  EXPECT_EQ(4, watcher->polls);
  stream.synchronize();
  EXPECT_EQ(5, watcher->polls);
}

TEST(StreamWatcher, ErrorIsThrownWhenTheStreamIsIdleAndTheOthersAreDone) {
  auto const first = std::make_shared<counting_watcher>();
  auto const second = std::make_shared<counting_watcher>();
  roc::stream const stream;
  roc::detail::watch_stream(stream, first);
  roc::detail::watch_stream(stream, second);
  first->fails = true;
  second->pending = 4;
  bool done = false;
  enqueue_flag(stream, done);
  EXPECT_THROW(stream.synchronize(), std::runtime_error);
  EXPECT_TRUE(done);
  EXPECT_EQ(4, second->polls);
  EXPECT_NO_THROW(stream.synchronize());
}

TEST(StreamWatcher, IsNotPolledAfterItsEndNorForPerThreadStreamsOfOthers) {
  roc::stream const stream;
  auto watcher = std::make_shared<counting_watcher>();
  watcher->fails = true;
  roc::detail::watch_stream(stream, watcher);
  watcher.reset();
  EXPECT_NO_THROW(stream.synchronize());
  watcher = std::make_shared<counting_watcher>();
  std::thread([&] {
    roc::detail::watch_stream(roc::per_thread_stream(), watcher);
    roc::per_thread_stream().synchronize();
  }).join();
  EXPECT_EQ(1, watcher->polls);
  roc::per_thread_stream().synchronize();
  EXPECT_EQ(1, watcher->polls);
}

TEST(SynchronizeGuard, WaitsAtTheEndOfItsScope) {
  roc::stream const stream;
  bool done = false;
  {
    auto const guard = stream.auto_synchronize();
    enqueue_flag(stream, done);
  }
  EXPECT_TRUE(done);
}

TEST(SynchronizeGuard, WaitsDuringUnwinding) {
  roc::stream const stream;
  bool done = false;
  try {
    auto const guard = stream.auto_synchronize();
    enqueue_flag(stream, done);
    throw std::runtime_error("thrown in the scope");
  } catch (std::runtime_error const&) {
    EXPECT_TRUE(done);
  }
}

TEST(SynchronizeGuard, EarlySynchronizeThrowsAndReleasesTheGuard) {
  roc::stream const stream;
  auto guard = stream.auto_synchronize();
  roc::platform::fail_call("hipStreamSynchronize", 1, hipErrorLaunchFailure);
  EXPECT_THROW(guard.synchronize(), roc::error);
  EXPECT_NO_THROW(guard.synchronize());
}

std::string logged;

TEST(SynchronizeGuard, DestructorLogsErrors) {
  roc::stream const stream;
  logged.clear();
  auto const previous_hook = roc::set_log_hook([](char const* text) noexcept { logged = text; });
  {
    auto const guard = stream.auto_synchronize();
    roc::platform::fail_call("hipStreamSynchronize", 1, hipErrorLaunchFailure);
  }
  roc::set_log_hook(previous_hook);
  EXPECT_NE(std::string::npos, logged.find("hipStreamSynchronize")) << logged;
}

TEST(SynchronizeGuard, WaitsOnceIfMoved) {
  roc::stream const stream;
  int waits = 0;
  static int* counter = nullptr;
  counter = &waits;
  auto const previous_hook =
      roc::platform::set_call_hook([](roc::platform::call_record const& record) {
        *counter += std::string(record.name) == "hipStreamSynchronize" ? 1 : 0;
      });
  {
    auto first = stream.auto_synchronize();
    auto const second = std::move(first);
  }
  roc::platform::set_call_hook(previous_hook);
  EXPECT_EQ(1, waits);
}

TEST(Stream, ThrowsLifetimeErrorAfterMove) {
  roc::stream first;
  roc::stream const second = std::move(first);
  EXPECT_THROW(first.synchronize(), roc::lifetime_error);
  EXPECT_THROW(static_cast<void>(first.query()), roc::lifetime_error);
  EXPECT_THROW(static_cast<void>(first.auto_synchronize()), roc::lifetime_error);
  EXPECT_NO_THROW(second.synchronize());
  first = roc::stream();
  EXPECT_NO_THROW(first.synchronize());
}

TEST(StreamDestructor, PendingWorkIsStillDone) {
  bool done = false;
  gate hold;
  {
    roc::stream const stream;
    hold.close(stream);
    enqueue_flag(stream, done);
  }
  hold.open();
  roc::device().synchronize();
  EXPECT_TRUE(done);
}

TEST(StreamPriority, AcceptsValuesOutsideTheRange) {
  for (int priority : {-1000, -1, 0, 1, 1000}) {
    roc::stream const stream(priority);
    EXPECT_NO_THROW(stream.synchronize());
  }
}

TEST(FromNative, DoesNotDestroyTheStream) {
  hipStream_t native = nullptr;
  ROCARRAY_HIP(hipStreamCreateWithFlags, &native, hipStreamNonBlocking);
  {
    roc::stream_ref const adopted = roc::from_native(native);
    EXPECT_EQ(native, roc::native(adopted));
    adopted.synchronize();
  }
  ROCARRAY_HIP(hipStreamSynchronize, native);
  ROCARRAY_HIP(hipStreamDestroy, native);
}

TEST(StreamRef, DefaultStreamHasANullHandle) {
  EXPECT_EQ(nullptr, roc::native(roc::stream_ref()));
  EXPECT_EQ(roc::stream_ref(), roc::from_native(nullptr));
  EXPECT_NO_THROW(roc::from_native(hipStreamPerThread).synchronize());
}

}  // namespace
