// SPDX-License-Identifier: MIT
// What the CPU finds in kernels (ROCARRAY_HOST_CHECK=report): each test plants one error.
#include "kernels/faulty_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "support/environment.hpp"
#include "support/fault.hpp"

namespace {

constexpr int exit_code_of_reports = 66;

class KernelCheckDeathTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!roc::test::on_cpu()) GTEST_SKIP() << "a GPU does not check its kernels";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
};

// Calls kernel(stream), waits for it and ends the process.
template <class F>
[[noreturn]] void run(F kernel) {
  roc::stream const stream;
  kernel(stream);
  stream.synchronize();
  std::exit(0);
}

#define EXPECT_REPORT(call, message)                     \
  EXPECT_EXIT(run([](roc::stream_ref stream) { call; }), \
              testing::ExitedWithCode(exit_code_of_reports), message)
#define EXPECT_FAULT(call) \
  EXPECT_EXIT(run([](roc::stream_ref stream) { call; }), roc::test::is_fault, roc::test::fault_text)
#define EXPECT_ABORT(call, message) \
  EXPECT_EXIT(run([](roc::stream_ref stream) { call; }), testing::KilledBySignal(SIGABRT), message)

TEST_F(KernelCheckDeathTest, CorrectBarriersAreNotReported) {
  EXPECT_EXIT(run([](roc::stream_ref stream) { roc::test::wait_correctly(stream); }),
              testing::ExitedWithCode(0), "^$");
}

TEST_F(KernelCheckDeathTest, BarrierThatAThreadLeavesOutIsReportedOnce) {
  EXPECT_REPORT(
      roc::test::leave_barrier_out(stream),
      "^rocarray: kernel roc::test::left_out_barrier\\(\\), block \\(., 0, 0\\), thread "
      "\\(5, 0, 0\\): has ended without the barrier at faulty_kernels.hip:[0-9]+, where thread "
      "\\(0, 0, 0\\) waits\nrocarray: ROCARRAY_HOST_CHECK reported errors: 1;");
}

TEST_F(KernelCheckDeathTest, TwoBarriersAreReported) {
  EXPECT_REPORT(roc::test::wait_at_two_barriers(stream),
                "two_barriers.*thread \\(32, 0, 0\\): waits at the barrier at "
                "faulty_kernels.hip:[0-9]+, but thread \\(0, 0, 0\\) at the one at "
                "faulty_kernels.hip:[0-9]+");
}

TEST_F(KernelCheckDeathTest, ValueOfAnInactiveLaneIsReported) {
  EXPECT_REPORT(
      roc::test::read_inactive_lane(stream),
      "inactive_lane.*thread \\(0, 0, 0\\): uses the value of lane 1, which does not take "
      "part in the warp function at faulty_kernels.hip:[0-9]+");
}

TEST_F(KernelCheckDeathTest, MissingLanesOfMaskAreReported) {
  EXPECT_REPORT(roc::test::leave_lanes_of_mask_out(stream),
                "left_out_lanes.*thread \\(0, 0, 0\\): calls a warp function that not all lanes of "
                "the mask call");
  EXPECT_REPORT(roc::test::leave_lanes_at_barrier(stream),
                "lanes_at_barrier.*thread \\(0, 0, 0\\): calls a warp function that not all lanes "
                "of the mask call");
}

TEST_F(KernelCheckDeathTest, OneWarpFunctionAtTwoPlacesIsNotReported) {
  EXPECT_EXIT(
      run([](roc::stream_ref stream) { roc::test::synchronize_warp_at_two_places(stream); }),
      testing::ExitedWithCode(0), "^$");
}

TEST_F(KernelCheckDeathTest, MaskWithoutLanesFails) {
  EXPECT_ABORT(roc::test::call_outside_mask(stream, 1, 0),
               "outside_mask.*the mask of a warp function does not contain the lane");
}

TEST_F(KernelCheckDeathTest, MaskOf32LanesFailsInAWarpOf64) {
  if (roc::device().warp_size() == 64) {
    EXPECT_ABORT(
        roc::test::call_outside_mask(stream, 64, 0xffffffff),
        "outside_mask.*block \\(0, 0, 0\\), thread \\(32, 0, 0\\): the mask of a warp "
        "function does not contain the lane that calls it \\(faulty_kernels.hip:[0-9]+\\)");
  } else {
    EXPECT_EXIT(
        run([](roc::stream_ref stream) { roc::test::call_outside_mask(stream, 64, 0xffffffff); }),
        testing::ExitedWithCode(0), "^$");
  }
}

