// SPDX-License-Identifier: MIT
// What ROCm's runtime does differently from CUDA's, apart from registration. Run under the rules of
// three versions of ROCm, with ROCARRAY_HOST_STRICT.
#include <atomic>
#include <chrono>
#include <cstring>

#include "platform/host/support.hpp"

namespace {

using namespace roc::test;

// Long enough for a call that does not block to return.
constexpr auto pause = std::chrono::milliseconds(50);

class RocmRules : public testing::Test {
 protected:
  void SetUp() override {
    ok(hipMalloc(&device_, sizeof host_));
    ok(hipHostMalloc(&pinned_, sizeof host_, 0));
    stream_ = make_stream();
  }
  void TearDown() override {
    ok(hipStreamDestroy(stream_));
    ok(hipFree(device_));
    ok(hipHostFree(pinned_));
    static_cast<void>(hipGetLastError());
  }

  // Returns true if a copy on the stream is done on return.
  bool blocks(void* to, void const* from, hipMemcpyKind kind) {
    execution_log log;
    log.enqueue(stream_, 1);
    ok(hipMemcpyAsync(to, from, sizeof host_, kind, stream_));
    bool const is_done = log.has(1);
    ok(hipStreamSynchronize(stream_));
    return is_done;
  }

  char host_[64] = {};
  char other_[64] = {};
  void* device_ = nullptr;
  char* pinned_ = nullptr;
  hipStream_t stream_ = nullptr;
};

TEST_F(RocmRules, AsynchronousCopyToPageableMemoryBlocks) {
  EXPECT_TRUE(blocks(host_, device_, hipMemcpyDeviceToHost));
  EXPECT_TRUE(blocks(host_, other_, hipMemcpyHostToHost));
  EXPECT_TRUE(blocks(host_, pinned_, hipMemcpyDefault));
}

TEST_F(RocmRules, OtherAsynchronousCopiesDoNotBlock) {
  execution_log log;
  gate blocked;
  blocked.close(stream_);
  log.enqueue(stream_, 1);
  ok(hipMemcpyAsync(device_, host_, sizeof host_, hipMemcpyHostToDevice, stream_));
  ok(hipMemcpyAsync(pinned_, device_, sizeof host_, hipMemcpyDeviceToHost, stream_));
  ok(hipMemcpyAsync(device_, pinned_, sizeof host_, hipMemcpyHostToDevice, stream_));
  EXPECT_EQ(!gate::holds(), log.has(1));
  blocked.open();
  ok(hipStreamSynchronize(stream_));
}

TEST_F(RocmRules, KindOfCopyIsIgnored) {
  for (int kind = 0; kind < 5; ++kind) {
    ok(hipMemcpy(device_, host_, 64, static_cast<hipMemcpyKind>(kind)));
    ok(hipMemcpy(host_, device_, 64, static_cast<hipMemcpyKind>(kind)));
    ok(hipMemcpy(host_, other_, 64, static_cast<hipMemcpyKind>(kind)));
  }
  expect(hipErrorInvalidValue, hipMemcpy(host_, other_, 64, static_cast<hipMemcpyKind>(9)));
}

TEST_F(RocmRules, CopyMayBeginBeforeRegisteredRange) {
  std::vector<char> host(8192);
  char* device = nullptr;
  ok(hipMalloc(&device, 8192));
  ok(hipHostRegister(host.data() + 1000, 1000, 0));
  ok(hipMemcpy(device, host.data(), 1001, hipMemcpyHostToDevice));
  ok(hipMemcpy(device, host.data(), 8192, hipMemcpyHostToDevice));
  expect(hipErrorInvalidValue, hipMemcpy(device, host.data() + 1999, 2, hipMemcpyHostToDevice));
  ok(hipHostUnregister(host.data() + 1000));
  ok(hipFree(device));
}

TEST_F(RocmRules, BoxErrorIsInvalidValueAndHeightIsCheckedForOneSlice) {
  hipMemcpy3DParms box{};
  box.srcPtr = make_hipPitchedPtr(device_, 8, 8, 2);
  box.dstPtr = make_hipPitchedPtr(pinned_, 8, 8, 2);
  box.extent = make_hipExtent(8, 2, 1);
  box.kind = hipMemcpyDefault;
  ok(hipMemcpy3DAsync(&box, nullptr));
  box.srcPtr.ysize = 1;
  expect(hipErrorInvalidValue, hipMemcpy3DAsync(&box, nullptr));
  box.srcPtr.ysize = 2;
  box.extent.width = 9;
  expect(hipErrorInvalidValue, hipMemcpy3DAsync(&box, nullptr));
  expect(hipErrorInvalidPitchValue,
         hipMemcpy2DAsync(pinned_, 8, device_, 8, 9, 2, hipMemcpyDefault, nullptr));
  ok(hipDeviceSynchronize());
}

TEST_F(RocmRules, StreamDestructionBlocksUntilItsWorkIsDone) {
  execution_log log;
  gate blocked;
  auto const stream = make_stream(hipStreamNonBlocking);
  blocked.close(stream);
  log.enqueue(stream, 1);
  std::thread opener([&] {
    std::this_thread::sleep_for(pause);
    blocked.open();
  });
  ok(hipStreamDestroy(stream));
  EXPECT_TRUE(log.has(1));
  opener.join();
}

TEST_F(RocmRules, HostFunctionsOfAllStreamsRunOneAtATime) {
  if (!threaded()) GTEST_SKIP() << "needs mode threaded";
  execution_log log;
  struct {
    std::atomic<bool> is_running = false;
    std::atomic<bool> may_end = false;
  } blocked;
  auto const other = make_stream(hipStreamNonBlocking);
  auto const idle = make_stream(hipStreamNonBlocking);
  auto const block = [](void* data) {
    auto& state = *static_cast<decltype(blocked)*>(data);
    state.is_running = true;
    while (!state.may_end) std::this_thread::yield();
  };
  ok(hipLaunchHostFunc(stream_, block, &blocked));
  while (!blocked.is_running) std::this_thread::yield();
  log.enqueue(other, 1);
  std::atomic<bool> is_destroyed = false;
  std::thread destroyer([&] {
    ok(hipStreamDestroy(idle));
    is_destroyed = true;
  });
  std::this_thread::sleep_for(pause);
  EXPECT_FALSE(log.has(1));
  EXPECT_FALSE(is_destroyed);
  blocked.may_end = true;
  destroyer.join();
  ok(hipStreamSynchronize(other));
  EXPECT_TRUE(log.has(1));
  ok(hipStreamDestroy(other));
}

TEST_F(RocmRules, QueryOfNullStreamOrdersBlockingStreams) {
  if (!deferred()) GTEST_SKIP() << "needs mode deferred";
  execution_log log;
  auto const other = make_stream();
  log.enqueue(stream_, 1);
  log.enqueue(stream_, 2);
  expect(hipErrorNotReady, hipStreamQuery(nullptr));
  log.enqueue(other, 3);
  ok(hipStreamSynchronize(other));
  EXPECT_EQ((std::vector<int>{1, 2, 3}), log.executed());
  int polls = 0;
  while (hipStreamQuery(nullptr) == hipErrorNotReady) ++polls;
  EXPECT_LT(polls, 10);
  ok(hipStreamDestroy(other));
}

class RocmEvent : public RocmRules {
 protected:
  void SetUp() override {
    RocmRules::SetUp();
    event_ = make_event();
    auto const stream = make_stream();
    ok(hipEventRecord(event_, stream));
    ok(hipStreamDestroy(stream));
  }
  void TearDown() override {
    ok(hipEventDestroy(event_));
    RocmRules::TearDown();
  }
  hipEvent_t event_ = nullptr;
};
using RocmEventDeathTest = RocmEvent;

TEST_F(RocmEventDeathTest, QueryAfterItsStreamWasDestroyedAborts) {
  EXPECT_DEATH(static_cast<void>(hipEventQuery(event_)), "hipEventQuery .* destroyed");
  EXPECT_DEATH(static_cast<void>(hipEventSynchronize(event_)), "hipEventSynchronize .* destroyed");
}

// In its own process, because settings are read once.
TEST(RocmEventErrorDeathTest, QueryAfterItsStreamWasDestroyedFailsUnlessStrict) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("ROCARRAY_HOST_STRICT", "off", 1);
  EXPECT_EXIT(
      {
        auto const event = make_event();
        auto const stream = make_stream();
        ok(hipEventRecord(event, stream));
        ok(hipStreamDestroy(stream));
        bool const query = hipEventQuery(event) == hipErrorCapturedEvent;
        bool const synchronize = hipEventSynchronize(event) == hipErrorCapturedEvent;
        std::_Exit(query && synchronize ? 0 : 1);
      },
      testing::ExitedWithCode(0), "destroyed");
  setenv("ROCARRAY_HOST_STRICT", "on", 1);
}

