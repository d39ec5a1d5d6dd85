// SPDX-License-Identifier: MIT
// Captures and graphs of HIP on the CPU: its calls, and its errors.
#include "platform/host/support.hpp"

namespace {

using namespace roc::test;

// Returns true if the rules of ROCm apply, which ends no capture that is invalid or not joined.
bool keeps_streams_captured() { return setting("ROCARRAY_HOST_EMULATE").starts_with("rocm"); }

hipStream_t make_non_blocking() {
  hipStream_t stream = nullptr;
  ok(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  return stream;
}

void begin(hipStream_t stream, hipStreamCaptureMode mode = hipStreamCaptureModeRelaxed) {
  ok(hipStreamBeginCapture(stream, mode));
}

hipGraphExec_t end(hipStream_t stream) {
  hipGraph_t graph = nullptr;
  ok(hipStreamEndCapture(stream, &graph));
  hipGraphExec_t executable = nullptr;
  ok(hipGraphInstantiateWithFlags(&executable, graph, 0));
  ok(hipGraphDestroy(graph));
  return executable;
}

// Host functions of a graph run several times, so that execution_log, which frees its entries, does
// not fit.
struct counter {
  int count = 0;
  static void add(void* argument) { ++static_cast<counter*>(argument)->count; }
};

void expect_status(hipStreamCaptureStatus expected, hipStream_t stream) {
  auto status = hipStreamCaptureStatusNone;
  ok(hipStreamIsCapturing(stream, &status));
  EXPECT_EQ(expected, status);
}

TEST(HostCapture, WorkRunsAtEachLaunchOnly) {
  auto const stream = make_stream();
  auto const other = make_stream();
  counter calls;
  begin(stream);
  ok(hipLaunchHostFunc(stream, &counter::add, &calls));
  expect_status(hipStreamCaptureStatusActive, stream);
  expect_status(hipStreamCaptureStatusNone, other);
  auto const executable = end(stream);
  expect_status(hipStreamCaptureStatusNone, stream);
  ok(hipStreamSynchronize(stream));
  EXPECT_EQ(0, calls.count);
  for (int i = 0; i != 3; ++i) ok(hipGraphLaunch(executable, i % 2 == 0 ? stream : other));
  ok(hipStreamSynchronize(stream));
  ok(hipStreamSynchronize(other));
  EXPECT_EQ(3, calls.count);
  ok(hipGraphExecDestroy(executable));
}

TEST(HostCapture, IdIsThatOfTheCapture) {
  auto const stream = make_stream();
  auto const joined = make_non_blocking();
  auto const event = make_event();
  auto status = hipStreamCaptureStatusNone;
  unsigned long long first = 0;
  unsigned long long second = 0;
  begin(stream);
  ok(hipEventRecord(event, stream));
  ok(hipStreamWaitEvent(joined, event, 0));
  ok(hipStreamGetCaptureInfo(stream, &status, &first));
  ok(hipStreamGetCaptureInfo(joined, &status, &second));
  EXPECT_EQ(first, second);
  EXPECT_NE(0u, first);
  ok(hipGraphExecDestroy(end(stream)));
  begin(stream);
  ok(hipStreamGetCaptureInfo(stream, &status, &second));
  EXPECT_NE(first, second);
  ok(hipGraphExecDestroy(end(stream)));
}

// Ends a capture that has been invalidated.
void expect_end_of_invalid(hipStream_t stream) {
  hipGraph_t graph = nullptr;
  expect(hipErrorStreamCaptureInvalidated, hipStreamEndCapture(stream, &graph));
  EXPECT_EQ(nullptr, graph);
  if (keeps_streams_captured()) {
    expect_status(hipStreamCaptureStatusInvalidated, stream);
    begin(stream);
    ok(hipGraphExecDestroy(end(stream)));
  }
  expect_status(hipStreamCaptureStatusNone, stream);
}

TEST(HostCapture, StreamsThatJoinMustBeJoinedBack) {
  auto const stream = make_stream();
  auto const joined = make_non_blocking();
  auto const event = make_event();
  counter calls;
  auto const fork = [&] {
    begin(stream);
    ok(hipEventRecord(event, stream));
    ok(hipStreamWaitEvent(joined, event, 0));
    ok(hipLaunchHostFunc(joined, &counter::add, &calls));
  };
  if (!keeps_streams_captured()) {
    fork();
    hipGraph_t graph = nullptr;
    expect(hipErrorStreamCaptureUnjoined, hipStreamEndCapture(stream, &graph));
    EXPECT_EQ(nullptr, graph);
    expect_status(hipStreamCaptureStatusNone, joined);
  }
  fork();
  ok(hipEventRecord(event, joined));
  ok(hipStreamWaitEvent(stream, event, 0));
  auto const executable = end(stream);
  ok(hipGraphLaunch(executable, stream));
  ok(hipStreamSynchronize(stream));
  EXPECT_EQ(1, calls.count);
  ok(hipGraphExecDestroy(executable));
}

// Checks that `call(stream)` on a captured stream fails with `code` and invalidates the capture.
template <class Call>
void expect_invalidates(hipError_t code, Call call,
                        hipStreamCaptureMode mode = hipStreamCaptureModeRelaxed) {
  auto const stream = make_stream();
  counter calls;
  begin(stream, mode);
  expect(code, call(stream));
  expect_status(hipStreamCaptureStatusInvalidated, stream);
  expect(hipErrorStreamCaptureInvalidated, hipLaunchHostFunc(stream, &counter::add, &calls));
  expect_end_of_invalid(stream);
  ok(hipLaunchHostFunc(stream, &counter::add, &calls));
  ok(hipStreamSynchronize(stream));
  EXPECT_EQ(1, calls.count);
}

TEST(HostCapture, CallsThatAreNotAllowedInvalidateIt) {
  auto const before = make_event();
  auto const other = make_stream();
  ok(hipEventRecord(before, other));
  auto const unsupported = hipErrorStreamCaptureUnsupported;
  expect_invalidates(unsupported, [](auto stream) { return hipStreamSynchronize(stream); });
  expect_invalidates(unsupported, [](auto stream) { return hipStreamQuery(stream); });
  expect_invalidates(unsupported, [](auto) { return hipDeviceSynchronize(); });
  expect_invalidates(hipErrorStreamCaptureImplicit,
                     [](auto) { return hipStreamSynchronize(nullptr); });
  expect_invalidates(hipErrorStreamCaptureImplicit, [](auto) {
    counter calls;
    return hipLaunchHostFunc(nullptr, &counter::add, &calls);
  });
  expect_invalidates(hipErrorStreamCaptureIsolation,
                     [&](auto stream) { return hipStreamWaitEvent(stream, before, 0); });
  expect_invalidates(hipErrorCapturedEvent, [&](auto stream) {
    auto const event = make_event();
    ok(hipEventRecord(event, stream));
    return hipEventSynchronize(event);
  });
  expect_invalidates(hipErrorCapturedEvent, [&](auto stream) {
    auto const event = make_event();
    ok(hipEventRecord(event, stream));
    return hipEventQuery(event);
  });
  expect_invalidates(unsupported, [](auto stream) {
    void* data = nullptr;
    return hipMallocAsync(&data, 1, stream);
  });
  expect_invalidates(
      unsupported,
      [](auto) {
        void* data = nullptr;
        return hipMalloc(&data, 1);
      },
      hipStreamCaptureModeGlobal);
}

TEST(HostCapture, OtherModesAllowAllocation) {
  for (auto const mode : {hipStreamCaptureModeThreadLocal, hipStreamCaptureModeRelaxed}) {
    auto const stream = make_stream();
    begin(stream, mode);
    std::thread([&] {
      void* data = nullptr;
      ok(hipMalloc(&data, 1));
      ok(hipFree(data));
    }).join();
    ok(hipGraphExecDestroy(end(stream)));
  }
}

TEST(HostCapture, NonBlockingStreamLeavesDefaultStreamFree) {
  auto const stream = make_non_blocking();
  counter calls;
  begin(stream);
  ok(hipLaunchHostFunc(nullptr, &counter::add, &calls));
  ok(hipStreamSynchronize(nullptr));
  EXPECT_EQ(1, calls.count);
  ok(hipGraphExecDestroy(end(stream)));
}

TEST(HostCapture, DefaultStreamCannotBeQueriedDuringTheCaptureOfABlockingStream) {
  auto status = hipStreamCaptureStatusNone;
  auto const blocking = make_stream();
  begin(blocking);
  expect(hipErrorStreamCaptureImplicit, hipStreamIsCapturing(nullptr, &status));
  expect(hipErrorStreamCaptureImplicit, hipStreamGetCaptureInfo(nullptr, &status, nullptr));
  expect_status(hipStreamCaptureStatusActive, blocking);  // the query does not invalidate it
  ok(hipGraphExecDestroy(end(blocking)));
  auto const non_blocking = make_non_blocking();
  begin(non_blocking);
  expect_status(hipStreamCaptureStatusNone, nullptr);
  ok(hipGraphExecDestroy(end(non_blocking)));
}

TEST(HostCapture, WrongUseIsRefused) {
  auto const stream = make_stream();
  auto const joined = make_non_blocking();
  auto const event = make_event();
  hipGraph_t graph = nullptr;
  expect(hipErrorStreamCaptureUnsupported,
         hipStreamBeginCapture(nullptr, hipStreamCaptureModeRelaxed));
  expect(hipErrorIllegalState, hipStreamEndCapture(stream, &graph));
  begin(stream);
  expect(hipErrorIllegalState, hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
  ok(hipEventRecord(event, stream));
  ok(hipStreamWaitEvent(joined, event, 0));
  expect(hipErrorStreamCaptureUnmatched, hipStreamEndCapture(joined, &graph));
  expect_end_of_invalid(stream);
  expect_status(hipStreamCaptureStatusNone, joined);
  expect(hipErrorInvalidValue, hipGraphLaunch(nullptr, stream));
  expect(hipErrorInvalidValue, hipGraphDestroy(nullptr));
  expect(hipErrorInvalidValue, hipGraphExecDestroy(nullptr));
  expect(hipErrorCapturedEvent, hipStreamWaitEvent(stream, event, 0));
  begin(stream, hipStreamCaptureModeThreadLocal);
  std::thread([&] {
    expect(hipErrorStreamCaptureWrongThread, hipStreamEndCapture(stream, &graph));
  }).join();
  ok(hipGraphExecDestroy(end(stream)));
}

TEST(HostCapture, CapturesDoNotMerge) {
  auto const first = make_non_blocking();
  auto const second = make_non_blocking();
  auto const event = make_event();
  begin(first);
  begin(second);
  ok(hipEventRecord(event, first));
  expect(hipErrorStreamCaptureMerge, hipStreamWaitEvent(second, event, 0));
  expect_end_of_invalid(first);
  expect_end_of_invalid(second);
}

// Another stream may have the same address later.
TEST(HostCapture, StreamOfAThreadLeavesItsCaptureWhenTheThreadEnds) {
  auto const joined = make_non_blocking();
  auto const event = make_event();
  auto const stream = make_non_blocking();
  void* data = nullptr;
  std::thread([&] {
    begin(hipStreamPerThread, hipStreamCaptureModeGlobal);
    ok(hipEventRecord(event, hipStreamPerThread));
    ok(hipStreamWaitEvent(joined, event, 0));
  }).join();
  expect_status(hipStreamCaptureStatusNone, joined);
  ok(hipMalloc(&data, 64));  // no capture is left that does not allow it
  ok(hipFree(data));
  begin(stream);
  ok(hipEventRecord(event, stream));
  std::thread([&] { ok(hipStreamWaitEvent(hipStreamPerThread, event, 0)); }).join();
  expect_status(hipStreamCaptureStatusInvalidated, stream);
  expect_end_of_invalid(stream);
}

TEST(HostGraphUpdate, ReplacesWorkOfTheSameKinds) {
  auto const stream = make_stream();
  counter first;
  counter second;
  auto const captured = [&](counter& calls, int count) {
    begin(stream);
    for (int i = 0; i != count; ++i) ok(hipLaunchHostFunc(stream, &counter::add, &calls));
    hipGraph_t graph = nullptr;
    ok(hipStreamEndCapture(stream, &graph));
    return graph;
  };
  hipGraphExec_t executable = nullptr;
  ok(hipGraphInstantiateWithFlags(&executable, captured(first, 2), 0));
  hipGraphNode_t node = nullptr;
  auto reason = hipGraphExecUpdateError;
  ok(hipGraphLaunch(executable, stream));
  ok(hipGraphExecUpdate(executable, captured(second, 2), &node, &reason));
  EXPECT_EQ(hipGraphExecUpdateSuccess, reason);
  ok(hipGraphLaunch(executable, stream));
  ok(hipStreamSynchronize(stream));
  EXPECT_EQ(2, first.count);
  EXPECT_EQ(2, second.count);
  expect(hipErrorGraphExecUpdateFailure,
         hipGraphExecUpdate(executable, captured(second, 3), &node, &reason));
  EXPECT_EQ(hipGraphExecUpdateErrorTopologyChanged, reason);
  expect(hipErrorInvalidValue,
         hipGraphExecUpdate(executable, captured(second, 2), nullptr, &reason));
  expect(hipErrorInvalidValue, hipGraphExecUpdate(executable, nullptr, &node, &reason));
  ok(hipGraphExecDestroy(executable));
}

// The last test, because the streams stay captured.
TEST(HostCapture, CaptureThatIsNotJoinedDoesNotEndUnderRocm) {
  if (!keeps_streams_captured()) GTEST_SKIP();
  auto const stream = make_stream();
  auto const joined = make_non_blocking();
  auto const event = make_event();
  counter calls;
  begin(stream);
  ok(hipEventRecord(event, stream));
  ok(hipStreamWaitEvent(joined, event, 0));
  ok(hipLaunchHostFunc(joined, &counter::add, &calls));
  hipGraph_t graph = nullptr;
  for (int i = 0; i != 2; ++i) {  // the second call is undefined
    expect(hipErrorStreamCaptureUnjoined, hipStreamEndCapture(stream, &graph));
    expect_status(hipStreamCaptureStatusActive, stream);
    expect_status(hipStreamCaptureStatusActive, joined);
  }
  if (setting("ROCARRAY_HOST_EMULATE") == "rocm5") return;  // which synchronizes other devices
  ASSERT_EQ(hipSuccess, hipSetDevice(1));
  expect(hipErrorStreamCaptureUnsupported, hipDeviceSynchronize());
  ok(hipSetDevice(0));
}

}  // namespace
