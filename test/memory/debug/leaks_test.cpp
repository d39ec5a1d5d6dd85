// SPDX-License-Identifier: MIT
// The report of what was never freed (options::leak_check).
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "memory/debug/leaks.hpp"
#include "platform/call.hpp"
#include "support/exit_output.hpp"
#include "support/options.hpp"

using device_bytes = roc::device_array<char>;

// Exported, so that its name is known at run time and appears in call sites.
[[gnu::noinline]] device_bytes* allocate_and_forget(std::size_t bytes) {
  auto* const array = new device_bytes({bytes});
  EXPECT_NE(nullptr, array->data());  // prevents a tail call, which would hide this function
  return array;
}

namespace {

roc::test::program_options const options_of_tests([] {
  return roc::options{.pinned_cache = 0, .leak_check = true};
});

std::string report() { return roc::memory::leak_report(); }

bool contains(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

TEST(LeakReport, IsEmptyBeforeTheFirstAllocation) { EXPECT_EQ("", report()); }

TEST(LeakReport, ListsLiveAllocationsOfEveryKind) {
  {
    device_bytes const device({1000});
    auto const pinned = roc::pinned_array<char>(roc::shape<1>{200});
    roc::host_array<char> const pageable({30});
    auto const text = report();
    EXPECT_EQ(0u, text.find("allocations never freed: 3, 1230 bytes\n")) << text;
    EXPECT_TRUE(contains(text, "  1000 bytes of device memory at 0x")) << text;
    EXPECT_TRUE(contains(text, " of device 0, allocated by\n")) << text;
    EXPECT_TRUE(contains(text, "  200 bytes of pinned host memory at 0x")) << text;
    EXPECT_TRUE(contains(text, "  30 bytes of host memory at 0x")) << text;
  }
  EXPECT_EQ("", report());
}

TEST(LeakReport, ContainsCallSites) {
  device_bytes* const leaked = allocate_and_forget(77);
  auto const text = report();
  EXPECT_TRUE(contains(text, "    allocate_and_forget(unsigned long) in ")) << text;
  EXPECT_TRUE(contains(text, "leaks_test 0x"))
      << text;  // module and offset, as addr2line expects them
  delete leaked;
}

TEST(LeakReport, FollowsMovesSharedAllocationsAndReleases) {
  roc::hip_memory_resource hip_resource;  // arrays from it can be released
  device_bytes first({10}, hip_resource);
  device_bytes second = std::move(first);
  EXPECT_TRUE(contains(report(), ": 1, 10 bytes\n"));
  second = device_bytes({20}, hip_resource);
  EXPECT_TRUE(contains(report(), ": 1, 20 bytes\n"));
  {
    roc::device_allocation const shared(300);
    auto const part = shared.array<char>(0, roc::shape<1>{100});
    EXPECT_TRUE(contains(report(), ": 2, 320 bytes\n"));
  }
  char* const released = std::move(second).release();
  EXPECT_EQ("", report());  // the program owns the memory now
  ROCARRAY_HIP(hipFree, released);
}

TEST(LeakReport, OmitsFailedAllocations) {
  roc::hip_memory_resource hip_resource;
  roc::platform::fail_call("hipMalloc", 1, hipErrorOutOfMemory);
  EXPECT_THROW(device_bytes({10}, hip_resource), roc::out_of_memory);
  roc::platform::fail_call("hipHostMalloc", 1, hipErrorOutOfMemory);
  EXPECT_THROW(static_cast<void>(roc::pinned_array<char>(roc::shape<1>{10})), roc::out_of_memory);
  EXPECT_EQ("", report());
}

TEST(LeakReport, IsEmptyAfterManyThreadsFreedTheirArrays) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([] {
      for (std::size_t k = 1; k < 100; ++k) device_bytes const array({k});
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ("", report());
}

TEST(LeakReport, OmitsAllocationsMadeWhileItIsDisabled) {
  device_bytes const before({10});
  roc::scoped_options const disabled({.leak_check = false});
  device_bytes const meanwhile({20});
  EXPECT_EQ(0u, report().find("allocations never freed: 1, 10 bytes\n")) << report();
}

TEST(LeakReport, ForgetsAllocationsFreedWhileItIsDisabled) {
  auto const array = std::make_unique<device_bytes>(roc::shape<1>{10});
  EXPECT_TRUE(contains(report(), ": 1, 10 bytes\n"));
  {
    roc::scoped_options const disabled({.leak_check = false});
    *array = device_bytes();
  }
  EXPECT_EQ("", report());
}

// Keeps leaked arrays reachable, so that LeakSanitizer does not report them and end the process.
// Volatile, so that the compiler does not remove it.
device_bytes* volatile forgotten = nullptr;

[[noreturn]] void leak_and_exit() {
  forgotten = allocate_and_forget(4321);
  std::exit(0);
}

TEST(LeakReportDeathTest, IsWrittenWhenTheProcessEnds) {
  EXPECT_EXIT(leak_and_exit(), testing::ExitedWithCode(0),
              "rocarray: warning: allocations never freed: 1, 4321 bytes\n"
              "  4321 bytes of device memory at 0x[0-9a-f]+ of device 0, allocated by\n"
              "(.*\n)*    allocate_and_forget");
}

[[noreturn]] void leak_with_little_log_and_exit() {
  roc::scoped_options const quiet({.log = roc::log_level::error});
  forgotten = allocate_and_forget(4321);
  std::exit(0);  // does not destroy `quiet`
}

TEST(LeakReportDeathTest, IsNotWrittenIfWarningsAreNotLogged) {
  EXPECT_EXIT(leak_with_little_log_and_exit(), testing::ExitedWithCode(0), roc::test::no_output);
}

[[noreturn]] void free_all_and_exit() {
  delete allocate_and_forget(12);
  std::exit(0);
}

TEST(LeakReportDeathTest, IsNotWrittenIfNothingLeaked) {
  EXPECT_EXIT(free_all_and_exit(), testing::ExitedWithCode(0), roc::test::no_output);
}

device_bytes* freed_late = nullptr;

struct frees_late {
  ~frees_late() { delete freed_late; }
};

[[noreturn]] void free_late_and_exit() {
  static_cast<void>(report());
  static frees_late const late;
  freed_late = new device_bytes({5});
  std::exit(report().empty() ? 1 : 0);
}

// The leaked array shows that the report is written at all.
[[noreturn]] void free_some_late_and_exit() {
  forgotten = allocate_and_forget(11);
  free_late_and_exit();
}

TEST(LeakReportDeathTest, OmitsMemoryFreedByDestructorsOfStaticObjects) {
  EXPECT_EXIT(free_some_late_and_exit(), testing::ExitedWithCode(0),
              "allocations never freed: 1, 11 bytes\n");
}

}  // namespace
