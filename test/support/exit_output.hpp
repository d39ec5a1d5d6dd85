// SPDX-License-Identifier: MIT
// The expected output of a process that ends.
#pragma once

namespace roc::test {

/// The regular expression of EXPECT_EXIT for a process that writes nothing. ROCm's runtime may
/// print a line of its own at exit.
inline constexpr char const* no_output = "^(Resource leak detected by SharedSignalPool[^\n]*\n?)?$";

}  // namespace roc::test
