// SPDX-License-Identifier: MIT
// Views bound to a stream: their operations are enqueued on it.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <vector>

#include "support/environment.hpp"
#include "support/gate.hpp"

namespace {

using roc::test::gate;

TEST(BoundView, OperationsAreEnqueuedOnItsStream) {
  if (!gate::holds()) GTEST_SKIP() << "in mode inline each call executes its work";
  roc::stream const stream;
  roc::device_array<int, 2> const array({4, 8});
  auto pinned = roc::pinned_array<int>(roc::shape<2>{4, 8});
  auto const bound = array.bind(stream);
  EXPECT_EQ(roc::stream_ref(stream), bound.stream());
  auto const work = [&] {
    bound.fill(1);
    bound(1, roc::all).zero();
    bound(roc::all, 2).fill(2);
    bound(3, 3).set(4);
    bound.copy_to_host(pinned);
  };
  // CUDA loads a kernel at its first launch, and synchronizes the device then.
  work();
  bound.synchronize();
  pinned.fill(-1);
  gate held;
  held.close(stream);
  work();
  EXPECT_FALSE(stream.query());
  EXPECT_EQ(-1, pinned(0, 0));
  held.open();
  bound.synchronize();
  EXPECT_EQ(1, pinned(0, 0));
  EXPECT_EQ(0, pinned(1, 1));
  EXPECT_EQ(2, pinned(1, 2));
  EXPECT_EQ(4, pinned(3, 3));
}

TEST(BoundView, CopiesRunInStreamOrder) {
  roc::stream const stream;
  roc::device_array<int> const array({1000});
  auto const bound = array.view()(roc::slice(0, 500)).bind(stream);
  std::vector<int> source(500, 3);
  bound.copy_to_device(source);
  source.assign(500, 4);  // pageable, so it has been read on return
  auto const back = bound.copy_to_host();
  bound.synchronize();
  EXPECT_EQ(3, back(499));
}

// device_array_test checks that a temporary array cannot be bound.

}  // namespace
