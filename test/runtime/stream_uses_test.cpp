// SPDX-License-Identifier: MIT
#include <roc/native.hpp>
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "memory/device/allocation_record.hpp"
#include "platform/call.hpp"
#include "runtime/default_stream_sync.hpp"
#include "runtime/stream_handle.hpp"
#include "runtime/stream_id.hpp"
#include "runtime/stream_uses.hpp"
#include "support/call_counter.hpp"
#include "support/environment.hpp"
#include "support/gate.hpp"
#include "support/kept_streams.hpp"

namespace {

using roc::runtime::stream_id;
using roc::runtime::stream_id_of;
using roc::runtime::stream_uses;
using roc::test::gate;

stream_id id_of(roc::stream_ref stream) { return stream_id_of(stream, 0); }

// Returns streams of which the last has the kept native stream `handle`. Waits for the device
// first: while kept streams are busy, each call creates native streams, all of which later tests
// must take before they get theirs.
std::vector<roc::stream> streams_until_reused(roc::detail::native_stream* handle) {
  roc::device(0).synchronize();
  return roc::test::streams_until_reused(handle);
}

// A stream that the library did not create.
class foreign_stream {
 public:
  foreign_stream() { ROCARRAY_HIP(hipStreamCreateWithFlags, &native_, hipStreamNonBlocking); }
  ~foreign_stream() { destroy(); }
  foreign_stream(foreign_stream const&) = delete;
  foreign_stream& operator=(foreign_stream const&) = delete;
  void destroy() {
    if (native_ != nullptr) ROCARRAY_HIP(hipStreamDestroy, native_);
    native_ = nullptr;
  }
  roc::stream_ref ref() const { return roc::from_native(native_); }

 private:
  hipStream_t native_ = nullptr;
};

std::size_t call_count = 0;
std::size_t record_count = 0;

void count_call(roc::platform::call_record const& record) {
  ++call_count;
  if (std::string_view(record.name) == "hipEventRecord") ++record_count;
}

// Counts calls of HIP for a scope.
class call_counter {
 public:
  call_counter() : previous_(roc::platform::set_call_hook(count_call)) {
    call_count = record_count = 0;
  }
  ~call_counter() { roc::platform::set_call_hook(previous_); }

 private:
  roc::platform::call_hook previous_;
};

TEST(StreamUses, AreFinishedWithoutUses) {
  stream_uses uses;
  EXPECT_TRUE(uses.empty());
  EXPECT_TRUE(uses.have_finished());
  EXPECT_NO_THROW(uses.wait());
  EXPECT_TRUE(uses.wait_quietly());
}

TEST(StreamUses, ArePendingUntilTheWorkIsDone) {
  if (!gate::holds()) GTEST_SKIP() << "work is done by the call that enqueues it";
  roc::stream const stream;
  stream_uses uses;
  gate hold;
  hold.close(stream);
  uses.add(id_of(stream));
  uses.record_events();
  EXPECT_FALSE(uses.have_finished());
  hold.open();
  uses.wait();
  EXPECT_TRUE(uses.empty());
}

TEST(StreamUses, AddCallsNoHipForAStreamOfTheLibrary) {
  roc::stream const stream;
  stream_id const id = id_of(stream);
  stream_uses uses;
  call_counter const counter;
  uses.add(id);
  uses.add(id);
  EXPECT_EQ(call_count, 0u);
  EXPECT_TRUE(uses.contains(id));
}

TEST(StreamUses, OrderBeforeMakesAnotherStreamWait) {
  roc::stream const earlier(roc::non_blocking);
  roc::stream const later(roc::non_blocking);
  gate hold;
  hold.close(earlier);
  int order = 0;
  int first = 0;
  int second = 0;
  earlier.launch_host_function([&] { first = ++order; });
  stream_uses uses;
  uses.add(id_of(earlier));
  uses.order_before(id_of(later));
  later.launch_host_function([&] { second = ++order; });
  hold.open();
  later.synchronize();
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 2);
  earlier.synchronize();
}

TEST(StreamUses, OrderBeforeIgnoresUsesByTheSameStream) {
  roc::stream const stream;
  stream_uses uses;
  uses.add(id_of(stream));
  call_counter const counter;
  uses.order_before(id_of(stream));
  EXPECT_EQ(call_count, 0u);
}

