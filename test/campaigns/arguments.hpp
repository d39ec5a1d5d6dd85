// SPDX-License-Identifier: MIT
// The main function of a campaign: options of the program, then GoogleTest.
#pragma once

#include <roc/device.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace roc::test {

/// An option of a campaign, which has a value.
struct argument {
  std::string name;
  std::function<void(char const*)> set;
};

/// Sets the options that are on the command line, besides those of GoogleTest, and runs the tests.
/// Returns what main returns: 2 for an unknown option, 77 if there is no device.
inline int run_campaign(int count, char** values, std::vector<argument> const& known) {
  testing::InitGoogleTest(&count, values);
  for (int i = 1; i < count; i += 2) {
    bool is_known = false;
    for (argument const& option : known) {
      if (option.name != values[i] || i + 1 == count) continue;
      option.set(values[i + 1]);
      is_known = true;
    }
    if (is_known) continue;
    std::fprintf(stderr, "%s: unknown option, or no value; use", values[i]);
    for (argument const& option : known) std::fprintf(stderr, " %s N", option.name.c_str());
    std::fputs("\n", stderr);
    return 2;
  }
  if (!testing::GTEST_FLAG(list_tests) && roc::device::count() == 0) {
    std::puts("there is no device; the tests of this program are skipped");
    return 77;
  }
  return RUN_ALL_TESTS();
}

}  // namespace roc::test
