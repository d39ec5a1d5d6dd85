// SPDX-License-Identifier: MIT
// Tests of collective_options::check_agreement, between processes of MPI.
#include <roc/interop/collectives.hpp>
#include <roc/interop/mpi.hpp>
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <thread>

#include "interop/collectives/processes.hpp"
#include "interop/collectives/ranks.hpp"
#include "support/expect_error.hpp"
#include "support/open_descriptors.hpp"

namespace roc::test {
namespace {

class CollectiveAgreement : public testing::Test {
 protected:
  explicit CollectiveAgreement(
      collective_options const& options = {.time_limit = std::chrono::seconds(60),
                                           .check_agreement = true})
      : rank(own_rank()), communicator(world_communicator(), own_device(), options) {}

  void SetUp() override {
    if (communicator.size() < 2) GTEST_SKIP() << "needs two ranks";
  }
  bool is_last() const { return rank == communicator.size() - 1; }
  /// Expects that the communicator still works.
  void expect_usable() {
    device_array<int, 1> numbers(shape<1>{5});
    numbers.fill(1, work);
    communicator.all_reduce(numbers, reduction::sum, work);
    work.synchronize();
    EXPECT_EQ(numbers.copy_to_host()(4), communicator.size());
  }
  /// Expects that f() throws in every rank, and that nothing was enqueued.
  template <class Error, class F>
  void expect_disagreement(F f, std::string const& text,
                           std::source_location at = std::source_location::current()) {
    a.fill(7 + rank, work);
    expect_error<Error>(f, text, at);
    work.synchronize();
    EXPECT_EQ(a.copy_to_host()(3, 5), 7 + rank);
    expect_usable();
  }

