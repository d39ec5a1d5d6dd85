// SPDX-License-Identifier: MIT
// Run with ROCARRAY_LOG=debug.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "base/log.hpp"

namespace {

using roc::base::log_level;

constexpr log_level levels[] = {log_level::error, log_level::warning, log_level::info,
                                log_level::debug, log_level::trace};

std::string written_by(auto&& f) {
  testing::internal::CaptureStderr();
  f();
  return testing::internal::GetCapturedStderr();
}

bool holds(std::string const& text, char const* part) {
  return text.find(part) != std::string::npos;
}

TEST(Log, LevelIsTheEnvironments) {
  EXPECT_EQ(log_level::debug, roc::base::log_threshold());
}

TEST(Log, ALevelIncludesThoseBeforeIt) {
  for (log_level threshold : levels) {
    roc::base::set_log_threshold(threshold);
    for (log_level level : levels) {
      auto const text = written_by([&] { roc::base::log_line(level, "%d things", 3); });
      EXPECT_EQ(level <= threshold, !text.empty()) << text;
    }
  }
  roc::base::set_log_threshold(log_level::off);
  EXPECT_EQ("", written_by([] { roc::base::log_line(log_level::error, "x"); }));
}

TEST(Log, ALineSaysWhoAndHowMuchItMatters) {
  EXPECT_EQ("rocarray: debug: 3 things\n",
            written_by([] { roc::base::log_line(log_level::debug, "%d things", 3); }));
}

TEST(Log, ALineThatIsTooLongIsCut) {
  auto const text = written_by([] {
    roc::base::log_line(log_level::debug, "%s", std::string(5000, 'x').c_str());
  });
  EXPECT_GT(text.size(), 1000u);
  EXPECT_LT(text.size(), 1100u);
  EXPECT_EQ('\n', text.back());
}

TEST(Log, LateErrorsAreSilentOnlyAtOff) {
  EXPECT_EQ("rocarray: late\n", written_by([] { roc::base::log("late"); }));
  roc::base::set_log_threshold(log_level::off);
  EXPECT_EQ("", written_by([] { roc::base::log("late"); }));
  static std::string hooked;
  auto const before = roc::set_log_hook([](char const* text) noexcept { hooked = text; });
  roc::base::log("late");
  roc::set_log_hook(before);
  EXPECT_EQ("late", hooked);  // a program's own hook gets them all the same
}

TEST(Log, DebugShowsAllocationsAndStreams) {
  auto const text = written_by([] {
    roc::device_array<char> const device({4242});
    auto const pinned = roc::pinned_array<char>(roc::shape<1>{2121});
    roc::stream const stream(roc::non_blocking);
  });
  EXPECT_TRUE(holds(text, "rocarray: debug: 4242 bytes of device memory at 0x")) << text;
  EXPECT_TRUE(holds(text, " of device 0\n")) << text;
  EXPECT_TRUE(holds(text, "rocarray: debug: 2121 bytes of pinned host memory at 0x")) << text;
  EXPECT_TRUE(holds(text, "is given back\n")) << text;
  EXPECT_TRUE(holds(text, "priority 0, non-blocking\n")) << text;
  EXPECT_TRUE(holds(text, "is destroyed\n")) << text;
  EXPECT_FALSE(holds(text, "trace")) << text;
}

TEST(Log, InfoShowsStagingMemory) {
  roc::base::set_log_threshold(log_level::info);
  std::vector<int> host(100);
  auto const text = written_by([&] { static_cast<void>(roc::to_device(host)); });
  EXPECT_TRUE(holds(text, "rocarray: info: 4194304 bytes of pinned memory for copies: block 1 of"))
      << text;
  EXPECT_FALSE(holds(text, "debug")) << text;
}

TEST(Log, TraceShowsCopiesAndFills) {
  roc::base::set_log_threshold(log_level::trace);
  roc::device_array<int> const array({100});
  EXPECT_EQ("rocarray: trace: roc::fill device 400 bytes\n", written_by([&] { array.zero(); }));
  auto const host = roc::pinned_array<int>(roc::shape<1>{100});
  EXPECT_EQ("rocarray: trace: roc::copy host_to_device dma 400 bytes\n",
            written_by([&] { array.copy_to_device(host); }));
}

TEST(Log, LinesOfThreadsStayWhole) {
  auto const text = written_by([] {
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([] {
        for (int k = 0; k < 100; ++k) roc::base::log_line(log_level::debug, "a whole line");
      });
    }
    for (auto& each : threads) each.join();
  });
  std::string const line = "rocarray: debug: a whole line\n";
  ASSERT_EQ(800 * line.size(), text.size());
  for (std::size_t i = 0; i < text.size(); i += line.size()) {
    ASSERT_EQ(0, text.compare(i, line.size(), line));
  }
}

}  // namespace
