// SPDX-License-Identifier: MIT
// The number of threads that work on a job, and the growth of the pool.
#include "copy/staging/thread_pool.hpp"

#include <roc/device.hpp>
#include <roc/error.hpp>
#include <roc/options.hpp>

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "platform/call.hpp"
#include "support/failing_new.hpp"

namespace {

std::atomic<bool> refuses_threads = false;
std::atomic<int> refused = 0;

}  // namespace

// Replaces the function of the C library for the whole program: std::thread throws if it fails.
extern "C" int pthread_create(pthread_t* thread, pthread_attr_t const* attributes,
                              void* (*start)(void*), void* argument) {
  if (refuses_threads) {
    ++refused;
    return EAGAIN;
  }
  static auto* const original =
      reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return original(thread, attributes, start, argument);
}

namespace {

using roc::transfer::thread_pool;

// Each item waits until `wanted` threads run an item, or some time has passed.
class concurrent_work final : public roc::transfer::parallel_work {
 public:
  explicit concurrent_work(std::size_t wanted, std::chrono::milliseconds timeout)
      : wanted_(wanted), timeout_(timeout) {}

  bool run_item(std::size_t, bool) override {
    std::unique_lock lock(mutex_);
    ++items;
    most_running = std::max(most_running, ++running_);
    wrong_options += roc::get_options().copy_threads != options().copy_threads ? 1 : 0;
    changed_.notify_all();
    changed_.wait_for(lock, timeout_, [&] { return most_running >= wanted_; });
    --running_;
    return true;
  }

  std::size_t items = 0;
  std::size_t most_running = 0;
  int wrong_options = 0;

 private:
  std::size_t wanted_;
  std::chrono::milliseconds timeout_;
  std::size_t running_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
};

constexpr std::chrono::seconds long_time(20);
constexpr std::chrono::milliseconds short_time(30);

void start_nine_workers() {
  roc::scoped_options const scope({.copy_threads = 9});
  concurrent_work work(10, long_time);
  thread_pool::instance().run(20, work);
}

TEST(ThreadPool, GrowsToTheNumberOfThreadsOfAJob) {
  for (std::size_t const threads : {2, 5, 9}) {
    roc::scoped_options const scope({.copy_threads = threads});
    concurrent_work work(threads + 1, long_time);
    thread_pool::instance().run(4 * threads, work);
    EXPECT_EQ(4 * threads, work.items);
    EXPECT_EQ(threads + 1, work.most_running);
    EXPECT_EQ(0, work.wrong_options);
  }
}

TEST(ThreadPool, UsesAtMostTheThreadsOfTheJob) {
  start_nine_workers();
  for (std::size_t const threads : {1, 3}) {
    roc::scoped_options const scope({.copy_threads = threads});
    concurrent_work work(threads + 2, short_time);
    thread_pool::instance().run(20, work);
    EXPECT_EQ(20u, work.items);
    EXPECT_GE(threads + 1, work.most_running);
    concurrent_work all_at_once(threads + 1, long_time);
    thread_pool::instance().run(20, all_at_once);
    EXPECT_EQ(threads + 1, all_at_once.most_running);
  }
}

// There are enough workers for all jobs. A worker that leaves a job at its limit may take another
// job next, so that a worker that sleeps must take its place.
TEST(ThreadPool, JobsAtTheirLimitsShareTheWorkers) {
  start_nine_workers();
  std::vector<std::thread> callers;
  std::atomic<int> wrong = 0;
  for (std::size_t i = 0; i != 4; ++i) {
    callers.emplace_back([i, &wrong] {
      roc::scoped_options const scope({.copy_threads = 1 + i % 2});
      for (int round = 0; round != 50; ++round) {
        concurrent_work work(2 + i % 2, long_time);
        thread_pool::instance().run(12, work);
        if (work.items != 12 || work.most_running != 2 + i % 2 || work.wrong_options != 0) ++wrong;
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(0, wrong);
}

TEST(ThreadPool, RunAllocatesNothingIfNoItemIsDeferred) {
  start_nine_workers();
  roc::scoped_options const scope({.copy_threads = 9});
  EXPECT_EQ(0, roc::test::fail_each_new([] {
              concurrent_work work(1, short_time);
              thread_pool::instance().run(100, work);
              EXPECT_EQ(100u, work.items);
            }));
}

// In a thread that has run an item, the next allocation fails.
class failing_work final : public roc::transfer::parallel_work {
 public:
  bool run_item(std::size_t, bool) override {
    thread_local std::optional<roc::test::failing_new> failure;
    if (failure && failure->has_failed()) ++failures;
    failure.emplace(1);
    ++items;
    return true;
  }

  std::atomic<std::size_t> items = 0;
  std::atomic<std::size_t> failures = 0;
};

// A worker that takes turns between jobs could not report that it has no memory to do so.
TEST(ThreadPool, WorkersDoNotAllocate) {
  start_nine_workers();
  std::vector<std::thread> callers;
  std::atomic<int> wrong = 0;
  for (int i = 0; i != 4; ++i) {
    callers.emplace_back([&wrong] {
      for (int round = 0; round != 20; ++round) {
        failing_work work;
        thread_pool::instance().run(1000, work);
        if (work.items != 1000 || work.failures != 0) ++wrong;
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(0, wrong);
}

// Records the threads that run items, and the devices that are current there.
class recording_work final : public roc::transfer::parallel_work {
 public:
  bool run_item(std::size_t, bool) override {
    {
      std::lock_guard const lock(mutex_);
      devices.insert(roc::device().ordinal());
      threads.insert(std::this_thread::get_id());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return true;
  }

  std::set<int> devices;
  std::set<std::thread::id> threads;

 private:
  std::mutex mutex_;
};

TEST(ThreadPool, WorkersWhoseDeviceCannotBeMadeCurrentRunNoItems) {
  if (roc::device::count() < 2) GTEST_SKIP() << "needs two devices";
  auto const log = roc::set_log_hook([](char const*) noexcept {});
  roc::device_guard const guard{roc::device(1)};
  ASSERT_TRUE(roc::platform::fail_call("hipSetDevice", 1, hipErrorLaunchFailure,
                                       roc::platform::failing_uses::all_later));
  recording_work alone;
  thread_pool::instance().run(20, alone);
  roc::platform::clear_failures();
  EXPECT_EQ(std::set{1}, alone.devices);
  recording_work helped;
  thread_pool::instance().run(20, helped);
  EXPECT_EQ(std::set{1}, helped.devices);
  EXPECT_LT(1u, helped.threads.size());
  roc::set_log_hook(log);
}

TEST(ThreadPool, WorksWithFewerThreadsIfTheSystemRefusesSome) {
  roc::scoped_options const scope({.copy_threads = 40});
  refuses_threads = true;
  for (int round = 0; round != 3; ++round) {
    concurrent_work work(1, short_time);
    thread_pool::instance().run(100, work);
    EXPECT_EQ(100u, work.items);
  }
  refuses_threads = false;
  EXPECT_EQ(1, refused);  // the system is asked once
}

}  // namespace
