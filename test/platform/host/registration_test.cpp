// SPDX-License-Identifier: MIT
// Pinned and registered memory by the rules of CUDA, of old and of new ROCm. Run once for each.
#include <cstdint>
#include <cstring>

#include "platform/host/host_ranges.hpp"
#include "platform/host/support.hpp"

namespace {

using namespace roc::test;

bool rocm5() { return setting("ROCARRAY_HOST_EMULATE") == "rocm5"; }
bool rocm7() { return setting("ROCARRAY_HOST_EMULATE") == "rocm7"; }
bool cuda() { return !rocm5() && !rocm7(); }

class HostRegistration : public testing::Test {
 protected:
  void TearDown() override { static_cast<void>(hipGetLastError()); }
  std::vector<char> memory_ = std::vector<char>(8192, 'x');
  char* const data_ = memory_.data();
};

TEST_F(HostRegistration, SameRangeTwiceIsCountedUnderOldRulesAndFailsUnderOthers) {
  ok(hipHostRegister(data_, 4096, 0));
  expect(rocm5() ? hipSuccess : hipErrorHostMemoryAlreadyRegistered,
         hipHostRegister(data_, 4096, 0));
  auto const range = roc::host_hip::host_ranges::instance().find(data_);
  ASSERT_TRUE(range);
  EXPECT_EQ(rocm5() ? 2u : 1u, range->pins);  // a single deregistration leaks the other
  ok(hipHostUnregister(data_));
  EXPECT_EQ(rocm5(), roc::host_hip::host_ranges::instance().find(data_).has_value());
  expect(rocm5() ? hipSuccess : hipErrorHostMemoryNotRegistered, hipHostUnregister(data_));
  expect(hipErrorHostMemoryNotRegistered, hipHostUnregister(data_));
}

TEST_F(HostRegistration, RangeThatBeginsInRegisteredRangeFailsExceptUnderOldRules) {
  ok(hipHostRegister(data_ + 1000, 1000, 0));
  expect(rocm5() ? hipSuccess : hipErrorHostMemoryAlreadyRegistered,
         hipHostRegister(data_ + 1500, 1000, 0));
  if (rocm5()) ok(hipHostUnregister(data_ + 1500));
  ok(hipHostUnregister(data_ + 1000));
}

TEST_F(HostRegistration, RangeThatBeginsBeforeRegisteredRangeFailsUnderCudaRulesOnly) {
  ok(hipHostRegister(data_ + 1000, 1000, 0));
  auto const expected = cuda() ? hipErrorHostMemoryAlreadyRegistered : hipSuccess;
  expect(expected, hipHostRegister(data_ + 500, 1000, 0));
  if (!cuda()) ok(hipHostUnregister(data_ + 500));
  expect(expected, hipHostRegister(data_, 8192, 0));
  if (!cuda()) {
    // An address in the outer range after the inner range is registered.
    hipPointerAttribute_t attributes{};
    ok(hipPointerGetAttributes(&attributes, data_ + 5000));
    EXPECT_EQ(data_ + 5000, attributes.hostPointer);
    EXPECT_EQ(hipMemoryTypeHost, attributes.type);
    ok(hipHostUnregister(data_));
  }
  ok(hipHostUnregister(data_ + 1000));
}

TEST_F(HostRegistration, AdjacentRangesDoNotOverlap) {
  ok(hipHostRegister(data_, 1000, 0));
  ok(hipHostRegister(data_ + 1000, 1000, 0));
  ok(hipHostUnregister(data_));
  ok(hipHostUnregister(data_ + 1000));
}

// Memory that was registered in parts must be copied in the same parts.
TEST_F(HostRegistration, CopyAcrossTwoRegistrationsFails) {
  void* device = nullptr;
  ok(hipMalloc(&device, 2000));
  ok(hipHostRegister(data_, 1000, 0));
  ok(hipHostRegister(data_ + 1000, 1000, 0));
  for (auto const kind : {hipMemcpyHostToDevice, hipMemcpyDeviceToHost}) {
    auto const copy = [&](std::size_t offset, std::size_t bytes) {
      bool const is_to_device = kind == hipMemcpyHostToDevice;
      return hipMemcpyAsync(is_to_device ? device : data_ + offset,
                            is_to_device ? data_ + offset : device, bytes, kind, nullptr);
    };
    expect(hipErrorInvalidValue, copy(0, 2000));
    expect(hipErrorInvalidValue, copy(999, 2));
    ok(copy(0, 1000));
    ok(copy(1000, 1000));
  }
  ok(hipDeviceSynchronize());
  ok(hipHostUnregister(data_));
  ok(hipHostUnregister(data_ + 1000));
  ok(hipFree(device));
}

TEST_F(HostRegistration, EachOfManyRangesIsFound) {
  for (int i = 0; i < 8; ++i) ok(hipHostRegister(data_ + i * 1000, 500, 0));
  hipPointerAttribute_t attributes{};
  for (int i = 0; i < 8; ++i) {
    ok(hipPointerGetAttributes(&attributes, data_ + i * 1000 + 499));
    EXPECT_EQ(data_ + i * 1000 + 499, attributes.hostPointer);
    EXPECT_FALSE(roc::host_hip::host_ranges::instance().find(data_ + i * 1000 + 500));
    EXPECT_FALSE(roc::host_hip::host_ranges::instance().straddles(data_ + i * 1000 + 500, 192));
  }
  for (int i = 0; i < 7; ++i) {
    char* const between = data_ + i * 1000 + 500;
    EXPECT_FALSE(roc::host_hip::host_ranges::instance().straddles(between, 500));
    EXPECT_TRUE(roc::host_hip::host_ranges::instance().straddles(between, 501));
    EXPECT_TRUE(roc::host_hip::host_ranges::instance().straddles(between - 1, 2));
  }
  for (int i = 0; i < 8; ++i) ok(hipHostUnregister(data_ + i * 1000));
}

TEST_F(HostRegistration, InvalidRangesAreRejected) {
  void* device = nullptr;
  ok(hipMalloc(&device, 100));
  expect(hipErrorInvalidValue, hipHostRegister(nullptr, 10, 0));
  expect(hipErrorInvalidValue, hipHostRegister(data_, 0, 0));
  expect(hipErrorInvalidValue, hipHostRegister(data_, 10, 0x100));
  expect(hipErrorInvalidValue, hipHostRegister(data_, SIZE_MAX, 0));
  expect(hipErrorInvalidValue, hipHostRegister(device, 10, 0));
  ok(hipFree(device));
}

TEST_F(HostRegistration, UnregisteringUnknownPointerFails) {
  void* pinned = nullptr;
  ok(hipHostMalloc(&pinned, 100, 0));
  expect(hipErrorHostMemoryNotRegistered, hipHostUnregister(pinned));
  expect(hipErrorHostMemoryNotRegistered, hipHostUnregister(data_));
  ok(hipHostRegister(data_, 100, 0));
  expect(hipErrorInvalidValue, hipHostFree(data_));
  ok(hipHostUnregister(data_));
  ok(hipHostFree(pinned));
}

TEST_F(HostRegistration, UnregisteringInteriorPointerFailsOrAborts) {
  ok(hipHostRegister(data_, 4096, 0));
  if (cuda()) {
    expect(hipErrorHostMemoryNotRegistered, hipHostUnregister(data_ + 64));
  } else {
    EXPECT_DEATH(static_cast<void>(hipHostUnregister(data_ + 64)), "interior pointer");
  }
  ok(hipHostUnregister(data_));
}

TEST_F(HostRegistration, DeviceAddressMayDifferAndIsCopyable) {
  ok(hipHostRegister(data_, 4096, hipHostRegisterMapped));
  void* mapped = nullptr;
  ok(hipHostGetDevicePointer(&mapped, data_ + 100, 0));
  EXPECT_EQ(cuda(), mapped == data_ + 100);
  hipPointerAttribute_t attributes{};
  ok(hipPointerGetAttributes(&attributes, mapped));
  EXPECT_EQ(data_ + 100, attributes.hostPointer);
  EXPECT_EQ(mapped, attributes.devicePointer);
  // Copies accept both addresses, and reject a copy beyond the end of the range.
  char* device = nullptr;
  char back[8] = {};
  ok(hipMalloc(&device, 8192));
  std::memcpy(data_ + 100, "by both", 8);
  ok(hipMemcpy(device, mapped, 8, hipMemcpyHostToDevice));
  ok(hipMemcpy(back, device, 8, hipMemcpyDeviceToHost));
  EXPECT_STREQ("by both", back);
  expect(hipErrorInvalidValue, hipMemcpy(device, mapped, 4096, hipMemcpyHostToDevice));
  expect(hipErrorInvalidValue, hipMemcpy(device, data_ + 100, 4096, hipMemcpyHostToDevice));
  if (!cuda()) {
    expect(hipErrorInvalidValue, hipHostGetDevicePointer(&mapped, mapped, 0));
  }
  ok(hipFree(device));
  ok(hipHostUnregister(data_));
  expect(hipErrorInvalidValue, hipHostGetDevicePointer(&mapped, data_, 0));
}

TEST_F(HostRegistration, AttributesOfUnknownMemoryDependOnRules) {
  hipPointerAttribute_t attributes{};
  hipError_t const result = hipPointerGetAttributes(&attributes, data_);
  expect(rocm5() ? hipErrorInvalidValue : hipSuccess, result);
  if (!rocm5()) {
    EXPECT_EQ(hipMemoryTypeUnregistered, attributes.type);
  }
  expect(hipErrorInvalidValue, hipPointerGetAttributes(nullptr, data_));
}

TEST_F(HostRegistration, PinnedMemoryHasItsFlags) {
  for (unsigned flags : {hipHostMallocDefault, hipHostMallocPortable,
                         hipHostMallocMapped | hipHostMallocWriteCombined, hipHostMallocCoherent}) {
    char* data = nullptr;
    ok(hipHostMalloc(&data, 1000, flags));
    unsigned kept = 99;
    ok(hipHostGetFlags(&kept, data));
    EXPECT_EQ(flags, kept);
    ok(hipHostGetFlags(&kept, data + 999));
    expect(hipErrorInvalidValue, hipHostGetFlags(&kept, data + 1000));
    hipPointerAttribute_t attributes{};
    ok(hipPointerGetAttributes(&attributes, data + 5));
    EXPECT_EQ(hipMemoryTypeHost, attributes.type);
    EXPECT_EQ(data + 5, attributes.hostPointer);
    void* mapped = nullptr;
    ok(hipHostGetDevicePointer(&mapped, data, 0));
    EXPECT_EQ(data, mapped);
    expect(hipErrorInvalidValue, hipHostGetDevicePointer(&mapped, data, 1));
    ok(hipHostFree(data));
    expect(hipErrorInvalidValue, hipHostFree(data));
  }
  void* data = &data;
  expect(hipErrorInvalidValue, hipHostMalloc(&data, 10, 0x100));
  expect(hipErrorInvalidValue,
         hipHostMalloc(&data, 10, hipHostMallocCoherent | hipHostMallocNonCoherent));
  ok(hipHostMalloc(&data, 0, 0));
  EXPECT_EQ(nullptr, data);
  ok(hipHostFree(nullptr));
  unsigned flags = 0;
  ok(hipHostRegister(data_, 10, 0));
  expect(hipErrorInvalidValue, hipHostGetFlags(&flags, data_));
  ok(hipHostUnregister(data_));
}

TEST_F(HostRegistration, LastErrorIsResultOfLastCallUnderOldRules) {
  expect(hipErrorHostMemoryNotRegistered, hipHostUnregister(data_));
  int device = 0;
  ok(hipGetDevice(&device));
  expect(rocm5() ? hipSuccess : hipErrorHostMemoryNotRegistered, hipGetLastError());
  ok(hipGetLastError());
  expect(hipErrorHostMemoryNotRegistered, hipHostUnregister(data_));
  expect(hipErrorHostMemoryNotRegistered, hipGetLastError());
}

}  // namespace
