// SPDX-License-Identifier: MIT
// Expects errors whose message and location are those that users need.
#pragma once

#include <source_location>
#include <string>

#include <gtest/gtest.h>

namespace roc::test {

/// Expects that f() throws an Error, a roc::error, whose message contains `text` and whose location
/// is in the file of the caller.
template <class Error, class F>
void expect_error(F f, std::string const& text,
                  std::source_location at = std::source_location::current()) {
  SCOPED_TRACE(std::string(at.file_name()) + ":" + std::to_string(at.line()));
  try {
    f();
    ADD_FAILURE() << "no error: " << text;
  } catch (Error const& error) {
    EXPECT_NE(std::string::npos, std::string(error.what()).find(text)) << error.what();
    EXPECT_STREQ(at.file_name(), error.location().file_name());
  }
}

}  // namespace roc::test