  int const rank;
  device_guard current{own_device()};
  stream work;
  device_array<int, 2> a = device_array<int, 2>(shape<2>{4, 6});
  device_array<int, 2> b = device_array<int, 2>(shape<2>{6, 4});
  device_array<float, 2> floats = device_array<float, 2>(shape<2>{4, 6});
  collective_communicator communicator;
};

TEST_F(CollectiveAgreement, OperationsThatAgreeAreDone) {
  expect_usable();
  device_array<int, 1> all(shape<1>{static_cast<std::size_t>(communicator.size())});
  device_array<int, 1> one(shape<1>{1});
  one.fill(rank, work);
  communicator.all_gather(one, all, work);
  communicator.broadcast(all, 0, work);
  communicator.reduce(one, 0, reduction::max);
  work.synchronize();
  EXPECT_EQ(all.copy_to_host()(1), 1);
  EXPECT_EQ(one.copy_to_host()(0), rank == 0 ? communicator.size() - 1 : rank);
}

TEST_F(CollectiveAgreement, OtherOperationInOneRankIsFoundInAll) {
  expect_disagreement<collective_error>(
      [&] {
        if (is_last()) return communicator.broadcast(a, 0, work);
        communicator.all_reduce(a, reduction::sum, work);
      },
      "call different operations, all_reduce and broadcast");
}

TEST_F(CollectiveAgreement, OtherArgumentsInOneRankAreFoundInAll) {
  expect_disagreement<collective_error>([&] { communicator.broadcast(a, is_last() ? 1 : 0, work); },
                                        "pass different roots, 0 and 1");
  expect_disagreement<collective_error>(
      [&] { communicator.all_reduce(a, is_last() ? reduction::max : reduction::sum, work); },
      "pass different reductions to all_reduce");
  expect_disagreement<collective_error>(
      [&] {
        if (is_last()) return communicator.broadcast(floats, 0, work);
        communicator.broadcast(a, 0, work);
      },
      "pass different element types to broadcast");
  expect_disagreement<shape_error>([&] { communicator.broadcast(is_last() ? b : a, 0, work); },
                                   "pass (4, 6) and (6, 4)");
  expect_disagreement<shape_error>(
      [&] {
        communicator.all_reduce(a(slice(0, is_last() ? 3 : 4), roc::all), reduction::sum, work);
      },
      "pass 24 and 18 elements to all_reduce");
  expect_disagreement<shape_error>(
      [&] {
        communicator.all_reduce(a(slice(0, is_last() ? 0 : 4), roc::all), reduction::sum, work);
      },
      "pass 24 and 0 elements to all_reduce");
}

TEST_F(CollectiveAgreement, DisagreementInGroupEnqueuesNothingOfTheGroup) {
  expect_disagreement<collective_error>(
      [&] {
        collective_group group;
        communicator.all_reduce(a, reduction::sum, work);
        communicator.all_reduce(floats, is_last() ? reduction::min : reduction::sum, work);
        group.end();
      },
      "pass different reductions");
}

TEST_F(CollectiveAgreement, MessagesAreNotCompared) {
  a.fill(rank, work);
  if (rank == 0) communicator.send(a, communicator.size() - 1, work);
  if (is_last()) communicator.receive(a, 0, work);
  work.synchronize();
  EXPECT_EQ(a.copy_to_host()(3, 5), is_last() ? 0 : rank);
  expect_usable();
}

TEST_F(CollectiveAgreement, OptionMustBeEqualInAllRanks) {
  expect_error<collective_error>(
      [&] {
        collective_communicator(world_communicator(), own_device(), {.check_agreement = is_last()});
      },
      "ranks pass different check_agreement");
  expect_usable();
}

#if !ROCARRAY_TEST_WITH_NCCL  // an identifier that no rank uses keeps a socket of NCCL
TEST_F(CollectiveAgreement, RefusedOptionLeavesNoDescriptorOpen) {
  std::ptrdiff_t before = 0;
  for (int i = 0; i < 3; ++i) {
    EXPECT_THROW(
        collective_communicator(world_communicator(), own_device(), {.check_agreement = is_last()}),
        collective_error);
    if (i == 0) before = open_descriptors();  // MPI may open some at the first use
  }
  EXPECT_EQ(before, open_descriptors());
}
#endif

TEST_F(CollectiveAgreement, CommunicatorsWithoutMpiAreRefused) {
  auto const id = collective_id::create();
  expect_error<collective_error>(
      [&] { collective_communicator(id, 0, 1, own_device(), {.check_agreement = true}); },
      "check_agreement needs a communicator that is created from an mpi_communicator");
  device const devices[] = {own_device()};
  expect_error<collective_error>(
      [&] {
        static_cast<void>(collective_communicator::for_devices(devices, {.check_agreement = true}));
      },
      "check_agreement needs a communicator that is created from an mpi_communicator");
}

TEST_F(CollectiveAgreement, AbortOfOtherThreadEndsComparison) {
  collective_communicator const unlimited(world_communicator(), own_device(),
                                          {.check_agreement = true});
  MPI_Barrier(MPI_COMM_WORLD);  // an abort fails the creation in ranks that have not completed it
  if (!is_last()) {
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      unlimited.abort();
    });
    // "abort() was called", or "rank 0 aborted the communicator".
    expect_error<collective_error>([&] { unlimited.all_reduce(a, reduction::sum, work); }, "abort");
    other.join();
  }
  world_communicator().all_reduce(a, MPI_MAX);  // the last rank waits for the others
}

class CollectiveAgreementWithLimit : public CollectiveAgreement {
 protected:
  CollectiveAgreementWithLimit()
      : CollectiveAgreement({.time_limit = std::chrono::seconds(6), .check_agreement = true}) {}
};

TEST_F(CollectiveAgreementWithLimit, RankThatDoesNotCallIsFoundByTheOthers) {
  expect_usable();
  auto const call = [&] { communicator.all_reduce(a, reduction::sum, work); };
  if (is_last()) {
    // Its arguments are refused before the ranks are compared.
    expect_error<collective_error>([&] { communicator.broadcast(a, -1, work); },
                                   "there is no rank -1");
  } else {
    std::string const text = "the comparison of an operation took longer than the limit of 6000 ms";
    if (communicator.size() == 2) {
      expect_error<collective_timeout_error>(call, text);
    } else {
      expect_error<collective_error>(call, "");  // or the abort of another rank, whose time is over
    }
    expect_error<collective_abort_error>(call, communicator.size() == 2 ? text : "aborted");
  }
  world_communicator().all_reduce(a, MPI_MAX);
}

}  // namespace
}  // namespace roc::test