TEST(StreamUses, OrderBeforeQueriesAFinishedUseOnce) {
  roc::stream const finished(roc::non_blocking);
  roc::stream const later(roc::non_blocking);
  stream_uses uses;
  uses.add_with_event(id_of(finished));
  finished.synchronize();
  uses.order_before(id_of(later));
  {
    call_counter const counter;
    uses.order_before(id_of(later));
    EXPECT_TRUE(uses.have_finished());
    EXPECT_EQ(call_count, 0u);
  }
  uses.add(id_of(finished));
  EXPECT_FALSE(uses.have_finished());
}

TEST(OrderDefaultStreamAfterAll, QueriesFinishedWorkOnce) {
  std::vector<roc::stream> streams;
  for (int i = 0; i != 20; ++i) {
    roc::stream const& stream = streams.emplace_back(roc::non_blocking);
    roc::runtime::record_work(stream);
  }
  for (roc::stream const& stream : streams) stream.synchronize();
  roc::runtime::order_default_stream_after_all(0);
  call_counter const counter;
  roc::runtime::order_default_stream_after_all(0);
  EXPECT_EQ(call_count, 0u);
}

// The fast path of the record knows the stream, whose use order_before has found finished.
TEST(AllocationRecord, RecordsTheNextUseAfterOrderBefore) {
  roc::stream const owner(roc::non_blocking);
  roc::stream const user(roc::non_blocking);
  roc::stream const later(roc::non_blocking);
  roc::memory::allocation_record record;
  record.allocation_stream = id_of(owner);
  record.finish_use(id_of(user));
  record.begin_use(id_of(user));
  ASSERT_TRUE(record.has_tracked(id_of(user)));
  user.synchronize();
  record.order_before(id_of(later));
  record.begin_use(id_of(user));
  EXPECT_FALSE(record.uses().have_finished());
}

TEST(StreamUses, OfADestroyedStreamFinishWithItsWork) {
  stream_uses uses;
  bool done = false;
  gate hold;
  {
    roc::stream const stream;
    hold.close(stream);
    stream.launch_host_function([&] { done = true; });
    uses.add(id_of(stream));
  }
  // In mode `deferred`, the second query of a stream lets its work run.
  if (roc::test::run_mode() == roc::test::mode::threaded) {
    EXPECT_FALSE(uses.have_finished());
  }
  hold.open();
  uses.wait();
  EXPECT_TRUE(done);
}

TEST(StreamUses, TellStreamsWithTheSameHandleApart) {
  std::optional<roc::stream> stream(std::in_place);
  stream_id const first = id_of(*stream);
  stream_uses uses;
  uses.add(first);
  stream->synchronize();
  stream.reset();
  auto const streams = streams_until_reused(first.stream().handle());
  ASSERT_FALSE(streams.empty());
  EXPECT_FALSE(uses.contains(id_of(streams.back())));
  EXPECT_TRUE(uses.remove_finished());
}

TEST(StreamUses, OfAForeignStreamSurviveItsEnd) {
  stream_uses uses;
  bool done = false;
  foreign_stream stream;
  roc::stream_ref const ref = stream.ref();
  ref.launch_host_function([&] { done = true; });
  uses.add(id_of(ref));
  stream.destroy();
  uses.wait();
  EXPECT_TRUE(done);
  EXPECT_TRUE(uses.empty());
}

TEST(StreamUses, OfForeignStreamsWithOneHandleAreAllWaitedFor) {
  stream_uses uses;
  int done = 0;
  for (int i = 0; i != 5; ++i) {
    foreign_stream stream;
    roc::stream_ref const ref = stream.ref();
    ref.launch_host_function([&] { ++done; });
    uses.add(id_of(ref));
  }
  uses.wait();
  EXPECT_EQ(done, 5);
}

TEST(StreamUses, DoNotAccumulateShortLivedStreams) {
  stream_uses uses;
  std::vector<stream_id> ids;
  for (int i = 0; i != 100; ++i) {
    {
      roc::stream const stream;
      uses.add(id_of(stream));
      ids.push_back(id_of(stream));
    }
    roc::device(0).synchronize();
  }
  std::size_t remaining = 0;
  for (stream_id const& id : ids) remaining += uses.contains(id) ? 1 : 0;
  EXPECT_LE(remaining, 9u);
}

