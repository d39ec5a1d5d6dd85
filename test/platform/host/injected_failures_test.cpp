// SPDX-License-Identifier: MIT
// Injected failures: every call fails at its planned use, has no effect then, and succeeds again.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "platform/calls.hpp"
#include "platform/host/support.hpp"
#include "support/other_process.hpp"

namespace {

using namespace roc::test;

struct exported {
  hipIpcMemHandle_t memory;
  hipIpcEventHandle_t event;
};

// Exports memory and an event.
role_definition const owner{
    "owner", [](channel& parent) {
      void* data = nullptr;
      ok(hipMalloc(&data, 64));
      exported handles;
      ok(hipIpcGetMemHandle(&handles.memory, data));
      ok(hipIpcGetEventHandle(&handles.event,
                              make_event(hipEventInterprocess | hipEventDisableTiming)));
      parent.send(handles);
      parent.receive<bool>();
    }};

class HostInjectedFailure : public testing::Test {
 protected:
  void SetUp() override {
    stream_ = make_stream();
    event_ = make_event();
    ok(hipEventRecord(event_, stream_));
    ok(hipStreamSynchronize(stream_));
    ok(hipMalloc(&device_, 64));
    ok(hipMalloc(&texels_, 1024));
    ok(hipHostMalloc(&pinned_, 64, 0));
    std::memset(pinned_, 0, 64);  // stream operations wait for its value
    ok(hipMallocManaged(&managed_, 64, hipMemAttachGlobal));
  }
  void TearDown() override {
    ok(hipStreamDestroy(stream_));
    ok(hipEventDestroy(event_));
    ok(hipFree(device_));
    ok(hipFree(texels_));
    ok(hipHostFree(pinned_));
    ok(hipFree(managed_));
  }

