// SPDX-License-Identifier: MIT
// The calls of HIP that a small copy makes after the first copies.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/call_counter.hpp"
#include "support/options.hpp"

namespace {

using roc::test::calls_of;
using calls = std::vector<std::string>;

// Small copies of pageable memory are left to HIP.
roc::test::program_options const options_of_tests([] {
  return roc::options{.staging_threshold = 4096};
});

TEST(CopyCalls, CopyWithoutStreamMakesOneCopyAndOneSynchronizeCall) {
  if (roc::device::count() != 1)
    GTEST_SKIP() << "with several devices, the current device has to be queried";
  roc::device_array<int> const device(roc::shape<1>{100});
  std::vector<int> pageable(100);
  auto pinned = roc::pinned_array<int>(100);
  calls const expected = {"hipMemcpyAsync", "hipStreamSynchronize"};
  EXPECT_EQ(expected, calls_of([&] { roc::copy(pageable, device); }));
  EXPECT_EQ(expected, calls_of([&] { roc::copy(device, pageable); }));
  EXPECT_EQ(expected, calls_of([&] { roc::copy(device, pinned); }));
}

// See runtime::order_small_upload.
TEST(CopyCalls, SmallPinnedUploadWithoutStreamRecordsAnEventExceptOnAmd) {
  if (roc::device::count() != 1)
    GTEST_SKIP() << "with several devices, the current device has to be queried";
  roc::device_array<int> const device(roc::shape<1>{100});
  auto pinned = roc::pinned_array<int>(100);
  calls expected = {"hipMemcpyAsync", "hipStreamSynchronize"};
#if !ROCARRAY_PLATFORM_AMD
  expected.insert(expected.begin(), "hipEventRecord");
#endif
  EXPECT_EQ(expected, calls_of([&] { roc::copy(pinned, device); }));
}

TEST(CopyCalls, PinnedCopyOnStreamMakesOneCopyCall) {
  roc::stream const stream;
  roc::device_array<int> const device(roc::shape<1>{100});
  auto pinned = roc::pinned_array<int>(100);
  calls const expected = {"hipMemcpyAsync"};
  EXPECT_EQ(expected, calls_of([&] { roc::copy(pinned, device, stream); }));
  EXPECT_EQ(expected, calls_of([&] { roc::copy(device, pinned, stream); }));
  stream.synchronize();
}

}  // namespace