TEST(StreamUses, AreIntactAfterAFailedQuery) {
  roc::stream const first;
  roc::stream const second;
  stream_uses uses;
  uses.add_with_event(id_of(first));
  uses.add_with_event(id_of(second));
  first.synchronize();
  second.synchronize();
  ASSERT_TRUE(roc::platform::fail_call("hipEventQuery", 2, hipErrorUnknown));
  EXPECT_THROW(uses.remove_finished(), roc::error);
  roc::platform::clear_failures();
  EXPECT_TRUE(uses.remove_finished());
}

TEST(StreamUses, OfAForeignStreamThatCouldNotBeRecordedWaitForTheDevice) {
  stream_uses uses;
  bool is_done = false;
  {
    foreign_stream stream;
    stream.ref().launch_host_function([&] { is_done = true; });
    ASSERT_TRUE(roc::platform::fail_call("hipEventRecord", 1, hipErrorUnknown));
    EXPECT_THROW(uses.add(id_of(stream.ref())), roc::error);
    roc::platform::clear_failures();
  }
  // The destroyed stream is neither queried nor recorded.
  call_counter const counter;
  EXPECT_FALSE(uses.have_finished());
  EXPECT_EQ(0u, call_count);
  EXPECT_NO_THROW(uses.wait());
  EXPECT_EQ(0u, record_count);
  EXPECT_TRUE(is_done);
  EXPECT_TRUE(uses.empty());
}

TEST(StreamUses, WaitKeepsAUseThatCouldNotBeAwaited) {
  roc::stream const stream;
  stream_uses uses;
  uses.add(id_of(stream));
  ASSERT_TRUE(roc::platform::fail_call("hipEventSynchronize", 1, hipErrorUnknown));
  EXPECT_THROW(uses.wait(), roc::error);
  roc::platform::clear_failures();
  EXPECT_TRUE(uses.contains(id_of(stream)));
  EXPECT_NO_THROW(uses.wait());
}

TEST(StreamUses, WaitQuietlyWaitsForTheStreamIfTheEventFails) {
  roc::stream const stream;
  bool done = false;
  stream.launch_host_function([&] { done = true; });
  stream_uses uses;
  uses.add(id_of(stream));
  ASSERT_TRUE(roc::platform::fail_call("hipEventRecord", 1, hipErrorUnknown));
  EXPECT_TRUE(uses.wait_quietly());
  roc::platform::clear_failures();
  EXPECT_TRUE(done);
  EXPECT_TRUE(uses.empty());
}

TEST(StreamUses, WaitQuietlyReportsThatWorkMayBePending) {
  roc::stream const stream;
  stream_uses uses;
  uses.add(id_of(stream));
  ASSERT_TRUE(roc::platform::fail_call("hipEventSynchronize", 1, hipErrorUnknown));
  ASSERT_TRUE(roc::platform::fail_call("hipStreamSynchronize", 1, hipErrorUnknown));
  ASSERT_TRUE(roc::platform::fail_call("hipDeviceSynchronize", 1, hipErrorUnknown));
  EXPECT_FALSE(uses.wait_quietly());
  roc::platform::clear_failures();
  EXPECT_TRUE(uses.contains(id_of(stream)));
}

// As when static objects are destroyed at the end of the process.
TEST(StreamUses, WaitQuietlyReportsNoWorkAfterTheRuntimeHasShutDown) {
  roc::stream const stream;
  stream_uses uses;
  uses.add(id_of(stream));
  static std::string logged;
  logged.clear();
  auto const hook = roc::set_log_hook([](char const* text) noexcept { logged = text; });
  for (char const* const call :
       {"hipEventSynchronize", "hipStreamSynchronize", "hipDeviceSynchronize"}) {
    ASSERT_TRUE(roc::platform::fail_call(call, 1, hipErrorDeinitialized));
  }
  EXPECT_TRUE(uses.wait_quietly());
  roc::platform::clear_failures();
  roc::set_log_hook(hook);
  EXPECT_TRUE(uses.empty());
  EXPECT_EQ("", logged);
}

