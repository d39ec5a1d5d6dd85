// SPDX-License-Identifier: MIT
// The calls of HIP that a small copy makes after the first copies.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "platform/call.hpp"
#include "support/options.hpp"

namespace {

using calls = std::vector<std::string>;

// Small copies of pageable memory are left to HIP.
roc::test::program_options const options_of_tests([] {
  return roc::options{.staging_threshold = 4096};
});

calls recorded;

template <class F>
calls calls_of(F f) {
  for (int i = 0; i < 2; ++i) f();
  recorded.clear();
  auto const previous_hook = roc::platform::set_call_hook(
      [](roc::platform::call_record const& record) { recorded.emplace_back(record.name); });
  f();
  roc::platform::set_call_hook(previous_hook);
  return recorded;
}

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
