// SPDX-License-Identifier: MIT
// The options that the tests of a program run with.
#pragma once

#include <roc/options.hpp>

#include <gtest/gtest.h>

namespace roc::test {

/// Sets the options of the process before the first test. Defined at namespace scope, one for a
/// program. Options that it does not name are those of main(), which stages copies of every size.
class program_options {
 public:
  explicit program_options(options (*make)()) {
    testing::AddGlobalTestEnvironment(new environment(make));  // GoogleTest owns it
  }

 private:
  class environment final : public testing::Environment {
   public:
    explicit environment(options (*make)()) : make_(make) {}
    void SetUp() override { set_options(make_()); }

   private:
    options (*make_)();
  };
};

/// Options with staging memory so small that even copies of little data take many chunks.
inline options small_staging() {
  return {.staging_limit = 64 << 10, .staging_block = 16 << 10, .staging_chunk = 4 << 10};
}

/// The same, and copies on streams are staged by values.
inline options small_value_staging() {
  options result = small_staging();
  result.stream_staging = stream_staging_method::values;
  result.copy_threads = 3;
  return result;
}

}  // namespace roc::test