TEST(StreamDestructor, OnlyRecordsAnEvent) {
  std::optional<roc::stream> idle(std::in_place);
  std::optional<roc::stream> busy(std::in_place);
  gate hold;
  hold.close(*busy);
  bool done = false;
  busy->launch_host_function([&] { done = true; });
  stream_uses uses;
  uses.add(id_of(*busy));
  {
    call_counter const counter;
    idle.reset();
    busy.reset();
    EXPECT_EQ(record_count, 2u);
    EXPECT_EQ(call_count, 2u);
  }
  hold.open();
  uses.wait();
  EXPECT_TRUE(done);
}

// Destroys a stream while a gate is closed in that stream, or in the default stream. Expects that
// its native stream is reused only after the gate was opened.
void expect_reuse_after_gate(bool is_in_default_stream) {
  // The streams below reuse these: while a host function runs, CUDA may block the creation of a
  // native stream.
  { std::vector<roc::stream> const kept(21); }
  roc::device(0).synchronize();
  std::optional<roc::stream> stream(std::in_place);
  auto* const handle = stream->handle();
  gate hold;
  hold.close(is_in_default_stream ? roc::stream_ref() : *stream);
  stream.reset();
  {
    std::vector<roc::stream> const others(20);
    for (roc::stream const& other : others) EXPECT_NE(other.handle(), handle);
  }
  hold.open();
  EXPECT_FALSE(streams_until_reused(handle).empty());
}

TEST(StreamDestructor, ABusyNativeStreamIsNotReused) { expect_reuse_after_gate(false); }

// Memory that the stream allocated may still be used by work of the default stream.
TEST(StreamDestructor, TheNativeStreamIsNotReusedBeforeEarlierWorkOfTheDefaultStreamIsDone) {
  expect_reuse_after_gate(true);
}

TEST(StreamDestructor, AnIdleNativeStreamIsReusedByStreamsOfItsKind) {
  std::optional<roc::stream> stream(std::in_place);
  auto* const handle = stream->handle();
  stream.reset();
  roc::device(0).synchronize();
  roc::stream const of_other_kind(roc::non_blocking);
  roc::stream const of_other_priority(-1);
  EXPECT_NE(of_other_kind.handle(), handle);
  if (of_other_priority.priority() != 0) {
    EXPECT_NE(of_other_priority.handle(), handle);
  }
  auto const streams = streams_until_reused(handle);
  ASSERT_FALSE(streams.empty());
  for (roc::stream const& next : streams) {
    unsigned flags = 99;
    ROCARRAY_HIP(hipStreamGetFlags, roc::native(next), &flags);
    EXPECT_EQ(flags, unsigned{hipStreamDefault});
    EXPECT_EQ(next.priority(), 0);
    EXPECT_NO_THROW(next.synchronize());
  }
}

TEST(StreamDestructor, TheNativeStreamIsNotReusedWhileItsEventCannotBeQueried) {
  std::optional<roc::stream> stream(std::in_place);
  auto* const handle = stream->handle();
  stream.reset();
  ASSERT_TRUE(roc::platform::fail_call("hipEventQuery", 1, hipErrorUnknown,
                                       roc::platform::failing_uses::all_later));
  for (int i = 0; i != 10; ++i) EXPECT_NE(roc::stream().handle(), handle);
  roc::platform::clear_failures();
}

TEST(StreamDestructor, TheNativeStreamIsReusedAfterItsEventCouldNotBeRecorded) {
  std::optional<roc::stream> stream(std::in_place);
  auto* const handle = stream->handle();
  ASSERT_TRUE(roc::platform::fail_call("hipEventRecord", 1, hipErrorUnknown));
  stream.reset();
  roc::platform::clear_failures();
  EXPECT_FALSE(streams_until_reused(handle).empty());
}

TEST(StreamId, OfAForeignStreamOfAnotherKindIsNew) {
  foreign_stream const stream;
  auto* const handle = stream.ref().handle();
  stream_id const first = id_of(stream.ref());
  stream_id const second = id_of({handle, 0, roc::detail::stream_kind::blocking});
  EXPECT_FALSE(first == second);
  EXPECT_TRUE(second.is_blocking());
  EXPECT_FALSE(first.is_live());
  EXPECT_TRUE(second == id_of({handle, 0, roc::detail::stream_kind::blocking}));
}