TEST_F(RocmEvent, StreamMayWaitAndEventMayBeRecordedAfterItsStreamWasDestroyed) {
  ok(hipStreamWaitEvent(stream_, event_, 0));
  ok(hipEventRecord(event_, stream_));
  ok(hipEventSynchronize(event_));
  ok(hipEventQuery(event_));
}

TEST_F(RocmRules, FreesTakeInteriorPointersAndMemoryOfAllKinds) {
  char* device = nullptr;
  char* pinned = nullptr;
  char* managed = nullptr;
  auto const allocate = [&] {
    ok(hipMalloc(&device, 1000));
    ok(hipHostMalloc(&pinned, 1000, 0));
    ok(hipMallocManaged(reinterpret_cast<void**>(&managed), 1000, hipMemAttachGlobal));
  };
  allocate();
  for (char* data : {device, pinned, managed}) {
    ok(hipFree(data + 999));
    expect(hipErrorInvalidValue, hipFree(data));
  }
  allocate();
  for (char* data : {device, pinned, managed}) {
    ok(hipHostFree(data + 1));
    expect(hipErrorInvalidValue, hipHostFree(data));
  }
  std::vector<char> host(4096);
  ok(hipHostRegister(host.data(), host.size(), 0));
  expect(hipErrorInvalidValue, hipHostFree(host.data()));
  expect(hipErrorInvalidValue, hipFree(host.data()));
  ok(hipHostUnregister(host.data()));
}

