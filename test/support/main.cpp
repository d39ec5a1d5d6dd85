// SPDX-License-Identifier: MIT
// Runs the tests of a program, or says that there is no device to run them on.
#include <roc/device.hpp>

#include <gtest/gtest.h>

#include <cstdio>

#include "support/environment.hpp"

int main(int count, char** arguments) {
  testing::InitGoogleTest(&count, arguments);
  // A forked child of a process that uses a device cannot use it.
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  if (roc::test::needs_device() && !testing::GTEST_FLAG(list_tests) && roc::device::count() == 0) {
    std::puts("no device: the tests of this program were not run");
    return 77;
  }
  int const failed = RUN_ALL_TESTS();
  // Of a program that ran nothing it is not said that it passed.
  auto const& tests = *testing::UnitTest::GetInstance();
  bool const skipped = tests.skipped_test_count() != 0 && tests.successful_test_count() == 0;
  return failed == 0 && skipped ? 77 : failed;
}
