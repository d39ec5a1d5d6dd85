// SPDX-License-Identifier: MIT
// Runs the tests of a program. Returns 77, which ctest takes for skipped, if there is no device, or
// if no test has passed and none has failed.
#include <roc/device.hpp>
#include <roc/options.hpp>

#include <gtest/gtest.h>

#include <cstdio>

#include "support/environment.hpp"
#include "support/other_process.hpp"

int main(int count, char** arguments) {
  if (int result = 0; roc::test::play_role(count, arguments, result)) return result;
  testing::InitGoogleTest(&count, arguments);
  // A process that was forked from one that uses a device cannot use the device.
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  // Small copies of pageable memory are staged too.
  roc::set_options({.staging_threshold = 0});
  if (roc::test::needs_device() && !testing::GTEST_FLAG(list_tests) && roc::device::count() == 0) {
    std::puts("there is no device; the tests of this program are skipped");
    return 77;
  }
  int const failed = RUN_ALL_TESTS();
  if (testing::GTEST_FLAG(list_tests)) return failed;
  // A program that ran no test must not be reported as passed.
  auto const& tests = *testing::UnitTest::GetInstance();
  return failed == 0 && tests.successful_test_count() == 0 ? 77 : failed;
}
