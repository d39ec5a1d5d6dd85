// SPDX-License-Identifier: MIT
// Invalid settings: all calls fail, and a line names the setting and its valid values. Each is
// tested in a child process, because settings are read once per process.
#include <cstdio>
#include <sstream>
#include <string>

#include "platform/host/support.hpp"

namespace {

using namespace roc::test;

// Sets a variable and exits with the result of the first call.
[[noreturn]] void exit_with_first_result(char const* name, char const* value) {
  setenv(name, value, 1);
  void* data = nullptr;
  hipError_t const result = hipMalloc(&data, 1);
  hipError_t const again = hipGetDeviceCount(nullptr);
  if (again != hipErrorInvalidValue) std::_Exit(99);
  std::_Exit(result);
}

void expect_invalid(char const* name, char const* value, char const* allowed) {
  std::string const line =
      std::string("rocarray host: ") + name + "=" + value + " is not valid.*; use .*" + allowed;
  EXPECT_EXIT(exit_with_first_result(name, value), testing::ExitedWithCode(hipErrorInvalidValue),
              line);
}

void expect_valid(char const* name, char const* value) {
  EXPECT_EXIT(exit_with_first_result(name, value), testing::ExitedWithCode(0), "^$");
}

TEST(HostSettingsDeathTest, InvalidValueFailsCallsAndIsReported) {
  expect_invalid("ROCARRAY_HOST_MODE", "fast", "one of threaded, inline, deferred");
  expect_invalid("ROCARRAY_HOST_CHECK", "on", "one of off, report, abort");
  expect_invalid("ROCARRAY_HOST_EMULATE", "CUDA", "cuda, cuda13, rocm5, rocm6, rocm7");
  expect_invalid("ROCARRAY_HOST_MANAGED", "on", "full, basic, off");
  expect_invalid("ROCARRAY_HOST_POISON", "yes", "off, on");
  expect_invalid("ROCARRAY_HOST_PROTECT", "", "off, on");
  expect_invalid("ROCARRAY_HOST_STRICT", "1", "off, on");
  expect_invalid("ROCARRAY_HOST_DEVICES", "17", "a number from 0 to 16");
  expect_invalid("ROCARRAY_HOST_DEVICES", "-1", "a number from 0 to 16");
  expect_invalid("ROCARRAY_HOST_DEVICES", "18446744073709551616", "a number from 0 to 16");
  expect_invalid("ROCARRAY_HOST_PEERS", "some", "all, none, or pairs of devices below 16");
  expect_invalid("ROCARRAY_HOST_PEERS", "", "all, none, or pairs");
  expect_invalid("ROCARRAY_HOST_PEERS", "0-0", "all, none, or pairs");
  expect_invalid("ROCARRAY_HOST_PEERS", "0-16", "all, none, or pairs");
  expect_invalid("ROCARRAY_HOST_PEERS", "0-1,2", "all, none, or pairs");
  expect_invalid("ROCARRAY_HOST_THREADS", "0", "1 to 1024");
  expect_invalid("ROCARRAY_HOST_MEMORY", "12Q", "4096 to");
  expect_invalid("ROCARRAY_HOST_MEMORY", "1GB", "4096 to");
  expect_invalid("ROCARRAY_HOST_MEMORY", "17179869185G", "4096 to");
  expect_invalid("ROCARRAY_HOST_INJECT_FAILURE", "hipMalloc", "call:use");
  expect_invalid("ROCARRAY_HOST_INJECT_FAILURE", "hipNone:1", "call:use");
  expect_invalid("ROCARRAY_HOST_INJECT_FAILURE", "hipMalloc:0", "call:use");
  expect_invalid("ROCARRAY_HOST_INJECT_FAILURE", "hipMalloc:-1", "call:use");
  expect_invalid("ROCARRAY_HOST_INJECT_FAILURE", "hipMalloc:4294967297", "call:use");
  expect_invalid("ROCARRAY_HOST_INJECT_FAILURE", "hipMalloc:1:4294967297", "call:use");
  expect_invalid("ROCARRAY_HOST_INJECT_FAILURE", "hipMalloc:2:", "call:use");
  expect_invalid("ROCARRAY_HOST_INJECT_FAILURE", "hipMalloc:2,hipFree:-1", "call:use");
}

TEST(HostSettingsDeathTest, ValidValueIsAccepted) {
  expect_valid("ROCARRAY_HOST_MODE", "deferred");
  expect_valid("ROCARRAY_HOST_CHECK", "report");
  expect_valid("ROCARRAY_HOST_EMULATE", "rocm6");
  expect_valid("ROCARRAY_HOST_MANAGED", "basic");
  expect_valid("ROCARRAY_HOST_MEMORY", "4096");
  expect_valid("ROCARRAY_HOST_MEMORY", "3M");
  expect_valid("ROCARRAY_HOST_DEVICES", "16");
  expect_valid("ROCARRAY_HOST_PEERS", "all");
  expect_valid("ROCARRAY_HOST_PEERS", "none");
  expect_valid("ROCARRAY_HOST_PEERS", "0-1,15:2");
  expect_valid("ROCARRAY_HOST_INJECT_FAILURE", "hipMalloc:2");
}

TEST(HostSettingsDeathTest, FailuresAreInjectedFromEnvironment) {
  EXPECT_EXIT(exit_with_first_result("ROCARRAY_HOST_INJECT_FAILURE", "hipFree:9,hipMalloc:1"),
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

TEST(HostSettingsDeathTest, InjectedFailureWithoutCodeDependsOnCall) {
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

TEST(HostSettings, ColumnsOfTableAreAligned) {
  std::istringstream lines(roc::host_hip::settings_table());
  std::string header;
  std::getline(lines, header);
  auto const second = header.find("default");
  auto const third = header.find("meaning");
  for (std::string line; std::getline(lines, line);) {
    ASSERT_GT(line.size(), third) << line;
    EXPECT_EQ(' ', line[second - 1]) << line;
    EXPECT_EQ(' ', line[third - 1]) << line;
    EXPECT_NE(' ', line[third]) << line;
    EXPECT_LE(line.size(), 100u) << line;
  }
}

TEST(HostSettings, TableNamesEveryVariable) {
  std::string const table = roc::host_hip::settings_table();
  for (char const* name : {"MODE", "DEVICES", "MEMORY", "THREADS", "EMULATE", "MANAGED", "CHECK",
                           "PEERS", "POISON", "PROTECT", "STRICT", "INJECT_FAILURE"}) {
    EXPECT_NE(std::string::npos, table.find(std::string("ROCARRAY_HOST_") + name)) << name;
  }
}

}  // namespace