  // Returns, for each call, a use that succeeds and releases what it creates.
  std::map<std::string, std::function<hipError_t()>> uses() {
    std::map<std::string, std::function<hipError_t()>> all;
    all["hipGetDeviceCount"] = [&] { return hipGetDeviceCount(&number_); };
    all["hipGetDevice"] = [&] { return hipGetDevice(&number_); };
    all["hipSetDevice"] = [] { return hipSetDevice(0); };
    all["hipDeviceGetAttribute"] = [&] {
      return hipDeviceGetAttribute(&number_, hipDeviceAttributeWarpSize, 0);
    };
    all["hipDeviceGetName"] = [&] { return hipDeviceGetName(text_, sizeof text_, 0); };
    all["hipDeviceCanAccessPeer"] = [&] { return hipDeviceCanAccessPeer(&number_, 0, 0); };
    all["hipDeviceEnablePeerAccess"] = [] {
      return undo_if_ok(hipDeviceEnablePeerAccess(1, 0), [] { ok(hipDeviceDisablePeerAccess(1)); });
    };
    all["hipDeviceDisablePeerAccess"] = [] {
      ok(hipDeviceEnablePeerAccess(1, 0));
      hipError_t const result = hipDeviceDisablePeerAccess(1);
      if (result != hipSuccess) ok(hipDeviceDisablePeerAccess(1));
      return result;
    };
    all["hipDeviceGetP2PAttribute"] = [&] {
      return hipDeviceGetP2PAttribute(&number_, hipDevP2PAttrAccessSupported, 0, 1);
    };
    all["hipExtGetLinkTypeAndHopCount"] = [] {
      std::uint32_t type = 0;
      std::uint32_t hops = 0;
      return hipExtGetLinkTypeAndHopCount(0, 1, &type, &hops);
    };
    all["hipMemPoolSetAccess"] = [&] {
      ok(hipDeviceGetDefaultMemPool(&pool_, 0));
      hipMemAccessDesc const access{{hipMemLocationTypeDevice, 1}, hipMemAccessFlagsProtReadWrite};
      return hipMemPoolSetAccess(pool_, &access, 1);
    };
    all["hipDeviceGetPCIBusId"] = [&] { return hipDeviceGetPCIBusId(text_, sizeof text_, 0); };
    all["hipDeviceSynchronize"] = [] { return hipDeviceSynchronize(); };
    all["hipDeviceGetStreamPriorityRange"] = [&] {
      return hipDeviceGetStreamPriorityRange(&number_, &number_);
    };
    all["hipRuntimeGetVersion"] = [&] { return hipRuntimeGetVersion(&number_); };
    all["hipDriverGetVersion"] = [&] { return hipDriverGetVersion(&number_); };
    all["hipMemGetInfo"] = [&] { return hipMemGetInfo(&size_, &size_); };
    all["hipGetLastError"] = [] { return hipGetLastError(); };
    all["hipPeekAtLastError"] = [] { return hipPeekAtLastError(); };
    all["hipMalloc"] = [&] {
      return undo_if_ok(hipMalloc(&fresh_, 64), [&] { ok(hipFree(fresh_)); });
    };
    all["hipFree"] = [] { return hipFree(nullptr); };
    all["hipHostMalloc"] = [&] {
      return undo_if_ok(hipHostMalloc(&fresh_, 64, 0), [&] { ok(hipHostFree(fresh_)); });
    };
    all["hipHostFree"] = [] { return hipHostFree(nullptr); };
    all["hipHostGetFlags"] = [&] { return hipHostGetFlags(&flags_, pinned_); };
    all["hipHostGetDevicePointer"] = [&] { return hipHostGetDevicePointer(&fresh_, pinned_, 0); };
    all["hipHostRegister"] = [&] {
      return undo_if_ok(hipHostRegister(host_, sizeof host_, 0),
                        [&] { ok(hipHostUnregister(host_)); });
    };
    all["hipHostUnregister"] = [&] {
      ok(hipHostRegister(host_, sizeof host_, 0));
      hipError_t const result = hipHostUnregister(host_);
      if (result != hipSuccess) ok(hipHostUnregister(host_));
      return result;
    };
    all["hipPointerGetAttributes"] = [&] {
      hipPointerAttribute_t attributes{};
      return hipPointerGetAttributes(&attributes, pinned_);
    };
    all["hipPointerGetAttribute"] = [&] {
      std::size_t bytes = 0;
      return hipPointerGetAttribute(&bytes, HIP_POINTER_ATTRIBUTE_RANGE_SIZE, pinned_);
    };
    all["hipMallocManaged"] = [&] {
      return undo_if_ok(hipMallocManaged(&fresh_, 64, hipMemAttachGlobal),
                        [&] { ok(hipFree(fresh_)); });
    };
    all["hipMemAdvise"] = [&] { return hipMemAdvise(managed_, 64, hipMemAdviseSetReadMostly, 0); };
    all["hipMemPrefetchAsync"] = [&] { return hipMemPrefetchAsync(managed_, 64, 0, stream_); };
    all["hipStreamAttachMemAsync"] = [&] {
      return hipStreamAttachMemAsync(stream_, managed_, 64, hipMemAttachSingle);
    };
    all["hipIpcGetMemHandle"] = [&] {
      hipIpcMemHandle_t handle;
      return hipIpcGetMemHandle(&handle, device_);
    };
    all["hipIpcOpenMemHandle"] = [&] {
      return undo_if_ok(
          hipIpcOpenMemHandle(&fresh_, others().memory, hipIpcMemLazyEnablePeerAccess),
          [&] { ok(hipIpcCloseMemHandle(fresh_)); });
    };
    all["hipIpcCloseMemHandle"] = [&] {
      ok(hipIpcOpenMemHandle(&fresh_, others().memory, hipIpcMemLazyEnablePeerAccess));
      hipError_t const result = hipIpcCloseMemHandle(fresh_);
      if (result != hipSuccess) ok(hipIpcCloseMemHandle(fresh_));
      return result;
    };
    all["hipIpcGetEventHandle"] = [&] {
      hipEvent_t const event = make_event(hipEventInterprocess | hipEventDisableTiming);
      hipIpcEventHandle_t handle;
      hipError_t const result = hipIpcGetEventHandle(&handle, event);
      ok(hipEventDestroy(event));
      return result;
    };
    all["hipIpcOpenEventHandle"] = [&] {
      hipEvent_t event = nullptr;
      return undo_if_ok(hipIpcOpenEventHandle(&event, others().event),
                        [&] { ok(hipEventDestroy(event)); });
    };
    all["hipMemcpy"] = [&] { return hipMemcpy(device_, host_, 64, hipMemcpyDefault); };
    all["hipMemcpyAsync"] = [&] {
      return hipMemcpyAsync(device_, host_, 64, hipMemcpyDefault, stream_);
    };
    all["hipMemcpy2DAsync"] = [&] {
      return hipMemcpy2DAsync(device_, 8, host_, 8, 8, 8, hipMemcpyDefault, stream_);
    };
    all["hipMemcpy3DAsync"] = [&] {
      hipMemcpy3DParms box{};
      return hipMemcpy3DAsync(&box, stream_);
    };
    all["hipMallocAsync"] = [&] {
      return undo_if_ok(hipMallocAsync(&fresh_, 64, stream_),
                        [&] { ok(hipFreeAsync(fresh_, stream_)); });
    };
    all["hipMallocFromPoolAsync"] = [&] {
      ok(hipDeviceGetDefaultMemPool(&pool_, 0));
      return undo_if_ok(hipMallocFromPoolAsync(&fresh_, 64, pool_, stream_),
                        [&] { ok(hipFreeAsync(fresh_, stream_)); });
    };
    all["hipFreeAsync"] = [&] {
      ok(hipMallocAsync(&fresh_, 64, stream_));
      hipError_t const result = hipFreeAsync(fresh_, stream_);
      if (result != hipSuccess) ok(hipFreeAsync(fresh_, stream_));
      return result;
    };
    all["hipDeviceGetDefaultMemPool"] = [&] { return hipDeviceGetDefaultMemPool(&pool_, 0); };
    all["hipMemPoolSetAttribute"] = [&] {
      ok(hipDeviceGetDefaultMemPool(&pool_, 0));
      return hipMemPoolSetAttribute(pool_, hipMemPoolAttrReleaseThreshold, &size_);
    };
    all["hipMemPoolTrimTo"] = [&] {
      ok(hipDeviceGetDefaultMemPool(&pool_, 0));
      return hipMemPoolTrimTo(pool_, 0);
    };
    all["hipMemsetAsync"] = [&] { return hipMemsetAsync(device_, 0, 64, stream_); };
    all["hipStreamCreateWithFlags"] = [&] {
      hipStream_t stream = nullptr;
      return undo_if_ok(hipStreamCreateWithFlags(&stream, 0),
                        [&] { ok(hipStreamDestroy(stream)); });
    };
    all["hipStreamCreateWithPriority"] = [&] {
      hipStream_t stream = nullptr;
      return undo_if_ok(hipStreamCreateWithPriority(&stream, 0, 0),
                        [&] { ok(hipStreamDestroy(stream)); });
    };
    all["hipStreamDestroy"] = [&] {
      auto const stream = make_stream();
      hipError_t const result = hipStreamDestroy(stream);
      if (result != hipSuccess) ok(hipStreamDestroy(stream));
      return result;
    };
    all["hipStreamSynchronize"] = [&] { return hipStreamSynchronize(stream_); };
    all["hipStreamQuery"] = [&] {
      ok(hipStreamSynchronize(stream_));
      return hipStreamQuery(stream_);
    };
    all["hipStreamWaitEvent"] = [&] { return hipStreamWaitEvent(stream_, event_, 0); };
    all["hipStreamGetFlags"] = [&] { return hipStreamGetFlags(stream_, &flags_); };
    all["hipStreamGetPriority"] = [&] { return hipStreamGetPriority(stream_, &number_); };
    all["hipStreamIsCapturing"] = [&] {
      hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
      return hipStreamIsCapturing(stream_, &status);
    };
    all["hipStreamGetCaptureInfo"] = [&] {
      hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
      return hipStreamGetCaptureInfo(stream_, &status, nullptr);
    };
    all["hipStreamBeginCapture"] = [&] {
      return undo_if_ok(hipStreamBeginCapture(stream_, hipStreamCaptureModeRelaxed),
                        [&] { ok(hipGraphDestroy(end_capture())); });
    };
    all["hipStreamEndCapture"] = [&] {
      ok(hipStreamBeginCapture(stream_, hipStreamCaptureModeRelaxed));
      hipGraph_t graph = nullptr;
      hipError_t const result = hipStreamEndCapture(stream_, &graph);
      ok(hipGraphDestroy(result == hipSuccess ? graph : end_capture()));
      return result;
    };
    all["hipGraphDestroy"] = [&] {
      hipGraph_t const graph = make_graph();
      hipError_t const result = hipGraphDestroy(graph);
      if (result != hipSuccess) ok(hipGraphDestroy(graph));
      return result;
    };
    all["hipGraphInstantiateWithFlags"] = [&] {
      hipGraph_t const graph = make_graph();
      hipGraphExec_t executable = nullptr;
      hipError_t const result = hipGraphInstantiateWithFlags(&executable, graph, 0);
      if (result == hipSuccess) ok(hipGraphExecDestroy(executable));
      ok(hipGraphDestroy(graph));
      return result;
    };
    all["hipGraphExecUpdate"] = [&] {
      hipGraph_t const graph = make_graph();
      hipGraphExec_t const executable = instantiate(graph);
      hipGraphNode_t node = nullptr;
      hipGraphExecUpdateResult reason = hipGraphExecUpdateSuccess;
      hipError_t const result = hipGraphExecUpdate(executable, graph, &node, &reason);
      ok(hipGraphExecDestroy(executable));
      ok(hipGraphDestroy(graph));
      return result;
    };
    all["hipGraphLaunch"] = [&] {
      hipGraph_t const graph = make_graph();
      hipGraphExec_t const executable = instantiate(graph);
      hipError_t const result = hipGraphLaunch(executable, stream_);
      ok(hipGraphExecDestroy(executable));
      ok(hipGraphDestroy(graph));
      return result;
    };
    all["hipGraphExecDestroy"] = [&] {
      hipGraph_t const graph = make_graph();
      hipGraphExec_t const executable = instantiate(graph);
      ok(hipGraphDestroy(graph));
      hipError_t const result = hipGraphExecDestroy(executable);
      if (result != hipSuccess) ok(hipGraphExecDestroy(executable));
      return result;
    };
    all["hipStreamWaitValue64"] = [&] {
      return hipStreamWaitValue64(stream_, pinned_, 0, hipStreamWaitValueGte);
    };
    all["hipStreamWriteValue64"] = [&] { return hipStreamWriteValue64(stream_, pinned_, 1, 0); };
    all["hipLaunchHostFunc"] = [&] {
      return hipLaunchHostFunc(
          stream_, [](void*) {}, nullptr);
    };
    all["hipEventCreateWithFlags"] = [&] {
      hipEvent_t event = nullptr;
      return undo_if_ok(hipEventCreateWithFlags(&event, 0), [&] { ok(hipEventDestroy(event)); });
    };
    all["hipEventDestroy"] = [&] {
      auto const event = make_event();
      hipError_t const result = hipEventDestroy(event);
      if (result != hipSuccess) ok(hipEventDestroy(event));
      return result;
    };
    all["hipEventRecord"] = [&] {
      hipError_t const result = hipEventRecord(event_, stream_);
      ok(hipDeviceSynchronize());
      return result;
    };
    all["hipEventSynchronize"] = [&] { return hipEventSynchronize(event_); };
    all["hipEventQuery"] = [&] { return hipEventQuery(event_); };
    all["hipEventElapsedTime"] = [&] { return hipEventElapsedTime(&time_, event_, event_); };
    all["hipCreateTextureObject"] = [&] {
      hipTextureObject_t texture{};
      return undo_if_ok(create_texture(&texture), [&] { ok(hipDestroyTextureObject(texture)); });
    };
    all["hipDestroyTextureObject"] = [&] {
      hipTextureObject_t texture{};
      ok(create_texture(&texture));
      hipError_t const result = hipDestroyTextureObject(texture);
      if (result != hipSuccess) ok(hipDestroyTextureObject(texture));
      return result;
    };
    return all;
  }