TEST_F(KernelCheckDeathTest, WidthBeyondTheWarpFails) {
  EXPECT_ABORT(roc::test::shuffle_in_groups(stream, 2 * roc::device().warp_size()),
               "wide_groups.*the width of a shuffle is no power of two up to warpSize");
  EXPECT_ABORT(roc::test::shuffle_in_groups(stream, 24), "the width of a shuffle");
  EXPECT_EXIT(run([](roc::stream_ref stream) {
                roc::test::shuffle_in_groups(stream, roc::device().warp_size());
              }),
              testing::ExitedWithCode(0), "^$");
}

#if ROCARRAY_PLATFORM_HOST
TEST_F(KernelCheckDeathTest, WarpFunctionOutsideOfAKernelNamesItsPlace) {
  EXPECT_ABORT(
      {
        roc::device_array<int> const out({4});
        roc::test::call_outside_of_kernel(stream, out.view());
        stream.synchronize();
      },
      "a function for kernels is called at .*faulty_kernels.hip:[0-9]+, but no kernel");
}
#endif

TEST_F(KernelCheckDeathTest, IndexOutOfBoundsNamesKernelBlockAndThread) {
  EXPECT_ABORT(
      {
        roc::device_array<int> const out({12});
        roc::test::write_out_of_bounds(stream, out.view());
        stream.synchronize();
      },
      "rocarray: kernel .*out_of_bounds.*, block \\(3, 0, 0\\), thread \\(1, 2, 0\\): .*index.* "
      "out "
      "of bounds");
}

TEST_F(KernelCheckDeathTest, SharedMemoryIsPoisonedForEachBlock) {
  roc::device_array<unsigned> const out({2 * 50});
  std::vector<unsigned> values(out.size());
  roc::test::read_uninitialized({}, out.view());
  out.copy_to_host(values);
  EXPECT_EQ(std::vector<unsigned>(out.size(), 0xD5D5D5D5u), values);
}

TEST_F(KernelCheckDeathTest, OverrunOfDynamicSharedMemoryFaults) {
  EXPECT_FAULT(roc::test::overrun_shared_memory(stream, 16));
  EXPECT_FAULT(roc::test::overrun_shared_memory(stream, 100'000));
}

TEST_F(KernelCheckDeathTest, ExceptionNamesKernelBlockAndThread) {
  EXPECT_ABORT(roc::test::throw_exception(stream),
               "thrower.*, block \\(0, 0, 0\\), thread \\(0, 0, 0\\): thrown in a kernel");
}

TEST_F(KernelCheckDeathTest, FailedAssertEndsTheProcess) {
  EXPECT_ABORT(roc::test::fail_assert(stream), "zero == 1");
}

TEST_F(KernelCheckDeathTest, StackOverflowFaults) {
  EXPECT_FAULT({
    roc::device_array<int> const out({1});
    out.zero(stream);
    roc::test::overflow_stack(stream, out.view());
    stream.synchronize();
  });
}

#if !defined(__SANITIZE_THREAD__)  // which has not as many threads
TEST_F(KernelCheckDeathTest, ThreadsOfManyBlocksNeedFewMappings) {
  constexpr unsigned blocks = 12;
  char const* const value = std::getenv("ROCARRAY_HOST_THREADS");
  std::string const previous = value == nullptr ? "4" : value;
  ::setenv("ROCARRAY_HOST_THREADS", std::to_string(blocks).c_str(), 1);  // for the new process
  EXPECT_EXIT(run([](roc::stream_ref stream) {
                roc::device_array<unsigned> const arrived({1});
                arrived.zero(stream);
                roc::test::meet(stream, blocks, arrived.view());
                stream.synchronize();
                std::ifstream maps("/proc/self/maps");
                long const mappings = std::count(std::istreambuf_iterator<char>(maps), {}, '\n');
                if (mappings > 18'000) std::fprintf(stderr, "%ld mappings\n", mappings);
              }),
              testing::ExitedWithCode(0), "^$");
  ::setenv("ROCARRAY_HOST_THREADS", previous.c_str(), 1);
}
#endif

TEST_F(KernelCheckDeathTest, PrintfPrints) {
  testing::internal::CaptureStdout();
  roc::test::print_threads({});
  roc::device().synchronize();
  std::fflush(stdout);
  std::string const text = testing::internal::GetCapturedStdout();
  for (char const* line : {"block 0, thread 0\n", "block 0, thread 2\n", "block 1, thread 1\n"}) {
    EXPECT_NE(std::string::npos, text.find(line)) << text;
  }
}

}  // namespace
