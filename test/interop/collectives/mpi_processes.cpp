// SPDX-License-Identifier: MIT
// Ranks for the tests of collectives in several processes of MPI, and the program's main function.
// All ranks run the same tests in the same order; the test fails if it fails in one of them.
#include <roc/interop/mpi.hpp>
#include <roc/options.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <optional>

#include "interop/collectives/processes.hpp"
#include "interop/collectives/ranks.hpp"

namespace roc::test {
namespace {

std::optional<mpi_communicator> world;

}  // namespace

mpi_communicator& world_communicator() { return *world; }

std::vector<collective_communicator> make_ranks(collective_options const& options) {
  std::vector<collective_communicator> result;
  result.emplace_back(*world, own_device(), options);
  return result;
}

namespace {

/// Prints the failures of a rank whose results are not printed.
class failure_printer : public testing::EmptyTestEventListener {
  void OnTestPartResult(testing::TestPartResult const& result) override {
    if (!result.failed()) return;
    std::printf("%s:%d: %s\n", result.file_name() == nullptr ? "" : result.file_name(),
                result.line_number(), result.message());
    std::fflush(stdout);
  }
};

int run(int count, char** arguments) {
  testing::InitGoogleTest(&count, arguments);
  // An exception that leaves a test ends all processes: the other ones would wait for this rank.
  GTEST_FLAG_SET(catch_exceptions, false);
  set_options({.staging_threshold = 0});
  MPI_Init(nullptr, nullptr);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank != 0) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new failure_printer);  // GoogleTest owns it
  }
  // RCCL and NCCL refuse two ranks on one device.
#if ROCARRAY_PLATFORM_HOST
  int const needed = 1;
#else
  int const needed = size;
#endif
  int result = 77;
  if (device::count() < needed) {
    if (rank == 0) std::printf("%d devices are needed\n", needed);
  } else {
    world.emplace(MPI_COMM_WORLD);
    result = RUN_ALL_TESTS();
    world.reset();
  }
  int worst = 0;
  MPI_Allreduce(&result, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return worst;
}

}  // namespace
}  // namespace roc::test

int main(int count, char** arguments) { return roc::test::run(count, arguments); }