  // Creates a texture of one row in `texels_`.
  hipError_t create_texture(hipTextureObject_t* texture) const {
    hipResourceDesc resource{};
    resource.resType = hipResourceTypePitch2D;
    auto& memory = resource.res.pitch2D;
    std::size_t space = 1024;
    memory.devPtr = texels_;
    std::align(512, 64, memory.devPtr, space);
    memory.desc = {32, 0, 0, 0, hipChannelFormatKindFloat};
    memory.width = 16;
    memory.height = 1;
    memory.pitchInBytes = 64;
    hipTextureDesc const description{};
    return hipCreateTextureObject(texture, &resource, &description, nullptr);
  }
  hipGraph_t end_capture() {
    hipGraph_t graph = nullptr;
    ok(hipStreamEndCapture(stream_, &graph));
    return graph;
  }
  hipGraph_t make_graph() {
    ok(hipStreamBeginCapture(stream_, hipStreamCaptureModeRelaxed));
    return end_capture();
  }
  static hipGraphExec_t instantiate(hipGraph_t graph) {
    hipGraphExec_t executable = nullptr;
    ok(hipGraphInstantiateWithFlags(&executable, graph, 0));
    return executable;
  }

  // Returns handles of another process, which ends with the test.
  exported const& others() {
    if (other_ == nullptr) {
      other_ = std::make_unique<other_process>("owner");
      exported_ = other_->receive<exported>();
    }
    return exported_;
  }