TEST(StreamId, OfADestroyedStreamIsAnErrorAlsoIfTheHandleIsForgotten) {
  std::optional<roc::stream> stream(std::in_place);
  roc::stream_ref const ref = *stream;
  stream.reset();
  roc::runtime::mark_handle_alive(ref.handle());
  EXPECT_THROW(id_of(ref), roc::lifetime_error);
  roc::runtime::mark_handle_destroyed(ref.handle());
}

TEST(Event, OutlivesTheStreamThatRecordedIt) {
  roc::event event;
  roc::timed_event begin;
  roc::timed_event end;
  roc::detail::native_stream* handle = nullptr;
  {
    roc::stream const stream;
    handle = stream.handle();
    begin.record(stream);
    event.record(stream);
    end.record(stream);
    stream.synchronize();
  }
  auto const streams = streams_until_reused(handle);
  ASSERT_FALSE(streams.empty());
  EXPECT_TRUE(event.query());
  EXPECT_NO_THROW(event.synchronize());
  EXPECT_NO_THROW(streams.back().wait(event));
  EXPECT_GE(begin.elapsed_time(end), 0.0);
}

// Expects that events can be awaited although the stream that recorded them has ended. `done` is
// set by its work.
void expect_usable(roc::stream const& stream, roc::event const& event,
                   roc::event const& recorded_again, bool const& done) {
  EXPECT_NO_THROW(stream.wait(event));
  EXPECT_NO_THROW(event.synchronize());
  EXPECT_TRUE(done);
  EXPECT_NO_THROW(recorded_again.synchronize());
  EXPECT_TRUE(event.query());
  EXPECT_TRUE(recorded_again.query());
}

TEST(Event, OutlivesTheForeignStreamThatRecordedIt) {
  roc::event event;
  roc::event recorded_again;
  bool done = false;
  roc::stream const stream;
  recorded_again.record(stream);
  {
    foreign_stream const foreign;
    foreign.ref().launch_host_function([&] { done = true; });
    event.record(foreign.ref());
    recorded_again.record(foreign.ref());
  }
  expect_usable(stream, event, recorded_again, done);
}

TEST(Event, OutlivesTheThreadOfItsPerThreadStream) {
  roc::event event;
  roc::event recorded_again;
  bool done = false;
  roc::stream const stream;
  recorded_again.record(stream);
  std::thread([&] {
    auto const ended = roc::per_thread_stream();
    ended.launch_host_function([&] { done = true; });
    event.record(ended);
    recorded_again.record(ended);
  }).join();
  expect_usable(stream, event, recorded_again, done);
}

TEST(Event, OfAPerThreadStreamDoesNotWaitForEventsOfOtherThreads) {
  if (!gate::holds()) GTEST_SKIP() << "work is done by the call that enqueues it";
  auto const stream = roc::per_thread_stream();
  gate hold;
  hold.close(stream);
  roc::event pending;
  pending.record(stream);
  std::thread([] {
    roc::event reached;
    reached.record(roc::per_thread_stream());
    reached.synchronize();
  }).join();
  EXPECT_FALSE(pending.query());
  hold.open();
  pending.synchronize();
}

TEST(Event, OfAPerThreadStreamIsReachedOnceTheStreamIsSynchronized) {
  auto const stream = roc::per_thread_stream();
  std::vector<roc::event> events(20);
  for (roc::event& event : events) event.record(stream);
  stream.synchronize();
  for (roc::event& event : events) EXPECT_TRUE(event.query());
}

TEST(Event, OfAForeignStreamIsReachedAfterTheWorkBeforeIt) {
  if (!gate::holds()) GTEST_SKIP() << "work is done by the call that enqueues it";
  roc::event event;
  foreign_stream const foreign;
  gate hold;
  hold.close(foreign.ref());
  event.record(foreign.ref());
  EXPECT_FALSE(event.query());
  hold.open();
  event.synchronize();
  EXPECT_TRUE(event.query());
}

