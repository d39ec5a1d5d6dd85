// SPDX-License-Identifier: MIT
// Exhausted host memory: what must not throw needs no memory, also when it is first used. Each test
// has a process of its own.
#include <roc/device.hpp>
#include <roc/device_array.hpp>
#include <roc/stream.hpp>

#include <gtest/gtest.h>

#include <optional>

#include "support/failing_new.hpp"

namespace {

TEST(StreamDestructor, NeedsNoMemoryAtItsFirstUse) {
  std::optional<roc::stream> stream(std::in_place);
  roc::test::fail_new_of_all_threads(1, true);
  stream.reset();
  roc::test::stop_failing_new();
  roc::stream const another;
  another.synchronize();
}

TEST(StreamSynchronize, NeedsNoMemory) {
  roc::device_array<int> const array({1000});
  roc::stream const stream;
  array.zero();  // creates the default stream
  array.fill(1, stream);
  roc::test::fail_new_of_all_threads(1, true);
  EXPECT_NO_THROW(stream.synchronize());
  EXPECT_NO_THROW(roc::stream_ref().synchronize());
  roc::test::stop_failing_new();
}

TEST(LaunchHostFunction, LeavesAUsableStreamIfMemoryIsExhausted) {
  long const failures = roc::test::fail_each_new([] {
    roc::stream const stream;
    stream.launch_host_function([] {});
    stream.synchronize();
  });
  EXPECT_LT(3, failures);
  roc::stream const throwing;
  throwing.launch_host_function([] { throw 1; });
  EXPECT_THROW(roc::device().synchronize(), int);
}

}  // namespace