  template <class F>
  static hipError_t undo_if_ok(hipError_t result, F const& undo) {
    if (result == hipSuccess) undo();
    return result;
  }

  std::unique_ptr<other_process> other_;
  exported exported_{};
  hipStream_t stream_ = nullptr;
  hipEvent_t event_ = nullptr;
  void* device_ = nullptr;
  void* texels_ = nullptr;
  void* pinned_ = nullptr;
  void* managed_ = nullptr;
  void* fresh_ = nullptr;
  hipMemPool_t pool_ = nullptr;
  char host_[64] = {};
  char text_[64] = {};
  int number_ = 0;
  unsigned flags_ = 0;
  std::size_t size_ = 0;
  float time_ = 0;
};

std::vector<std::string> every_call() {
  return {
#define ROCARRAY_TEST_NAME(name) #name,
      ROCARRAY_HIP_CALLS(ROCARRAY_TEST_NAME)
#undef ROCARRAY_TEST_NAME
  };
}

TEST_F(HostInjectedFailure, EveryCallFailsAndSucceedsAgain) {
  auto const uses_by_call = uses();
  for (auto const& name : every_call()) {
    SCOPED_TRACE(name);
    bool const can_fail = name != "hipGetErrorName" && name != "hipGetErrorString";
    ASSERT_EQ(can_fail, fail_at(name.c_str(), 1, hipErrorLaunchFailure));
    if (!can_fail) continue;
    ASSERT_TRUE(uses_by_call.contains(name));
    auto const& use = uses_by_call.at(name);
    expect(hipErrorLaunchFailure, use());
    static_cast<void>(hipGetLastError());
    ok(use());
    ok(hipGetLastError());
  }
}

TEST_F(HostInjectedFailure, CountsUsesFromNextOne) {
  ASSERT_TRUE(fail_at("hipMalloc", 3, hipErrorOutOfMemory));
  ASSERT_TRUE(fail_at("hipMalloc", 1, hipErrorLaunchFailure));  // several may be planned
  auto const use = uses().at("hipMalloc");
  expect(hipErrorLaunchFailure, use());
  ok(use());
  expect(hipErrorOutOfMemory, use());
  for (int i = 0; i < 10; ++i) ok(use());
}

TEST_F(HostInjectedFailure, FailedCopyCopiesNothing) {
  ok(hipMemsetAsync(device_, 3, 64, stream_));
  ASSERT_TRUE(fail_at("hipMemcpyAsync", 1, hipErrorIllegalAddress));
  expect(hipErrorIllegalAddress, hipMemcpyAsync(device_, host_, 64, hipMemcpyDefault, stream_));
  expect(hipErrorIllegalAddress, hipGetLastError());
  ok(hipStreamSynchronize(stream_));
  ok(hipMemcpy(host_, device_, 64, hipMemcpyDefault));
  EXPECT_TRUE(std::all_of(host_, host_ + 64, [](char b) { return b == 3; }));
}

TEST_F(HostInjectedFailure, RejectsUnknownNameZeroUseAndSuccess) {
  EXPECT_FALSE(fail_at("hipNoSuchCall", 1, hipErrorUnknown));
  EXPECT_FALSE(fail_at("hipMalloc", 0, hipErrorUnknown));
  EXPECT_FALSE(fail_at("hipMalloc", 1, hipSuccess));
}

}  // namespace
