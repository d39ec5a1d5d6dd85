// SPDX-License-Identifier: MIT
// Checked calls: codes, names, locations, injected failures, the hook, and no sticky error.
#include "platform/call.hpp"

#include <roc/device.hpp>
#include <roc/error.hpp>
#include <roc/stream.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

namespace platform = roc::platform;

TEST(CheckedCall, ErrorHasCodeNameAndLocation) {
  try {
    ROCARRAY_HIP(hipSetDevice, -1);
    FAIL() << "device -1 was accepted";
  } catch (roc::error const& error) {
    EXPECT_EQ(roc::hip_category(), error.code().category());
    EXPECT_NE(0, error.code().value());
    EXPECT_STREQ("hipSetDevice", error.call());
    EXPECT_NE(0u, error.location().line());
    EXPECT_NE(std::string::npos, std::string(error.what()).find("hipSetDevice")) << error.what();
    EXPECT_EQ(std::string::npos, std::string(error.what()).find('/')) << error.what();
  }
  EXPECT_EQ(hipSuccess, hipGetLastError());
}

TEST(FailCall, FailsNthUseOnce) {
  ASSERT_TRUE(platform::fail_call("hipDeviceSynchronize", 2, hipErrorLaunchFailure));
  roc::device const device;
  EXPECT_NO_THROW(device.synchronize());
  try {
    device.synchronize();
    FAIL() << "the second use did not fail";
  } catch (roc::error const& error) {
    EXPECT_EQ(hipErrorLaunchFailure, error.code().value());
    EXPECT_STREQ("hipDeviceSynchronize", error.call());
  }
  EXPECT_NO_THROW(device.synchronize());
}

TEST(FailCall, FailsAllLaterUsesUntilFailuresAreCleared) {
  ASSERT_TRUE(platform::fail_call("hipDeviceSynchronize", 2, hipErrorLaunchFailure,
                                  platform::failing_uses::all_later));
  roc::device const device;
  EXPECT_NO_THROW(device.synchronize());
  for (int i = 0; i != 3; ++i) EXPECT_THROW(device.synchronize(), roc::error);
  platform::clear_failures();
  EXPECT_NO_THROW(device.synchronize());
}

TEST(FailCall, RejectsUnknownNameZeroUseAndSuccess) {
  EXPECT_FALSE(platform::fail_call("hipNothing", 1, hipErrorUnknown));
  EXPECT_FALSE(platform::fail_call("hipMalloc", 0, hipErrorUnknown));
  EXPECT_FALSE(platform::fail_call("hipMalloc", 1, hipSuccess));
}

TEST(CheckedCall, ThrowsOutOfMemoryIfHipReportsIt) {
  ASSERT_TRUE(platform::fail_call("hipMalloc", 1, hipErrorOutOfMemory));
  void* data = nullptr;
  try {
    ROCARRAY_HIP(hipMalloc, &data, 64);
    FAIL();
  } catch (std::exception const& error) {
    auto const* const typed = dynamic_cast<roc::out_of_memory const*>(&error);
    ASSERT_NE(nullptr, typed);
    EXPECT_EQ(std::errc::not_enough_memory, typed->code());
  }
}

std::vector<std::string> traced;

TEST(CallHook, ReceivesEveryCall) {
  traced.clear();
  auto const previous = platform::set_call_hook([](platform::call_record const& record) {
    traced.push_back(std::string(record.name) + (record.injected ? "!" : "") + "=" +
                     std::to_string(static_cast<int>(record.result)));
  });
  platform::fail_call("hipStreamQuery", 1, hipErrorUnknown);
  EXPECT_THROW(static_cast<void>(roc::stream_ref().query()), roc::error);
  roc::stream_ref().synchronize();
  platform::set_call_hook(previous);
  roc::stream_ref().synchronize();
  EXPECT_EQ((std::vector<std::string>{"hipStreamQuery!=999", "hipStreamSynchronize=0"}), traced);
}

TEST(CheckedCall, QuietFailureIsPassedToLogHook) {
  static std::string message;
  message.clear();
  auto const previous = roc::set_log_hook([](char const* text) noexcept { message = text; });
  platform::fail_call("hipStreamSynchronize", 1, hipErrorLaunchFailure);
  { auto const guard = roc::stream_ref().auto_synchronize(); }
  roc::set_log_hook(previous);
  EXPECT_NE(std::string::npos, message.find("hipStreamSynchronize")) << message;
}

}  // namespace