TEST_F(RocmRules, FreeOfPoolMemoryBlocksBeforeVersion7) {
  execution_log log;
  gate blocked;
  void* data = nullptr;
  ok(hipMallocAsync(&data, 64, stream_));
  bool const blocks = setting("ROCARRAY_HOST_EMULATE") != "rocm7";
  if (!blocks) blocked.close(stream_);
  log.enqueue(stream_, 1);
  ok(hipFree(data));
  EXPECT_EQ(blocks || !gate::holds(), log.has(1));
  blocked.open();
  ok(hipStreamSynchronize(stream_));
}

TEST_F(RocmRules, PrefetchBlocks) {
  execution_log log;
  void* managed = nullptr;
  ok(hipMallocManaged(&managed, 64, hipMemAttachGlobal));
  log.enqueue(stream_, 1);
  ok(hipMemPrefetchAsync(managed, 64, 0, stream_));
  EXPECT_TRUE(log.has(1));
  ok(hipFree(managed));
}

TEST_F(RocmRules, ZeroBytesAndNullPointers) {
  void* data = &data;
  ok(hipMallocAsync(&data, 0, stream_));
  EXPECT_EQ(nullptr, data);
  bool const is_rocm7 = setting("ROCARRAY_HOST_EMULATE") == "rocm7";
  expect(is_rocm7 ? hipSuccess : hipErrorInvalidValue, hipFreeAsync(nullptr, stream_));
  expect(hipErrorInvalidValue, hipMallocManaged(&data, 0, hipMemAttachGlobal));
  unsigned flags = 0;
  expect(hipErrorInvalidValue, hipStreamGetFlags(nullptr, &flags));
  expect(hipErrorInvalidValue, hipStreamGetFlags(stream_, nullptr));
  ok(hipMemGetInfo(nullptr, nullptr));
}

TEST_F(RocmRules, PrioritiesAreOneToMinusOne) {
  int least = 0;
  int greatest = 0;
  ok(hipDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT_EQ(1, least);
  EXPECT_EQ(-1, greatest);
  hipStream_t stream = nullptr;
  int priority = 0;
  ok(hipStreamCreateWithPriority(&stream, hipStreamNonBlocking, -5));
  ok(hipStreamGetPriority(stream, &priority));
  EXPECT_EQ(-1, priority);
  ok(hipStreamDestroy(stream));
}

}  // namespace
