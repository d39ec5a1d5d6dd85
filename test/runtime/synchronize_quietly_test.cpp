// SPDX-License-Identifier: MIT
// The wait for a stream after an error, if the device of the stream cannot be made current: the
// stream must not be reported as idle while its work is pending.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string_view>
#include <thread>

#include "platform/call.hpp"
#include "runtime/default_stream_sync.hpp"
#include "runtime/stream_handle.hpp"
#include "support/gate.hpp"

namespace {

namespace platform = roc::platform;
namespace runtime = roc::runtime;

// Makes every later use of the call fail.
void fail_all(char const* call) {
  ASSERT_TRUE(
      platform::fail_call(call, 1, hipErrorLaunchFailure, platform::failing_uses::all_later));
}

// Makes the next `count` uses of hipSetDevice fail, which must be 1 or 2.
void fail_set_device(int count) {
  if (count == 2) {
    platform::set_call_hook([](platform::call_record const& record) {
      if (!record.injected) return;
      platform::set_call_hook(nullptr);
      platform::fail_call("hipSetDevice", 1, hipErrorLaunchFailure);
    });
  }
  ASSERT_TRUE(platform::fail_call("hipSetDevice", 1, hipErrorLaunchFailure));
}

// Device 0 is current, and work of a stream of device 1 is pending.
class SynchronizeQuietly : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(2, roc::device::count());
    roc::device(0).make_current();
    previous_ = roc::set_log_hook([](char const* message) noexcept {
      if (std::string_view(message).find("keep them until the process ends") !=
          std::string_view::npos) {
        ++warnings;
      }
    });
    warnings = 0;
    has_run = false;
    roc::device_guard const guard{roc::device(1)};
    explicit_stream_.emplace(roc::non_blocking);
    per_thread_ = roc::per_thread_stream();
  }
  void TearDown() override {
    end_failures();
    gate_.open();
    roc::device(1).synchronize();
    EXPECT_TRUE(runtime::wait_for_abandoned_work());
    roc::set_log_hook(previous_);
  }

  // Enqueues work that takes a while.
  static void enqueue_work(roc::stream_ref stream) {
    roc::device_guard const guard{roc::device(1)};
    stream.launch_host_function([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      has_run = true;
    });
  }
  // Enqueues work that runs only after end_failures().
  void enqueue_held_work(roc::stream_ref stream) {
    {
      roc::device_guard const guard{roc::device(1)};
      gate_.close(stream);
    }
    enqueue_work(stream);
  }
  void end_failures() {
    platform::set_call_hook(nullptr);
    platform::clear_failures();
  }

  // Checks that the wait fails, and that the library knows it. `call` always fails.
  void expect_failure(roc::stream_ref stream, char const* call) {
    SCOPED_TRACE(call);
    enqueue_held_work(stream);
    fail_all(call);
    EXPECT_FALSE(runtime::synchronize_quietly(stream, 1));
    end_failures();
    EXPECT_EQ(1, warnings);
    EXPECT_TRUE(runtime::has_abandoned_work());
    gate_.open();
    EXPECT_TRUE(runtime::wait_for_abandoned_work());
    EXPECT_TRUE(has_run);
  }

  roc::stream_ref default_stream() const { return {}; }
  roc::stream_ref per_thread() const { return per_thread_; }
  roc::stream_ref explicit_stream() const { return *explicit_stream_; }

  static inline std::atomic<int> warnings = 0;
  static inline std::atomic<bool> has_run = false;

 private:
  roc::log_hook previous_ = nullptr;
  std::optional<roc::stream> explicit_stream_;
  roc::stream_ref per_thread_;
  roc::test::gate gate_;
};

TEST_F(SynchronizeQuietly, DefaultStreamIsNotReportedIdleIfItsDeviceCannotBeMadeCurrent) {
  expect_failure(default_stream(), "hipSetDevice");
}

TEST_F(SynchronizeQuietly, DefaultStreamIsNotReportedIdleIfTheCurrentDeviceIsUnknown) {
  expect_failure(default_stream(), "hipGetDevice");
}

TEST_F(SynchronizeQuietly, PerThreadStreamIsNotReportedIdleIfItsDeviceCannotBeMadeCurrent) {
  expect_failure(per_thread(), "hipSetDevice");
}

TEST_F(SynchronizeQuietly, PerThreadStreamIsNotReportedIdleIfTheCurrentDeviceIsUnknown) {
  expect_failure(per_thread(), "hipGetDevice");
}

// The device that is current is not that of the stream: its wait tells nothing.
TEST_F(SynchronizeQuietly, ExplicitStreamIsNotReportedIdleIfOnlyTheCurrentDeviceCanBeAwaited) {
  fail_all("hipStreamSynchronize");
  expect_failure(explicit_stream(), "hipSetDevice");
}

