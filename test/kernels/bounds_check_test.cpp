// SPDX-License-Identifier: MIT
// ROCARRAY_CHECK_BOUNDS: an index out of bounds in a kernel is an error of the program.
#include "kernels/bounds_kernels.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>

#include <cstdlib>

#include "support/environment.hpp"

namespace {

constexpr int exit_code_of_error = 3;

// Returns true if the kernel failed. On a GPU the next synchronization throws; on the CPU, and with
// some runtimes, the process is aborted.
bool has_failed(int status) {
  return WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) == exit_code_of_error);
}

// Calls kernel(stream, view of 8 elements) and ends the process.
template <class F>
[[noreturn]] void run(F kernel) {
  try {
    roc::device_array<int> const array({8});
    roc::stream const stream;
    kernel(stream, array.view());
    stream.synchronize();
  } catch (roc::error const&) {
    std::_Exit(exit_code_of_error);
  }
  std::_Exit(0);
}

class BoundsCheck : public testing::Test {
 protected:
  // Every kernel has its own process, because a failed kernel leaves the device unusable.
  BoundsCheck() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};
using BoundsCheckDeathTest = BoundsCheck;

TEST_F(BoundsCheckDeathTest, IndicesInBoundsPass) {
  EXPECT_EXIT(run([](roc::stream_ref stream, auto view) {
                roc::test::write_at(stream, view, 7);
                roc::test::write_at(stream, view, -8);
                roc::test::write_in_slice(stream, view, 8);
                roc::test::write_in_reservation(stream, 2);
                roc::test::write_in_reservation(stream, -3);
                roc::test::misuse_queue(stream, roc::test::queue_misuse::none);
              }),
              testing::ExitedWithCode(0), "");
}

TEST_F(BoundsCheckDeathTest, IndexOutOfBoundsFails) {
  EXPECT_EXIT(run([](roc::stream_ref stream, auto view) { roc::test::write_at(stream, view, 8); }),
              has_failed, "");
  EXPECT_EXIT(run([](roc::stream_ref stream, auto view) { roc::test::write_at(stream, view, -9); }),
              has_failed, "");
}

TEST_F(BoundsCheckDeathTest, SliceOutOfBoundsFails) {
  EXPECT_EXIT(
      run([](roc::stream_ref stream, auto view) { roc::test::write_in_slice(stream, view, 9); }),
      has_failed, "");
}

TEST_F(BoundsCheckDeathTest, IndexBeyondReservationFails) {
  for (int const index : {3, -4}) {
    EXPECT_EXIT(run([index](roc::stream_ref stream, auto) {
                  roc::test::write_in_reservation(stream, index);
                }),
                has_failed, "");
  }
}

TEST_F(BoundsCheckDeathTest, WrongReservationFails) {
  using enum roc::test::queue_misuse;
  for (auto const misuse :
       {second_commit, beyond_capacity, min_beyond_capacity, min_beyond_count}) {
    EXPECT_EXIT(
        run([misuse](roc::stream_ref stream, auto) { roc::test::misuse_queue(stream, misuse); }),
        has_failed, "");
  }
}

}  // namespace