// The event belongs to the capture, which another stream can join by it. It is not recorded on an
// internal stream, which would join the capture.
TEST(Event, IsRecordedInACaptureThatTheProgramHasBegun) {
  foreign_stream const first;
  foreign_stream const second;
  roc::event forked;
  roc::event joined;
  // CUDA does not tell the flags of a stream that is being captured.
  roc::stream_ref const first_ref = first.ref();
  roc::stream_ref const second_ref = second.ref();
  auto const origin = roc::native(first_ref);
  ROCARRAY_HIP(hipStreamBeginCapture, origin, hipStreamCaptureModeRelaxed);
  {
    call_counter const counter;
    EXPECT_NO_THROW(forked.record(first_ref));
    EXPECT_EQ(record_count, 1u);
  }
  EXPECT_NO_THROW(
      ROCARRAY_HIP(hipStreamWaitEvent, roc::native(second_ref), roc::native(forked), 0));
  EXPECT_NO_THROW(joined.record(second_ref));
  EXPECT_NO_THROW(ROCARRAY_HIP(hipStreamWaitEvent, origin, roc::native(joined), 0));
  hipGraph_t graph = nullptr;
  EXPECT_EQ(ROCARRAY_HIP_CODE(hipStreamEndCapture, origin, &graph), hipSuccess);
  ASSERT_NE(graph, nullptr);
  ROCARRAY_HIP(hipGraphDestroy, graph);
}

TEST(Event, OfADestroyedStreamIsPendingUntilItsWorkIsDone) {
  if (roc::test::run_mode() != roc::test::mode::threaded) {
    GTEST_SKIP() << "work is done by the call that enqueues it, or by the second query";
  }
  roc::event event;
  gate hold;
  {
    roc::stream const stream;
    hold.close(stream);
    event.record(stream);
  }
  EXPECT_FALSE(event.query());
  hold.open();
  event.synchronize();
  EXPECT_TRUE(event.query());
}

TEST(StreamId, IsReplacedOnceALaterStreamHasTheNativeStream) {
  std::optional<roc::stream> stream(std::in_place);
  stream_id const id = id_of(*stream);
  EXPECT_TRUE(id.is_live());
  stream.reset();
  EXPECT_FALSE(id.is_live());
  EXPECT_FALSE(id.is_replaced());
  EXPECT_NE(roc::runtime::record(id), nullptr);
  roc::device(0).synchronize();
  EXPECT_TRUE(roc::runtime::is_finished(id));
  auto const streams = streams_until_reused(id.stream().handle());
  ASSERT_FALSE(streams.empty());
  EXPECT_TRUE(id.is_replaced());
  EXPECT_FALSE(id == id_of(streams.back()));
  EXPECT_EQ(roc::runtime::record(id), nullptr);
  EXPECT_TRUE(roc::runtime::is_finished(id));
}

// The runtime may give the handle of a destroyed stream to one of another kind.
TEST(StreamId, InternalStreamsOfReplacedForeignStreamsAreUsedAgain) {
  foreign_stream const foreign;
  auto const created = [&](roc::detail::stream_kind kind) {
    roc::event reached;
    roc::test::call_counter const counter("hipStreamCreateWithFlags");
    reached.record({foreign.ref().handle(), 0, kind});
    roc::device(0).synchronize();
    return counter.count();
  };
  int count = 0;
  for (int i = 0; i < 10; ++i) {
    count += created(roc::detail::stream_kind::blocking);
    count += created(roc::detail::stream_kind::non_blocking);
  }
  EXPECT_LE(count, 2);
}

TEST(StreamId, ThreadsMayRecordWhileStreamsAreDestroyed) {
  constexpr int rounds = 200;
  std::vector<stream_id> ids;
  for (int i = 0; i != rounds; ++i) {
    std::optional<roc::stream> stream(std::in_place);
    stream_id const id = id_of(*stream);
    EXPECT_TRUE(id.is_live());
    std::thread other([&] {
      for (int j = 0; j != 5; ++j) {
        auto const reached = roc::runtime::record(id);
        if (reached == nullptr) continue;
        reached->synchronize();
        EXPECT_TRUE(reached->query());
      }
    });
    stream.reset();
    for (int j = 0; j != 5; ++j) roc::stream const next;  // may get the native stream
    other.join();
    EXPECT_FALSE(id.is_live());
    ids.push_back(id);
  }
  roc::device(0).synchronize();
  for (stream_id const& id : ids) {
    EXPECT_TRUE(roc::runtime::is_finished(id));
  }
}

}  // namespace
