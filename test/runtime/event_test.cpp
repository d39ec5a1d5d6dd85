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

TEST(Event, IsDoneIfNeverRecorded) {
  roc::event const event;
  EXPECT_TRUE(event.query());
  EXPECT_NO_THROW(event.synchronize());
}

TEST(EventQuery, ReturnsTrueAfterTheRecordedWorkHasFinished) {
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

TEST(StreamWait, OrdersWorkAfterTheEvent) {
  roc::stream const first;
  roc::stream const second;
  gate hold;
  hold.close(first);
  int steps_run = 0;
  struct step {
    int* steps_run;
    int expected;
    bool in_order = false;
  };
  step first_step{&steps_run, 0};
  step second_step{&steps_run, 1};
  auto const run = [](void* argument) {
    auto* const self = static_cast<step*>(argument);
    self->in_order = (*self->steps_run)++ == self->expected;
  };
  ROCARRAY_HIP(hipLaunchHostFunc, roc::native(first), run, &first_step);
  roc::event event;
  event.record(first);
  second.wait(event);
  ROCARRAY_HIP(hipLaunchHostFunc, roc::native(second), run, &second_step);
  hold.open();
  second.synchronize();
  EXPECT_TRUE(first_step.in_order);
  EXPECT_TRUE(second_step.in_order);
}

TEST(EventRecord, ReplacesAnEarlierRecord) {
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

TEST(TimedEvent, MeasuresMilliseconds) {
  roc::stream const stream;
  roc::timed_event start;
  roc::timed_event end;
  start.record(stream);
  end.record(stream);
  end.synchronize();
  double const elapsed = start.elapsed_time(end);
  EXPECT_GE(elapsed, 0.0);
  EXPECT_LT(elapsed, 20'000.0);  // the machine may be busy
}

TEST(TimedEvent, ThrowsErrorIfNeverRecorded) {
  roc::timed_event const start;
  roc::timed_event const end;
  EXPECT_THROW(static_cast<void>(start.elapsed_time(end)), roc::error);
}

TEST(Event, ThrowsLifetimeErrorAfterMove) {
  roc::event first;
  roc::event const second = std::move(first);
  EXPECT_THROW(first.record(), roc::lifetime_error);
  EXPECT_THROW(first.synchronize(), roc::lifetime_error);
  first = roc::event();
  EXPECT_NO_THROW(first.record());
}

}  // namespace
