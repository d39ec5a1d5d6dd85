// SPDX-License-Identifier: MIT
// ROCARRAY_CHECK_BOUNDS: a bad index in a kernel stops it, and the program hears of it.
#include "kernels/bounds_kernels.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>

#include <cstdlib>

#include "support/environment.hpp"

namespace {

constexpr int reported = 3;

// On a GPU an error at the next synchronisation; on the CPU, and by some runtimes, the process's
// end.
bool was_stopped(int status) {
  return WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) == reported);
}

template <class F>
[[noreturn]] void run(F kernel) {
  try {
    roc::device_array<int> const array({8});
    roc::stream const stream;
    kernel(stream, array.view());
    stream.synchronize();
  } catch (roc::error const&) {
    std::_Exit(reported);
  }
  std::_Exit(0);
}

class BoundsCheck : public testing::Test {
 protected:
  // A process of its own for every kernel: what it breaks stays broken.
  BoundsCheck() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};
using BoundsCheckDeathTest = BoundsCheck;

TEST_F(BoundsCheckDeathTest, IndicesInsidePass) {
  EXPECT_EXIT(run([](roc::stream_ref stream, auto view) {
    roc::test::write_at(stream, view, 7);
    roc::test::write_at(stream, view, -8);
    roc::test::write_in_slice(stream, view, 8);
  }), testing::ExitedWithCode(0), "");
}

TEST_F(BoundsCheckDeathTest, AnIndexBeyondTheExtentStopsTheKernel) {
  EXPECT_EXIT(run([](roc::stream_ref stream, auto view) { roc::test::write_at(stream, view, 8); }),
              was_stopped, "");
  EXPECT_EXIT(run([](roc::stream_ref stream, auto view) { roc::test::write_at(stream, view, -9); }),
              was_stopped, "");
}

TEST_F(BoundsCheckDeathTest, ASliceBeyondTheExtentStopsTheKernel) {
  EXPECT_EXIT(run([](roc::stream_ref stream, auto view) { roc::test::write_in_slice(stream, view, 9); }),
              was_stopped, "");
}

}  // namespace
