// SPDX-License-Identifier: MIT
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "platform/call.hpp"
#include "support/gate.hpp"

namespace {

using roc::test::gate;

// Collects what the log hook receives for a scope. Host functions log from other threads.
class log_lines {
 public:
  log_lines() : previous_(roc::set_log_hook(&store_line)) { static_cast<void>(instance().take()); }
  ~log_lines() { roc::set_log_hook(previous_); }

  static std::vector<std::string> seen() { return instance().take(); }

 private:
  struct store {
    std::mutex mutex;
    std::vector<std::string> lines;
    void add(char const* text) {
      std::lock_guard const lock(mutex);
      lines.emplace_back(text);
    }
    std::vector<std::string> take() {
      std::lock_guard const lock(mutex);
      return std::exchange(lines, {});
    }
  };
  static void store_line(char const* text) noexcept { instance().add(text); }
  static store& instance() {
    static store shared;
    return shared;
  }
  roc::log_hook previous_;
};

[[noreturn]] void fail_with(char const* message) { throw std::runtime_error(message); }

// Returns the message of the exception that f throws, or "nothing".
std::string thrown_by(auto&& f) {
  try {
    f();
  } catch (std::exception const& error) {
    return error.what();
  }
  return "nothing";
}

TEST(HostFunction, RunsInStreamOrder) {
  roc::stream const stream;
  std::vector<int> order;
  gate hold;
  hold.close(stream);
  for (int i = 0; i < 3; ++i) stream.launch_host_function([&order, i] { order.push_back(i); });
  if (gate::holds()) {
    EXPECT_FALSE(stream.query());
  }
  hold.open();
  stream.synchronize();
  EXPECT_EQ((std::vector<int>{0, 1, 2}), order);
}

TEST(HostFunction, RunsBetweenTheCopiesBeforeAndAfterIt) {
  auto const array = roc::device_array<int>(roc::shape<1>{100});
  auto host = roc::pinned_array<int>(roc::shape<1>{100});
  roc::stream const stream;
  array.fill(7, stream);
  array.copy_to_host(host, stream);
  stream.launch_host_function([&] {
    for (int& element : host) element += 1;
  });
  array.copy_to_device(host, stream);
  EXPECT_EQ(8, array.copy_to_host()(99));
}

TEST(HostFunction, MayOwnMoveOnlyObjects) {
  roc::stream const stream;
  int result = 0;
  stream.launch_host_function([value = std::make_unique<int>(5), &result] { result = *value; });
  stream.synchronize();
  EXPECT_EQ(5, result);
}

TEST(HostFunction, IsDestroyedOnceAlsoIfLaunchFails) {
  roc::stream const stream;
  auto const owner = std::make_shared<int>(1);
  stream.launch_host_function([owner] {});
  stream.synchronize();
  EXPECT_EQ(1, owner.use_count());
  roc::platform::fail_call("hipLaunchHostFunc", 1, hipErrorLaunchFailure);
  EXPECT_THROW(stream.launch_host_function([owner] {}), roc::error);
  EXPECT_EQ(1, owner.use_count());
  roc::stream moved;
  roc::stream const to = std::move(moved);
  EXPECT_THROW(moved.launch_host_function([owner] {}), roc::lifetime_error);
  EXPECT_EQ(1, owner.use_count());
}

TEST(HostFunctionException, IsRethrownOnceByTheNextSynchronization) {
  roc::stream const stream;
  stream.launch_host_function([] { fail_with("thrown"); });
  EXPECT_EQ("thrown", thrown_by([&] { stream.synchronize(); }));
  EXPECT_NO_THROW(stream.synchronize());
}

TEST(HostFunctionException, KeepsItsType) {
  roc::stream const stream;
  stream.launch_host_function([] { throw 42; });
  EXPECT_THROW(stream.synchronize(), int);
}

TEST(HostFunctionException, IsRethrownByItsOwnStreamOnly) {
  roc::stream const stream;
  roc::stream const other;
  stream.launch_host_function([] { fail_with("mine"); });
  EXPECT_NO_THROW(other.synchronize());
  // The default stream waits for both streams, but no host function ran on it.
  EXPECT_NO_THROW(roc::stream_ref().synchronize());
  EXPECT_EQ("mine", thrown_by([&] { stream.synchronize(); }));
}

TEST(HostFunctionException, IsRethrownByTheDefaultStream) {
  roc::stream_ref().launch_host_function([] { fail_with("default"); });
  EXPECT_EQ("default", thrown_by([] { roc::stream_ref().synchronize(); }));
}

TEST(HostFunctionException, IsRethrownByThePerThreadStreamInItsThread) {
  roc::per_thread_stream().launch_host_function([] { fail_with("of the main thread"); });
  std::string other;
  std::thread([&] { other = thrown_by([] { roc::per_thread_stream().synchronize(); }); }).join();
  EXPECT_EQ("nothing", other);
  EXPECT_EQ("of the main thread", thrown_by([] { roc::per_thread_stream().synchronize(); }));
}

TEST(HostFunctionException, IsRethrownByDeviceSynchronize) {
  roc::stream const first;
  roc::stream const second;
  first.launch_host_function([] { fail_with("one"); });
  second.launch_host_function([] { fail_with("one"); });
  roc::device const device;
  EXPECT_EQ("one", thrown_by([&] { device.synchronize(); }));
  EXPECT_EQ("one", thrown_by([&] { device.synchronize(); }));
  EXPECT_NO_THROW(device.synchronize());
}

TEST(HostFunctionException, IsLoggedIfAnEarlierOneIsPending) {
  log_lines const log;
  roc::stream const stream;
  stream.launch_host_function([] { fail_with("first"); });
  stream.launch_host_function([] { fail_with("second"); });
  EXPECT_EQ("first", thrown_by([&] { stream.synchronize(); }));
  auto const lines = log_lines::seen();
  ASSERT_EQ(1u, lines.size());
  EXPECT_EQ("a host function of a stream threw: second", lines[0]);
}

TEST(HostFunctionException, IsRethrownByEarlySynchronizeOfAGuard) {
  roc::stream const stream;
  auto guard = stream.auto_synchronize();
  stream.launch_host_function([] { fail_with("early"); });
  EXPECT_EQ("early", thrown_by([&] { guard.synchronize(); }));
}

TEST(HostFunctionException, IsLoggedByAGuardAlsoDuringUnwinding) {
  log_lines const log;
  roc::stream const stream;
  {
    auto const guard = stream.auto_synchronize();
    stream.launch_host_function([] { fail_with("in a scope"); });
  }
  std::string const unwound = thrown_by([&] {
    auto const guard = stream.auto_synchronize();
    stream.launch_host_function([] { fail_with("late"); });
    fail_with("the scope's own");
  });
  EXPECT_EQ("the scope's own", unwound);
  auto const lines = log_lines::seen();
  ASSERT_EQ(2u, lines.size());
  EXPECT_EQ("a host function of a stream threw: in a scope", lines[0]);
  EXPECT_EQ("a host function of a stream threw: late", lines[1]);
  EXPECT_NO_THROW(stream.synchronize());
}

TEST(HostFunctionException, IsLoggedIfItsStreamIsDestroyed) {
  log_lines const log;
  gate hold;
  {
    roc::stream const stream;
    hold.close(stream);
    stream.launch_host_function([] { fail_with("pending"); });
  }
  hold.open();
  EXPECT_NO_THROW(roc::device().synchronize());
  auto const lines = log_lines::seen();
  ASSERT_EQ(1u, lines.size());
  EXPECT_EQ("a host function of a stream threw: pending", lines[0]);
}

TEST(HostFunction, CallingHipThrowsError) {
  roc::stream const stream;
  stream.launch_host_function([] { roc::event const event; });
  std::string const text = thrown_by([&] { stream.synchronize(); });
  EXPECT_NE(std::string::npos, text.find("called by a host function of a stream")) << text;
  EXPECT_NE(std::string::npos, text.find(": hip")) << text;
}

// Some runtimes refuse such a call, others deadlock.
TEST(HostFunction, CallingHipDoesNotReachTheRuntime) {
  roc::stream const stream;
  static std::atomic<int> refused;
  static std::atomic<int> reached;
  refused = reached = 0;
  auto const previous_hook =
      roc::platform::set_call_hook([](roc::platform::call_record const& record) {
        if (std::string(record.name) == "hipMemGetInfo") ++(record.injected ? refused : reached);
      });
  roc::device const device;
  stream.launch_host_function([device] { static_cast<void>(device.memory()); });
  EXPECT_THROW(stream.synchronize(), roc::error);
  stream.launch_host_function([] {
    std::size_t free = 0;
    std::size_t total = 0;
    static_cast<void>(ROCARRAY_HIP_CODE(hipMemGetInfo, &free, &total));
  });
  EXPECT_NO_THROW(stream.synchronize());
  roc::platform::set_call_hook(previous_hook);
  EXPECT_EQ(1, refused);
  EXPECT_EQ(0, reached);
}

TEST(HostFunction, CopyAndFillAreRefusedBeforeTheyLock) {
  roc::stream const stream;
  std::vector<int> host(10);
  auto const array = roc::to_device(host);
  stream.launch_host_function([&] { array.copy_to_host(host); });
  std::string const copy = thrown_by([&] { stream.synchronize(); });
  EXPECT_NE(std::string::npos, copy.find(": called by a host function of a stream")) << copy;
  stream.launch_host_function([&] { array.zero(); });
  std::string const fill = thrown_by([&] { stream.synchronize(); });
  EXPECT_NE(std::string::npos, fill.find(": called by a host function of a stream")) << fill;
  EXPECT_NO_THROW(array.copy_to_host(host));
}

TEST(HostFunction, SynchronizingItsOwnStreamThrowsInsteadOfDeadlocking) {
  roc::stream const stream;
  roc::stream_ref const self = stream;
  stream.launch_host_function([self] { self.synchronize(); });
  std::string const text = thrown_by([&] { stream.synchronize(); });
  EXPECT_NE(std::string::npos, text.find(": hipStreamSynchronize called by a host function"))
      << text;
}

TEST(HostFunction, OtherThreadsMayCallHipWhileItRuns) {
  roc::stream const stream;
  roc::stream const other;
  gate hold;
  if (!gate::holds() || roc::test::run_mode() != roc::test::mode::threaded) {
    GTEST_SKIP() << "needs a host function that runs concurrently";
  }
  hold.close(other);  // the gate is a host function outside of the library
  std::mutex mutex;
  std::unique_lock lock(mutex);
  stream.launch_host_function([&] { std::lock_guard const inner(mutex); });
  EXPECT_NO_THROW(static_cast<void>(other.query()));
  EXPECT_NO_THROW(roc::event());
  lock.unlock();
  hold.open();
  EXPECT_NO_THROW(stream.synchronize());
}

TEST(HostFunctionException, IsRethrownByItsOwnStreamIfManyThreadsUseStreams) {
  std::vector<std::thread> threads;
  std::atomic<int> thrown = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      roc::stream const stream;
      for (int k = 0; k < 50; ++k) {
        stream.launch_host_function([] { fail_with("each"); });
        thrown += thrown_by([&] { stream.synchronize(); }) == "each" ? 1 : 0;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(8 * 50, thrown);
}

}  // namespace
