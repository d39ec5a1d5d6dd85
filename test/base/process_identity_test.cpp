// SPDX-License-Identifier: MIT
// Tests of the functions that tell whether other processes still run.
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "base/process_identity.hpp"

namespace {

using roc::base::process_identity;
using roc::base::process_state;
using roc::base::state_of;

// Returns true as soon as the condition is met, or false after ten seconds.
template <class Condition>
bool is_met_soon(Condition condition) {
  for (int i = 0; i != 10'000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

process_identity identity_of_child(pid_t pid) {
  process_identity result = roc::base::this_process();
  result.pid = pid;
  result.start_time = roc::base::process_detail::read_status(pid).start_time;
  return result;
}

TEST(ProcessState, RunsUntilTheLastThreadHasEnded) {
  auto const self = roc::base::this_process();
  EXPECT_EQ(process_state::running, state_of(self, self));
  int ends[2];
  ASSERT_EQ(0, ::pipe(ends));
  pid_t const pid = ::fork();
  ASSERT_NE(-1, pid);
  if (pid == 0) {
    ::close(ends[1]);
    std::thread([end = ends[0]] {
      char byte;
      static_cast<void>(::read(end, &byte, 1) == 0);
      ::_exit(0);
    }).detach();
    ::syscall(SYS_exit, 0);  // ends only the main thread
  }
  ::close(ends[0]);
  auto const child = identity_of_child(pid);
  // The entry in the process table is now that of a process that has ended.
  EXPECT_TRUE(
      is_met_soon([&] { return roc::base::process_detail::read_status(pid).state == 'Z'; }));
  EXPECT_EQ(process_state::running, state_of(child, self));
  ::close(ends[1]);
  EXPECT_TRUE(is_met_soon([&] { return state_of(child, self) == process_state::ended; }));
  EXPECT_EQ(pid, ::waitpid(pid, nullptr, 0));
  EXPECT_EQ(process_state::ended, state_of(child, self));
}

TEST(ProcessState, IsUnknownIfNoFileCanBeOpened) {
  auto const self = roc::base::this_process();
  rlimit before{};
  ASSERT_EQ(0, ::getrlimit(RLIMIT_NOFILE, &before));
  rlimit const none{0, before.rlim_max};
  ASSERT_EQ(0, ::setrlimit(RLIMIT_NOFILE, &none));
  auto const state = state_of(self, self);
  EXPECT_EQ(0, ::setrlimit(RLIMIT_NOFILE, &before));
  EXPECT_EQ(process_state::unknown, state);
}

TEST(ProcessState, TellsProcessesOfOneNumberApart) {
  auto const self = roc::base::this_process();
  auto other = self;
  ++other.start_time;
  EXPECT_EQ(process_state::ended, state_of(other, self));
  other = self;
  ++other.pid_namespace;
  EXPECT_EQ(process_state::unknown, state_of(other, self));
}

}  // namespace
