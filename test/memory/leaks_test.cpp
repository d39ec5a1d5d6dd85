// SPDX-License-Identifier: MIT
// Run with ROCARRAY_LEAK_CHECK=1.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "memory/debug/leaks.hpp"
#include "platform/call.hpp"

using device_bytes = roc::device_array<char>;

// Exported, so that its name is known at run time.
[[gnu::noinline]] device_bytes* allocate_and_forget(std::size_t bytes) {
  auto* const made = new device_bytes({bytes});
  EXPECT_NE(nullptr, made->data());  // nothing may follow the call as its last
  return made;
}

namespace {

std::string report() { return roc::memory::leak_report(); }

bool holds(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

TEST(Leaks, NothingLivesAtFirst) { EXPECT_EQ("", report()); }

TEST(Leaks, EveryKindIsCountedWhileItLives) {
  {
    device_bytes const device({1000});
    auto const pinned = roc::pinned_array<char>(roc::shape<1>{200});
    roc::host_array<char> const pageable({30});
    auto const text = report();
    EXPECT_EQ(0u, text.find("allocations never freed: 3, 1230 bytes\n")) << text;
    EXPECT_TRUE(holds(text, "  1000 bytes of device memory at 0x")) << text;
    EXPECT_TRUE(holds(text, " of device 0, allocated by\n")) << text;
    EXPECT_TRUE(holds(text, "  200 bytes of pinned host memory at 0x")) << text;
    EXPECT_TRUE(holds(text, "  30 bytes of host memory at 0x")) << text;
  }
  EXPECT_EQ("", report());
}

TEST(Leaks, ShowsTheCallSite) {
  device_bytes* const leaked = allocate_and_forget(77);
  auto const text = report();
  EXPECT_TRUE(holds(text, "    allocate_and_forget(unsigned long) in ")) << text;
  EXPECT_TRUE(holds(text, "leaks_test 0x")) << text;  // what addr2line takes
  delete leaked;
}

TEST(Leaks, MovesSharesAndReleasesAreFollowed) {
  roc::hip_memory_resource direct;  // what can be released
  device_bytes first({10}, direct);
  device_bytes second = std::move(first);
  EXPECT_TRUE(holds(report(), ": 1, 10 bytes\n"));
  second = device_bytes({20}, direct);
  EXPECT_TRUE(holds(report(), ": 1, 20 bytes\n"));
  {
    roc::device_allocation const shared(300);
    auto const part = shared.array<char>(0, roc::shape<1>{100});
    EXPECT_TRUE(holds(report(), ": 2, 320 bytes\n"));
  }
  char* const released = std::move(second).release();
  EXPECT_EQ("", report());  // the program's from now on
  ROCARRAY_HIP(hipFree, released);
}

TEST(Leaks, AFailedAllocationIsNone) {
  roc::hip_memory_resource direct;
  roc::platform::fail_call("hipMalloc", 1, hipErrorOutOfMemory);
  EXPECT_THROW(device_bytes({10}, direct), roc::out_of_memory);
  roc::platform::fail_call("hipHostMalloc", 1, hipErrorOutOfMemory);
  EXPECT_THROW(roc::pinned_array<char>(roc::shape<1>{10}), roc::out_of_memory);
  EXPECT_EQ("", report());
}

TEST(Leaks, ManyThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([] {
      for (std::size_t k = 1; k < 100; ++k) device_bytes const array({k});
    });
  }
  for (auto& each : threads) each.join();
  EXPECT_EQ("", report());
}

// Reachable: LeakSanitizer would end the process its own way. Volatile, or nobody needs to keep it.
device_bytes* volatile forgotten = nullptr;

[[noreturn]] void leak_and_exit() {
  forgotten = allocate_and_forget(4321);
  std::exit(0);
}

TEST(LeaksDeathTest, AreReportedAtTheEndOfTheProcess) {
  EXPECT_EXIT(leak_and_exit(), testing::ExitedWithCode(0),
              "rocarray: warning: allocations never freed: 1, 4321 bytes\n"
              "  4321 bytes of device memory at 0x[0-9a-f]+ of device 0, allocated by\n"
              "(.*\n)*    allocate_and_forget");
}

device_bytes* global = nullptr;

struct frees_late {
  ~frees_late() { delete global; }
};

[[noreturn]] void free_late_and_exit() {
  static_cast<void>(report());
  static frees_late const late;
  global = new device_bytes({5});
  std::exit(report().empty() ? 1 : 0);
}

// The other memory that is reported shows that nothing came before.
[[noreturn]] void free_some_late_and_exit() {
  forgotten = allocate_and_forget(11);
  free_late_and_exit();
}

TEST(LeaksDeathTest, WhatStaticObjectsFreeIsNone) {
  EXPECT_EXIT(free_some_late_and_exit(), testing::ExitedWithCode(0),
              "allocations never freed: 1, 11 bytes\n");
}

}  // namespace
