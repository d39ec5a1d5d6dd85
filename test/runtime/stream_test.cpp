// SPDX-License-Identifier: MIT
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
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
