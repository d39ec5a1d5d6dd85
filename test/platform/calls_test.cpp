// SPDX-License-Identifier: MIT
// Every platform's HIP provides the listed calls with the same signatures, and the error codes and
// flags that the library uses with the same numbers. No device is needed.
#include "platform/calls.hpp"
#include "platform/hip.hpp"

#include "signatures.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string_view>

namespace {

using any_function = void (*)();

template <class Signature>
any_function address_of(Signature* call) {
  return reinterpret_cast<any_function>(call);
}

struct entry {
  std::string_view name;
  any_function address;
};

// Taking the addresses makes the linker check that the platform's HIP exports the calls.
entry const calls_with_signature[] = {
#define X(call, ...) {#call, address_of<__VA_ARGS__>(&::call)},
    ROCARRAY_HIP_SIGNATURES(X)
#undef X
};

constexpr std::string_view listed_calls[] = {
#define X(call) #call,
    ROCARRAY_HIP_CALLS(X)
#undef X
};

TEST(Calls, EachHasOneSignature) {
  for (std::string_view call : listed_calls) {
    EXPECT_EQ(1, std::count_if(std::begin(calls_with_signature), std::end(calls_with_signature),
                               [&](entry const& e) { return e.name == call; }))
        << call;
  }
  EXPECT_EQ(std::size(listed_calls), std::size(calls_with_signature));
}

TEST(Calls, EachIsExported) {
  for (entry const& call : calls_with_signature) EXPECT_NE(nullptr, call.address) << call.name;
}

TEST(Calls, AreListedOnce) {
  for (std::string_view call : listed_calls) {
    EXPECT_EQ(1, std::count(std::begin(listed_calls), std::end(listed_calls), call)) << call;
  }
}

TEST(Calls, ErrorCodesHaveNumbersOfHip) {
  EXPECT_EQ(0, hipSuccess);
  EXPECT_EQ(1, hipErrorInvalidValue);
  EXPECT_EQ(2, hipErrorOutOfMemory);
  EXPECT_EQ(3, hipErrorNotInitialized);
  EXPECT_EQ(4, hipErrorDeinitialized);
  EXPECT_EQ(9, hipErrorInvalidConfiguration);
  EXPECT_EQ(12, hipErrorInvalidPitchValue);
  EXPECT_EQ(17, hipErrorInvalidDevicePointer);
  EXPECT_EQ(21, hipErrorInvalidMemcpyDirection);
  EXPECT_EQ(35, hipErrorInsufficientDriver);
  EXPECT_EQ(98, hipErrorInvalidDeviceFunction);
  EXPECT_EQ(100, hipErrorNoDevice);
  EXPECT_EQ(101, hipErrorInvalidDevice);
  EXPECT_EQ(201, hipErrorInvalidContext);
  EXPECT_EQ(217, hipErrorPeerAccessUnsupported);
  EXPECT_EQ(400, hipErrorInvalidHandle);
  EXPECT_EQ(600, hipErrorNotReady);
  EXPECT_EQ(700, hipErrorIllegalAddress);
  EXPECT_EQ(704, hipErrorPeerAccessAlreadyEnabled);
  EXPECT_EQ(705, hipErrorPeerAccessNotEnabled);
  EXPECT_EQ(709, hipErrorContextIsDestroyed);
  EXPECT_EQ(712, hipErrorHostMemoryAlreadyRegistered);
  EXPECT_EQ(713, hipErrorHostMemoryNotRegistered);
  EXPECT_EQ(719, hipErrorLaunchFailure);
  EXPECT_EQ(801, hipErrorNotSupported);
  EXPECT_EQ(999, hipErrorUnknown);
}

TEST(Calls, FlagsHaveNumbersOfHip) {
  EXPECT_EQ(0u, unsigned{hipHostMallocDefault});
  EXPECT_EQ(1u, unsigned{hipHostMallocPortable});
  EXPECT_EQ(2u, unsigned{hipHostMallocMapped});
  EXPECT_EQ(4u, unsigned{hipHostMallocWriteCombined});
  EXPECT_EQ(0u, unsigned{hipHostRegisterDefault});
  EXPECT_EQ(1u, unsigned{hipHostRegisterPortable});
  EXPECT_EQ(2u, unsigned{hipHostRegisterMapped});
  EXPECT_EQ(4u, unsigned{hipHostRegisterIoMemory});
  EXPECT_EQ(8u, unsigned{hipHostRegisterReadOnly});
  EXPECT_EQ(0u, unsigned{hipStreamDefault});
  EXPECT_EQ(1u, unsigned{hipStreamNonBlocking});
  EXPECT_EQ(0u, unsigned{hipEventDefault});
  EXPECT_EQ(1u, unsigned{hipEventBlockingSync});
  EXPECT_EQ(2u, unsigned{hipEventDisableTiming});
  EXPECT_EQ(4u, unsigned{hipEventInterprocess});
  EXPECT_EQ(0u, unsigned{hipStreamWaitValueGte});
  EXPECT_EQ(1u, unsigned{hipStreamWaitValueEq});
  EXPECT_EQ(2u, unsigned{hipStreamWaitValueAnd});
  EXPECT_EQ(3u, unsigned{hipStreamWaitValueNor});
  EXPECT_EQ(0, hipStreamCaptureStatusNone);
  EXPECT_EQ(1, hipStreamCaptureStatusActive);
  EXPECT_EQ(2, hipStreamCaptureStatusInvalidated);
  EXPECT_NE(nullptr, hipStreamPerThread);
}

TEST(Calls, CopyKindsHaveNumbersOfHip) {
  EXPECT_EQ(0, hipMemcpyHostToHost);
  EXPECT_EQ(1, hipMemcpyHostToDevice);
  EXPECT_EQ(2, hipMemcpyDeviceToHost);
  EXPECT_EQ(3, hipMemcpyDeviceToDevice);
  EXPECT_EQ(4, hipMemcpyDefault);
}

TEST(Calls, DeviceAttributesInUseAreDistinct) {
  hipDeviceAttribute_t const attributes[] = {hipDeviceAttributeMultiprocessorCount,
                                             hipDeviceAttributeClockRate,
                                             hipDeviceAttributeMemoryClockRate,
                                             hipDeviceAttributeMemoryBusWidth,
                                             hipDeviceAttributeL2CacheSize,
                                             hipDeviceAttributeWarpSize,
                                             hipDeviceAttributeMaxThreadsPerBlock,
                                             hipDeviceAttributeComputeCapabilityMajor,
                                             hipDeviceAttributeComputeCapabilityMinor,
                                             hipDeviceAttributeIntegrated,
                                             hipDeviceAttributeCanMapHostMemory,
                                             hipDeviceAttributeManagedMemory,
                                             hipDeviceAttributeConcurrentManagedAccess,
                                             hipDeviceAttributePageableMemoryAccess,
                                             hipDeviceAttributePciBusId,
                                             hipDeviceAttributePciDeviceId,
                                             hipDeviceAttributePciDomainID,
                                             hipDeviceAttributeAsyncEngineCount,
                                             hipDeviceAttributeMaxSharedMemoryPerBlock,
                                             hipDeviceAttributeUnifiedAddressing,
                                             hipDeviceAttributeCooperativeLaunch,
                                             roc::native_detail::host_register_supported()};
  for (hipDeviceAttribute_t attribute : attributes) {
    EXPECT_EQ(1, std::count(std::begin(attributes), std::end(attributes), attribute)) << attribute;
  }
}

TEST(Calls, CopyParametersHaveSameMembersAndHelpers) {
  char byte = 0;
  hipMemcpy3DParms copy;
  std::memset(&copy, 0, sizeof copy);
  copy.srcPtr = make_hipPitchedPtr(&byte, 64, 48, 3);
  copy.dstPos = make_hipPos(1, 2, 3);
  copy.extent = make_hipExtent(48, 3, 2);
  copy.kind = hipMemcpyHostToDevice;
  EXPECT_EQ(&byte, copy.srcPtr.ptr);
  EXPECT_EQ(64u, copy.srcPtr.pitch);
  EXPECT_EQ(48u, copy.srcPtr.xsize);
  EXPECT_EQ(3u, copy.srcPtr.ysize);
  EXPECT_EQ(1u, copy.dstPos.x);
  EXPECT_EQ(2u, copy.dstPos.y);
  EXPECT_EQ(3u, copy.dstPos.z);
  EXPECT_EQ(48u, copy.extent.width);
  EXPECT_EQ(3u, copy.extent.height);
  EXPECT_EQ(2u, copy.extent.depth);
  EXPECT_EQ(nullptr, copy.srcArray);
  EXPECT_EQ(nullptr, copy.dstArray);
  dim3 const grid(2, 3);
  EXPECT_EQ(1u, grid.z);
}

TEST(Calls, MemoryKindIsReadFromAttributesOfEveryVersion) {
  using roc::native_detail::kind_of;
  using roc::native_detail::memory_kind;
  auto const set = [](auto& attributes, hipMemoryType type) {
    if constexpr (requires { attributes.type; }) {
      attributes.type = type;
    } else {
      attributes.memoryType = type;
    }
  };
  hipPointerAttribute_t attributes{};
  set(attributes, hipMemoryTypeHost);
  EXPECT_EQ(memory_kind::host, kind_of(attributes));
  set(attributes, hipMemoryTypeDevice);
  EXPECT_EQ(memory_kind::device, kind_of(attributes));
  attributes.isManaged = 1;
  EXPECT_EQ(memory_kind::managed, kind_of(attributes));
}

TEST(Calls, ErrorCodesHaveNamesAndTexts) {
  for (hipError_t error : {hipSuccess, hipErrorInvalidValue, hipErrorOutOfMemory, hipErrorNotReady,
                           hipErrorHostMemoryAlreadyRegistered, hipErrorUnknown}) {
    ASSERT_NE(nullptr, hipGetErrorName(error)) << error;
    EXPECT_NE('\0', *hipGetErrorName(error)) << error;
    ASSERT_NE(nullptr, hipGetErrorString(error)) << error;
    EXPECT_NE('\0', *hipGetErrorString(error)) << error;
  }
}

}  // namespace
