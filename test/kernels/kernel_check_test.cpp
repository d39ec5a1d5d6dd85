// SPDX-License-Identifier: MIT
// What the CPU finds in kernels (ROCARRAY_HOST_CHECK=report): each test plants one error.
#include "kernels/faulty_kernels.hpp"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <unistd.h>

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

TEST_F(KernelCheckDeathTest, WaitingAtDifferentBarriersIsReported) {
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

TEST_F(KernelCheckDeathTest, LaneOfMaskThatNeverCallsEndsTheProcess) {
  EXPECT_ABORT(
      roc::test::leave_lanes_of_mask_out(stream),
      "left_out_lanes.*thread \\(0, 0, 0\\): calls a warp function with the mask 0xffffffff, but "
      "lanes 16 to 31 do not; pass the mask of the lanes that call it \\(faulty_kernels.hip:");
  EXPECT_ABORT(roc::test::leave_lanes_at_barrier(stream),
               "lanes_at_barrier.*thread \\(0, 0, 0\\): calls a warp function with the mask "
               "0xffffffff, but lanes 3, 16 to 31 do not");
}

TEST_F(KernelCheckDeathTest, PortableWarpFunctionInABranchEndsTheProcess) {
  std::string const lanes = "lanes 10 to " + std::to_string(roc::device().warp_size() - 1);
  EXPECT_ABORT(roc::test::call_in_branch(stream),
               "ballot_of_branch.*mask 0xf*, but " + lanes + " do not.*faulty_kernels.hip:");
}

TEST_F(KernelCheckDeathTest, WriteBeyondStaticSharedMemoryIsReported) {
  EXPECT_EXIT(run([](roc::stream_ref stream) { roc::test::overrun_static(stream, 12); }),
              testing::ExitedWithCode(0), "^$");
  EXPECT_REPORT(roc::test::overrun_static(stream, 15),
                "static_overrun.*, block \\(0, 0, 0\\): has written 3 bytes beyond the __shared__ "
                "variable odd, which has 13 bytes; check the indices");
}

TEST_F(KernelCheckDeathTest, WriteToSharedMemoryOfAnotherKernelIsReported) {
  EXPECT_REPORT(roc::test::write_to_other_kernel(stream),
                "stray_writer.*, block \\(0, 0, 0\\): has written [0-9]+ bytes (beyond|before) the "
                "__shared__ variable own, which has 64 bytes");
}

TEST_F(KernelCheckDeathTest, OneWarpFunctionAtTwoPlacesIsNotReported) {
  EXPECT_EXIT(
      run([](roc::stream_ref stream) { roc::test::synchronize_warp_at_two_places(stream); }),
      testing::ExitedWithCode(0), "^$");
}

TEST_F(KernelCheckDeathTest, MaskWithoutCallingLaneFails) {
  EXPECT_ABORT(roc::test::call_outside_mask(stream, 1, 0),
               "outside_mask.*the mask 0x0 of a warp function does not contain lane 0, which calls "
               "it; pass the mask of all lanes that call it");
}

TEST_F(KernelCheckDeathTest, MaskOf32LanesFailsInAWarpOf64) {
  if (roc::device().warp_size() == 64) {
    EXPECT_ABORT(
        roc::test::call_outside_mask(stream, 64, 0xffffffff),
        "outside_mask.*block \\(0, 0, 0\\), thread \\(32, 0, 0\\): the mask 0xffffffff of a "
        "warp function does not contain lane 32, which calls it; "
        ".*\\(faulty_kernels.hip:[0-9]+\\)");
  } else {
    EXPECT_EXIT(
        run([](roc::stream_ref stream) { roc::test::call_outside_mask(stream, 64, 0xffffffff); }),
        testing::ExitedWithCode(0), "^$");
  }
}

TEST_F(KernelCheckDeathTest, WidthBeyondTheWarpFails) {
  EXPECT_ABORT(roc::test::shuffle_in_groups(stream, 2 * roc::device().warp_size()),
               "wide_groups.*the width [0-9]+ of a shuffle is not possible; use a power of two up "
               "to warpSize, ");
  EXPECT_ABORT(roc::test::shuffle_in_groups(stream, 24), "the width 24 of a shuffle");
  EXPECT_EXIT(run([](roc::stream_ref stream) {
                roc::test::shuffle_in_groups(stream, roc::device().warp_size());
              }),
              testing::ExitedWithCode(0), "^$");
}

#if ROCARRAY_PLATFORM_HOST
TEST_F(KernelCheckDeathTest, KernelFunctionOutsideOfAKernelNamesItsPlace) {
  EXPECT_ABORT(
      {
        roc::device_array<int> const out({4});
        roc::test::call_outside_of_kernel(stream, out.view());
        stream.synchronize();
      },
      "a function for kernels is called at .*faulty_kernels.hip:[0-9]+, but no kernel");
  char const* const message = "is called at .*faulty_kernels.hip:[0-9]+, but no kernel";
  EXPECT_EXIT(roc::test::use_shared_memory_outside_of_kernel(), testing::KilledBySignal(SIGABRT),
              message);
  EXPECT_EXIT(roc::test::use_lane_outside_of_kernel(), testing::KilledBySignal(SIGABRT), message);
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
  // The access checker's handler of the signal, which replaces that of a sanitizer, has no stack.
  EXPECT_EXIT(run([](roc::stream_ref stream) {
                roc::device_array<int> const out({1});
                out.zero(stream);
                roc::test::overflow_stack(stream, out.view());
                stream.synchronize();
              }),
              roc::test::is_fault, "");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which need address space
TEST_F(KernelCheckDeathTest, LimitedAddressSpaceIsEnoughForSevenLargeBlocks) {
  constexpr unsigned blocks = 7;
  char const* const value = std::getenv("ROCARRAY_HOST_THREADS");
  std::string const previous = value == nullptr ? "4" : value;
  ::setenv("ROCARRAY_HOST_THREADS", std::to_string(blocks).c_str(), 1);  // for the new process
  EXPECT_EXIT(run([](roc::stream_ref stream) {
                roc::device_array<unsigned> const arrived({1});
                arrived.zero(stream);
                stream.synchronize();
                std::size_t pages = 0;
                std::ifstream("/proc/self/statm") >> pages;
                auto const page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
                rlimit const limit{pages * page_bytes + (std::size_t{6} << 30), RLIM_INFINITY};
                ::setrlimit(RLIMIT_AS, &limit);
                roc::test::meet(stream, blocks, arrived.view());
              }),
              testing::ExitedWithCode(0), "^$");
  ::setenv("ROCARRAY_HOST_THREADS", previous.c_str(), 1);
}
#endif

#if !defined(__SANITIZE_THREAD__)  // which has not as many threads
TEST_F(KernelCheckDeathTest, ThreadsOfManyBlocksNeedFewMappings) {
  constexpr unsigned blocks = 12;
  // Linux allows 65,530. AddressSanitizer has mappings of its own.
#if defined(__SANITIZE_ADDRESS__)
  constexpr long max_mappings = 36'000;
#else
  constexpr long max_mappings = 18'000;
#endif
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
                if (mappings > max_mappings) std::fprintf(stderr, "%ld mappings\n", mappings);
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
