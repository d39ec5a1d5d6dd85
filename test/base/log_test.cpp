// SPDX-License-Identifier: MIT
// Messages on stderr, by options::log.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "base/log.hpp"
#include "support/options.hpp"

namespace {

using roc::log_level;

roc::test::program_options const options_of_tests([] {
  return roc::options{.log = log_level::debug};
});

constexpr log_level levels[] = {log_level::error, log_level::warning, log_level::info,
                                log_level::debug, log_level::trace};

// Returns what f writes to stderr.
std::string stderr_of(auto&& f) {
  testing::internal::CaptureStderr();
  f();
  return testing::internal::GetCapturedStderr();
}

bool contains(std::string const& text, char const* part) {
  return text.find(part) != std::string::npos;
}

TEST(LogLevel, IncludesTheLevelsBeforeIt) {
  for (log_level threshold : levels) {
    roc::scoped_options const scope({.log = threshold});
    for (log_level level : levels) {
      auto const text = stderr_of([&] { roc::base::log_line(level, "%d things", 3); });
      EXPECT_EQ(level <= threshold, !text.empty()) << text;
    }
  }
  roc::scoped_options const scope({.log = log_level::off});
  EXPECT_EQ("", stderr_of([] { roc::base::log_line(log_level::error, "x"); }));
}

TEST(LogLine, BeginsWithLibraryAndLevel) {
  EXPECT_EQ("rocarray: debug: 3 things\n",
            stderr_of([] { roc::base::log_line(log_level::debug, "%d things", 3); }));
}

TEST(LogLine, IsCutIfTooLong) {
  auto const text = stderr_of(
      [] { roc::base::log_line(log_level::debug, "%s", std::string(5000, 'x').c_str()); });
  EXPECT_GT(text.size(), 1000u);
  EXPECT_LT(text.size(), 1100u);
  EXPECT_EQ('\n', text.back());
}

TEST(LogHook, DefaultHookWritesExceptAtLevelOff) {
  EXPECT_EQ("rocarray: late\n", stderr_of([] { roc::base::log_error("late"); }));
  roc::scoped_options const scope({.log = log_level::off});
  EXPECT_EQ("", stderr_of([] { roc::base::log_error("late"); }));
  static std::string hooked;
  auto const previous_hook = roc::set_log_hook([](char const* text) noexcept { hooked = text; });
  roc::base::log_error("late");
  roc::set_log_hook(previous_hook);
  EXPECT_EQ("late", hooked);  // a program's own hook is called at every level
}

TEST(LogLevelDebug, ShowsAllocationsAndStreams) {
  auto const text = stderr_of([] {
    roc::device_array<char> const device({4242});
    auto const pinned = roc::pinned_array<char>(roc::shape<1>{2121});
    roc::stream const stream(roc::non_blocking);
  });
  EXPECT_TRUE(contains(text, "rocarray: debug: 4242 bytes of device memory at 0x")) << text;
  EXPECT_TRUE(contains(text, " of device 0\n")) << text;
  EXPECT_TRUE(contains(text, "rocarray: debug: 2121 bytes of pinned host memory at 0x")) << text;
  EXPECT_TRUE(contains(text, "is freed\n")) << text;
  EXPECT_TRUE(contains(text, "priority 0, non-blocking\n")) << text;
  EXPECT_TRUE(contains(text, "is destroyed\n")) << text;
  EXPECT_FALSE(contains(text, "trace")) << text;
}

TEST(LogLevelInfo, ShowsStagingMemory) {
  // No other test has blocks of this size.
  roc::scoped_options const scope({.staging_block = 1 << 20, .log = log_level::info});
  std::vector<int> host(100);
  auto const text = stderr_of([&] { static_cast<void>(roc::to_device(host)); });
  EXPECT_TRUE(
      contains(text, "rocarray: info: 1048576 bytes of pinned memory for copies: block 1 of"))
      << text;
  EXPECT_FALSE(contains(text, "debug")) << text;
}

TEST(LogLevelTrace, ShowsCopiesAndFills) {
  roc::scoped_options const scope({.log = log_level::trace});
  roc::device_array<int> const array({100});
  EXPECT_EQ("rocarray: trace: roc::fill device 400 bytes\n", stderr_of([&] { array.zero(); }));
  auto const host = roc::pinned_array<int>(roc::shape<1>{100});
  EXPECT_EQ("rocarray: trace: roc::copy host_to_device dma 400 bytes\n",
            stderr_of([&] { array.copy_to_device(host); }));
}

TEST(LogLine, DoesNotMixWithLinesOfOtherThreads) {
  auto const text = stderr_of([] {
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([] {
        for (int k = 0; k < 100; ++k) roc::base::log_line(log_level::debug, "a whole line");
      });
    }
    for (auto& thread : threads) thread.join();
  });
  std::string const line = "rocarray: debug: a whole line\n";
  ASSERT_EQ(800 * line.size(), text.size());
  for (std::size_t i = 0; i < text.size(); i += line.size()) {
    ASSERT_EQ(0, text.compare(i, line.size(), line));
  }
}

}  // namespace
