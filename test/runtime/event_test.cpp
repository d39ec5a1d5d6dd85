// SPDX-License-Identifier: MIT
#include <roc/event.hpp>
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <type_traits>
#include <utility>

#include "platform/call.hpp"
#include "support/gate.hpp"

namespace {

using roc::test::gate;

template <class E>
concept has_elapsed_time = requires(E const& a, E const& b) { a.elapsed_time(b); };
static_assert(has_elapsed_time<roc::timed_event>);
static_assert(!has_elapsed_time<roc::event>);
static_assert(!std::is_copy_constructible_v<roc::event>);

TEST(Event, NeverRecordedIsDone) {
  roc::event const event;
  EXPECT_TRUE(event.query());
  EXPECT_NO_THROW(event.synchronize());
}

TEST(Event, IsDoneAfterTheWorkBeforeIt) {
  if (!gate::holds()) GTEST_SKIP() << "work is done by the call that enqueues it";
  roc::stream const stream;
  gate hold;
  hold.close(stream);
  roc::event event;
  event.record(stream);
  EXPECT_FALSE(event.query());
  hold.open();
  event.synchronize();
  EXPECT_TRUE(event.query());
}

TEST(Event, AStreamWaitsForIt) {
  roc::stream const first;
  roc::stream const second;
  gate hold;
  hold.close(first);
  int order = 0;
  struct step {
    int* order;
    int expected;
    bool right = false;
  };
  step one{&order, 0};
  step two{&order, 1};
  auto const run = [](void* argument) {
    auto* const self = static_cast<step*>(argument);
    self->right = (*self->order)++ == self->expected;
  };
  ROCARRAY_HIP(hipLaunchHostFunc, roc::native(first), run, &one);
  roc::event event;
  event.record(first);
  second.wait(event);
  ROCARRAY_HIP(hipLaunchHostFunc, roc::native(second), run, &two);
  hold.open();
  second.synchronize();
  EXPECT_TRUE(one.right);
  EXPECT_TRUE(two.right);
}

TEST(Event, RecordingAgainMovesTheMark) {
  if (!gate::holds()) GTEST_SKIP() << "work is done by the call that enqueues it";
  roc::stream const stream;
  roc::event event;
  event.record(stream);
  event.synchronize();
  gate hold;
  hold.close(stream);
  event.record(stream);
  EXPECT_FALSE(event.query());
  hold.open();
  event.synchronize();
}

TEST(Event, MeasuresMilliseconds) {
  roc::stream const stream;
  roc::timed_event start;
  roc::timed_event end;
  start.record(stream);
  end.record(stream);
  end.synchronize();
  double const elapsed = start.elapsed_time(end);
  EXPECT_GE(elapsed, 0.0);
  EXPECT_LT(elapsed, 1000.0);
}

TEST(Event, UnrecordedHasNoTime) {
  roc::timed_event const start;
  roc::timed_event const end;
  EXPECT_THROW(static_cast<void>(start.elapsed_time(end)), roc::error);
}

TEST(Event, MovedFromIsALifetimeError) {
  roc::event first;
  roc::event const second = std::move(first);
  EXPECT_THROW(first.record(), roc::lifetime_error);
  EXPECT_THROW(first.synchronize(), roc::lifetime_error);
  first = roc::event();
  EXPECT_NO_THROW(first.record());
}

}  // namespace
