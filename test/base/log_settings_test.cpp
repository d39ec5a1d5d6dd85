// SPDX-License-Identifier: MIT
// Runs with unusable settings: ROCARRAY_LOG=loud, ROCARRAY_STAGING_LIMIT=much.
#include <gtest/gtest.h>

#include <string>

#include "base/log.hpp"
#include "base/options.hpp"

namespace {

using roc::base::log_level;

TEST(LogThreshold, UnknownLevelIsReportedOnce) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(log_level::warning, roc::base::log_threshold());
  EXPECT_EQ(log_level::warning, roc::base::log_threshold());
  EXPECT_EQ(
      "rocarray: warning: ROCARRAY_LOG is not a log level: loud; use off, error, warning, "
      "info, debug or trace\n",
      testing::internal::GetCapturedStderr());
}

TEST(Options, UnusableSettingIsReportedAndReplacedByItsDefault) {
  roc::base::set_log_threshold(log_level::warning);
  testing::internal::CaptureStderr();
  EXPECT_EQ(std::size_t{64} << 20, roc::base::options().staging_limit);
  EXPECT_EQ(
      "rocarray: warning: ROCARRAY_STAGING_LIMIT is not a usable number: much; use a number "
      "from 4096 to 1099511627776, in bytes or with K, M or G\n",
      testing::internal::GetCapturedStderr());
}

TEST(Options, UnusableSettingIsNotReportedBelowLevelWarning) {
  roc::base::set_log_threshold(log_level::error);
  testing::internal::CaptureStderr();
  static_cast<void>(roc::base::options());
  EXPECT_EQ("", testing::internal::GetCapturedStderr());
}

}  // namespace
