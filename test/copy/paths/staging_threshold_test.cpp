// SPDX-License-Identifier: MIT
// Copies of pageable memory up to options::staging_threshold, which HIP's runtime does itself. The
// runtime reads pageable memory during the call, so work that writes it must be done by then.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <vector>

#include "support/environment.hpp"
#include "support/options.hpp"

namespace {

roc::test::program_options const options_of_tests([] {
  return roc::options{.staging_threshold = 1 << 20};
});

TEST(StagingThreshold, SmallPageableCopiesTakeDma) {
  std::vector<int> const host(1000, 3);
  roc::device_array<int> const array({1000});
  EXPECT_EQ(roc::copy_path::dma, roc::planned_path(host, array));
  array.copy_to_device(host);
  std::vector<int> back(1000);
  EXPECT_EQ(roc::copy_path::dma, roc::planned_path(array, back));
  array.copy_to_host(back);
  EXPECT_EQ(host, back);
  std::vector<int> const large(std::size_t{1} << 19);
  EXPECT_EQ(roc::copy_path::staged, roc::planned_path(large, roc::device_array_like(large)));
}

TEST(StagingThreshold, UploadReadsWhatAPendingDownloadWrites) {
  roc::stream const first;
  roc::stream const second;
  roc::device_array<int> const from({5000});
  roc::device_array<int> const to({5000});
  for (int round = 0; round < 200; ++round) {
    std::vector<int> host(5000, -1);
    from.fill(round, first);
    from.copy_to_host(host, first);
    if (round % 2 == 0) {
      to.copy_to_device(host);
    } else {
      to.copy_to_device(host, second);
    }
    second.synchronize();
    ASSERT_EQ(round, to(4999).get()) << round;
    ASSERT_EQ(round, to(0).get()) << round;
    first.synchronize();
  }
}

TEST(StagingThreshold, UploadReadsWhatAPendingHostFunctionWrites) {
  roc::stream const stream;
  roc::device_array<int> const array({100});
  std::vector<int> host(100, 0);
  for (int round = 1; round < 50; ++round) {
    stream.launch_host_function([&host, round] { host.assign(100, round); });
    array.copy_to_device(host);
    ASSERT_EQ(round, array(99).get());
  }
}

TEST(StagingThreshold, BorrowedSourceIsReadInStreamOrder) {
  roc::stream const stream;
  roc::device_array<int> const array({100});
  std::vector<int> host(100, 0);
  for (int round = 1; round < 50; ++round) {
    stream.launch_host_function([&host, round] { host.assign(100, round); });
    array.copy_to_device(host, stream, roc::borrow_source);
    stream.synchronize();
    ASSERT_EQ(round, array(99).get());
  }
}

}  // namespace