// A device that works can tell the state of its streams.
TEST_F(SynchronizeQuietly, FailedDeviceIsReportedToTheHandler) {
  static std::atomic<int> failed_device;
  failed_device = -1;
  runtime::set_device_failure_handler([](int device) noexcept { failed_device = device; });
  enqueue_held_work(explicit_stream());
  fail_all("hipStreamSynchronize");
  fail_all("hipDeviceSynchronize");
  EXPECT_FALSE(runtime::synchronize_quietly(explicit_stream()));
  EXPECT_THROW(roc::device(1).synchronize(), roc::error);
  EXPECT_THROW(explicit_stream().synchronize(), roc::error);
  EXPECT_EQ(-1, failed_device);
  fail_all("hipStreamQuery");
  EXPECT_FALSE(runtime::synchronize_quietly(explicit_stream()));
  EXPECT_EQ(1, failed_device.exchange(-1));
  EXPECT_THROW(roc::device(1).synchronize(), roc::error);
  EXPECT_EQ(1, failed_device.exchange(-1));
  EXPECT_THROW(explicit_stream().synchronize(), roc::error);
  EXPECT_EQ(1, failed_device.exchange(-1));
  for (char const* const call : {"hipStreamSynchronize", "hipStreamQuery"}) {
    ASSERT_TRUE(
        platform::fail_call(call, 1, hipErrorInvalidHandle, platform::failing_uses::all_later));
  }
  EXPECT_THROW(explicit_stream().synchronize(), roc::error);
  EXPECT_EQ(-1, failed_device) << "only the stream cannot be used";
  runtime::set_device_failure_handler(nullptr);
}

// A captured stream is not awaited, but this one is not captured.
TEST_F(SynchronizeQuietly, StreamIsAwaitedAlthoughHipCannotTellWhetherItIsCaptured) {
  for (auto const failing : {platform::failing_uses::one, platform::failing_uses::all_later}) {
    has_run = false;
    enqueue_work(explicit_stream());
    roc::graph const graph = roc::capture([&](roc::stream_ref) {
      ASSERT_TRUE(
          platform::fail_call("hipStreamGetCaptureInfo", 1, hipErrorLaunchFailure, failing));
      EXPECT_TRUE(runtime::synchronize_quietly(explicit_stream()));
      end_failures();
      EXPECT_TRUE(has_run);
    });
  }
}

TEST_F(SynchronizeQuietly, DeviceIsMadeCurrentAfterATransientFailure) {
  for (roc::stream_ref const stream : {default_stream(), per_thread()}) {
    has_run = false;
    enqueue_work(stream);
    fail_set_device(1);
    EXPECT_TRUE(runtime::synchronize_quietly(stream, 1));
    EXPECT_TRUE(has_run);
    EXPECT_EQ(0, roc::device().ordinal());
  }
  EXPECT_EQ(0, warnings);
}

// HIP needs no current device for the handle of an explicit stream.
TEST_F(SynchronizeQuietly, ExplicitStreamIsAwaitedIfItsDeviceCannotBeMadeCurrent) {
  for (bool const wait_fails_once : {false, true}) {
    has_run = false;
    enqueue_work(explicit_stream());
    fail_all("hipSetDevice");
    if (wait_fails_once) {
      ASSERT_TRUE(platform::fail_call("hipStreamSynchronize", 1, hipErrorLaunchFailure));
    }
    EXPECT_TRUE(runtime::synchronize_quietly(explicit_stream()));
    end_failures();
    EXPECT_TRUE(has_run) << wait_fails_once;
  }
  EXPECT_EQ(0, warnings);
}

TEST_F(SynchronizeQuietly, WaitForStreamTriesTheDeviceAgain) {
  enqueue_work(default_stream());
  fail_set_device(2);
  EXPECT_THROW(roc::detail::wait_for_stream(default_stream(), 1), roc::error);
  EXPECT_TRUE(has_run);
  EXPECT_EQ(0, warnings);
}

TEST_F(SynchronizeQuietly, WaitForStreamAbandonsWorkIfTheDeviceCannotBeMadeCurrent) {
  enqueue_held_work(default_stream());
  fail_all("hipSetDevice");
  EXPECT_THROW(roc::detail::wait_for_stream(default_stream(), 1), roc::error);
  EXPECT_EQ(1, warnings);
  EXPECT_TRUE(runtime::has_abandoned_work());
}

// Host memory is leaked, not freed, while work that could not be awaited may use it.
TEST_F(SynchronizeQuietly, HostMemoryIsKeptAfterAFailedWait) {
  static std::atomic<int> leaks;
  leaks = 0;
  roc::set_log_hook([](char const* message) noexcept {
    if (std::string_view(message).find("host memory is leaked") != std::string_view::npos) ++leaks;
  });
  enqueue_held_work(default_stream());
  fail_all("hipSetDevice");
  EXPECT_THROW(roc::detail::wait_for_stream(default_stream(), 1), roc::error);
  {
    roc::host_array<int> const array({100});
  }
  EXPECT_EQ(1, leaks);
}

}  // namespace
