// SPDX-License-Identifier: MIT
// Settings that cannot be used: calls fail, and one line says which and what would do. Each in a
// process of its own, since settings are read once.
#include <cstdio>
#include <string>

#include "platform/host/support.hpp"

namespace {

using namespace roc::test;

// What a fresh process makes of a setting: leaves with the result of its first call.
[[noreturn]] void leave_with_first_result(char const* name, char const* value) {
  setenv(name, value, 1);
  void* data = nullptr;
  hipError_t const result = hipMalloc(&data, 1);
  hipError_t const again = hipGetDeviceCount(nullptr);
  if (again != hipErrorInvalidValue) std::_Exit(99);
  std::_Exit(result);
}

void expect_refused(char const* name, char const* value, char const* allowed) {
  std::string const line = std::string("rocarray host: ") + name + "=" + value +
                           " cannot be used.*give.*" + allowed;
  EXPECT_EXIT(leave_with_first_result(name, value), testing::ExitedWithCode(hipErrorInvalidValue),
              line);
}

void expect_taken(char const* name, char const* value) {
  EXPECT_EXIT(leave_with_first_result(name, value), testing::ExitedWithCode(0), "^$");
}

TEST(HostSettingsDeathTest, WhatCannotBeUsedIsNamed) {
  expect_refused("ROCARRAY_HOST_MODE", "fast", "threaded, inline, deferred");
  expect_refused("ROCARRAY_HOST_EMULATE", "CUDA", "cuda, rocm5, rocm7");
  expect_refused("ROCARRAY_HOST_MANAGED", "on", "full, basic, off");
  expect_refused("ROCARRAY_HOST_POISON", "yes", "off, on");
  expect_refused("ROCARRAY_HOST_PROTECT", "", "off, on");
  expect_refused("ROCARRAY_HOST_DEVICES", "17", "0 to 16");
  expect_refused("ROCARRAY_HOST_DEVICES", "-1", "0 to 16");
  expect_refused("ROCARRAY_HOST_DEVICES", "18446744073709551616", "0 to 16");
  expect_refused("ROCARRAY_HOST_THREADS", "0", "1 to 1024");
  expect_refused("ROCARRAY_HOST_MEMORY", "12Q", "4096 to");
  expect_refused("ROCARRAY_HOST_MEMORY", "1GB", "4096 to");
  expect_refused("ROCARRAY_HOST_MEMORY", "17179869185G", "4096 to");
  expect_refused("ROCARRAY_HOST_INJECT_FAILURE", "hipMalloc", "call:use");
  expect_refused("ROCARRAY_HOST_INJECT_FAILURE", "hipNone:1", "call:use");
  expect_refused("ROCARRAY_HOST_INJECT_FAILURE", "hipMalloc:0", "call:use");
  expect_refused("ROCARRAY_HOST_INJECT_FAILURE", "hipMalloc:2:", "call:use");
  expect_refused("ROCARRAY_HOST_INJECT_FAILURE", "hipMalloc:2,hipFree:-1", "call:use");
}

TEST(HostSettingsDeathTest, WhatCanBeUsedIsTaken) {
  expect_taken("ROCARRAY_HOST_MODE", "deferred");
  expect_taken("ROCARRAY_HOST_EMULATE", "rocm7");
  expect_taken("ROCARRAY_HOST_MANAGED", "basic");
  expect_taken("ROCARRAY_HOST_MEMORY", "4096");
  expect_taken("ROCARRAY_HOST_MEMORY", "3M");
  expect_taken("ROCARRAY_HOST_DEVICES", "16");
  expect_taken("ROCARRAY_HOST_INJECT_FAILURE", "hipMalloc:2");
}

TEST(HostSettingsDeathTest, FaultsComeFromTheEnvironmentToo) {
  EXPECT_EXIT(leave_with_first_result("ROCARRAY_HOST_INJECT_FAILURE", "hipFree:9,hipMalloc:1"),
              testing::ExitedWithCode(hipErrorOutOfMemory), "");
  EXPECT_EXIT(
      {
        setenv("ROCARRAY_HOST_INJECT_FAILURE", "hipMalloc:2:719,hipMalloc:3", 1);
        void* data = nullptr;
        bool const first = hipMalloc(&data, 1) == hipSuccess;
        bool const second = hipMalloc(&data, 1) == hipErrorLaunchFailure;
        bool const third = hipMalloc(&data, 1) == hipErrorOutOfMemory;
        std::_Exit(first && second && third && hipMalloc(&data, 1) == hipSuccess ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(HostSettingsDeathTest, AFaultWithoutACodeIsTheCallsOwn) {
  EXPECT_EXIT(
      {
        setenv("ROCARRAY_HOST_INJECT_FAILURE", "hipHostMalloc:1,hipStreamCreateWithFlags:1", 1);
        void* data = nullptr;
        hipStream_t stream = nullptr;
        bool const memory = hipHostMalloc(&data, 1) == hipErrorOutOfMemory;
        bool const other = hipStreamCreateWithFlags(&stream, 0) == hipErrorUnknown;
        std::_Exit(memory && other ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(HostSettings, AreInATable) {
  std::string const table = roc::host_hip::settings_table();
  for (char const* name : {"MODE", "DEVICES", "MEMORY", "THREADS", "RULES", "POISON", "PROTECT",
                           "FAIL"}) {
    EXPECT_NE(std::string::npos, table.find(std::string("ROCARRAY_HOST_") + name)) << name;
  }
}

}  // namespace
