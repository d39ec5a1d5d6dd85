// SPDX-License-Identifier: MIT
// Which calls of HIP a small copy is, once what it needs has been found out.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "platform/call.hpp"

namespace {

using calls = std::vector<std::string>;

calls made;

template <class F>
calls calls_of(F f) {
  for (int i = 0; i < 2; ++i) f();
  made.clear();
  auto const before = roc::platform::set_call_hook(
      [](roc::platform::call_record const& record) { made.emplace_back(record.name); });
  f();
  roc::platform::set_call_hook(before);
  return made;
}

TEST(CopyCalls, WithoutAStreamTheyAreTheCopyAndTheWait) {
  if (roc::device::count() != 1) GTEST_SKIP() << "the device has to be asked for";
  roc::device_array<int> const device(roc::shape<1>{100});
  std::vector<int> pageable(100);
  auto pinned = roc::pinned_array<int>(100);
  calls const expected = {"hipMemcpyAsync", "hipStreamSynchronize"};
  EXPECT_EQ(expected, calls_of([&] { roc::copy(pageable, device); }));
  EXPECT_EQ(expected, calls_of([&] { roc::copy(device, pageable); }));
  EXPECT_EQ(expected, calls_of([&] { roc::copy(pinned, device); }));
  EXPECT_EQ(expected, calls_of([&] { roc::copy(device, pinned); }));
}

TEST(CopyCalls, OnAStreamTheyAreTheCopyAlone) {
  roc::stream const stream;
  roc::device_array<int> const device(roc::shape<1>{100});
  auto pinned = roc::pinned_array<int>(100);
  calls const expected = {"hipMemcpyAsync"};
  EXPECT_EQ(expected, calls_of([&] { roc::copy(pinned, device, stream); }));
  EXPECT_EQ(expected, calls_of([&] { roc::copy(device, pinned, stream); }));
  stream.synchronize();
}

}  // namespace
