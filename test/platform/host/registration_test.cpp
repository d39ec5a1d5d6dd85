// SPDX-License-Identifier: MIT
// Pinned and registered memory by the rules of CUDA and of three versions of ROCm. Run once for
// each, with ROCARRAY_HOST_STRICT.
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "platform/host/host_ranges.hpp"
#include "platform/host/support.hpp"

namespace {

using namespace roc::test;

bool rocm5() { return setting("ROCARRAY_HOST_EMULATE") == "rocm5"; }
bool rocm6() { return setting("ROCARRAY_HOST_EMULATE") == "rocm6"; }
bool rocm7() { return setting("ROCARRAY_HOST_EMULATE") == "rocm7"; }
bool cuda() { return !rocm5() && !rocm6() && !rocm7(); }
bool accepts_overlaps() { return rocm5() || rocm6(); }

class HostRegistration : public testing::Test {
 protected:
  void TearDown() override { static_cast<void>(hipGetLastError()); }
  std::vector<char> memory_ = std::vector<char>(8192, 'x');
  char* const data_ = memory_.data();
};

TEST_F(HostRegistration, SameRangeTwiceIsCountedAcceptedOrRejected) {
  ok(hipHostRegister(data_, 4096, 0));
  expect(accepts_overlaps() ? hipSuccess : hipErrorHostMemoryAlreadyRegistered,
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
  expect(accepts_overlaps() ? hipSuccess : hipErrorHostMemoryAlreadyRegistered,
         hipHostRegister(data_ + 1500, 1000, 0));
  if (accepts_overlaps()) ok(hipHostUnregister(data_ + 1500));
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
    // ROCm looks for the range of the first byte only.
    EXPECT_EQ(cuda(), roc::host_hip::host_ranges::instance().straddles(between, 501));
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
  if (cuda()) {
    expect(hipErrorHostMemoryNotRegistered, hipHostUnregister(pinned));
  } else {
    EXPECT_DEATH(static_cast<void>(hipHostUnregister(pinned)), "memory of hipHostMalloc");
  }
  expect(hipErrorInvalidValue, hipHostUnregister(nullptr));
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

TEST_F(HostRegistration, PinnedMemoryIsRejected) {
  char* pinned = nullptr;
  ok(hipHostMalloc(&pinned, 4096, 0));
  expect(cuda() ? hipErrorHostMemoryAlreadyRegistered : hipErrorInvalidValue,
         hipHostRegister(pinned + 100, 100, 0));
  ok(hipHostFree(pinned));
}

TEST_F(HostRegistration, PagesMustAllowTheAccess) {
  constexpr std::size_t bytes = 3 * 4096;
  void* const mapped =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  auto* const data = static_cast<char*>(mapped);
  for (auto [protection, is_readable] : {std::pair{PROT_READ, true}, std::pair{PROT_NONE, false}}) {
    mprotect(data + 4096, 4096, protection);
    expect(hipErrorInvalidValue, hipHostRegister(data, bytes, 0));
    expect(hipErrorInvalidValue, hipHostRegister(data + 8191, 1, 0));
    expect(is_readable ? hipSuccess : hipErrorInvalidValue,
           hipHostRegister(data, bytes, hipHostRegisterReadOnly));
    if (is_readable) ok(hipHostUnregister(data));
    ok(hipHostRegister(data, 4096, 0));
    ok(hipHostUnregister(data));
    ok(hipHostRegister(data + 8192, 4096, 0));
    ok(hipHostUnregister(data + 8192));
  }
  munmap(data + 4096, 4096);
  expect(hipErrorInvalidValue, hipHostRegister(data, bytes, hipHostRegisterReadOnly));
  munmap(data, bytes);
}

TEST_F(HostRegistration, KernelMayUseDeviceAddress) {
  std::fill(memory_.begin(), memory_.end(), 'x');
  ok(hipHostRegister(data_ + 1, 5000, hipHostRegisterMapped));
  void* mapped = nullptr;
  ok(hipHostGetDevicePointer(&mapped, data_ + 1, 0));
  auto const add = [](void* closure, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) ++static_cast<char*>(closure)[i];
  };
  auto const stream = make_stream();
  ok(launch_host_kernel(stream, 4999, add, mapped, [](void*) {}));
  ok(hipStreamSynchronize(stream));
  std::string expected = "x" + std::string(4999, 'y') + std::string(8192 - 5000, 'x');
  EXPECT_EQ(expected, std::string(memory_.begin(), memory_.end()));
  // What the host and a copy write between kernels is visible at the device address.
  data_[10] = expected[10] = 'c';
  ok(hipMemcpy(data_ + 20, "copied", 6, hipMemcpyHostToHost));
  expected.replace(20, 6, "copied");
  ok(launch_host_kernel(stream, 4999, add, mapped, [](void*) {}));
  ok(hipStreamSynchronize(stream));
  for (std::size_t i = 1; i < 5000; ++i) ++expected[i];
  EXPECT_EQ(expected, std::string(memory_.begin(), memory_.end()));
  if (!cuda()) {
    EXPECT_DEATH(*static_cast<char volatile*>(mapped) = 1, "");
  }
  ok(hipHostUnregister(data_ + 1));
  ok(hipStreamDestroy(stream));
}

TEST_F(HostRegistration, PinnedAndRegisteredMemoryIsHostAndDeviceMemory) {
  void* pinned = nullptr;
  void* device = nullptr;
  void* mapped = nullptr;
  ok(hipHostMalloc(&pinned, 64, 0));
  ok(hipMalloc(&device, 64));
  ok(hipHostRegister(data_, 64, hipHostRegisterMapped));
  ok(hipHostGetDevicePointer(&mapped, data_, 0));
  char pageable[64] = {};
  for (void* both : {pinned, static_cast<void*>(data_), mapped}) {
    ok(hipMemcpy(both, pageable, 64, hipMemcpyHostToDevice));
    ok(hipMemcpy(pageable, both, 64, hipMemcpyDeviceToHost));
    ok(hipMemcpy(both, device, 64, hipMemcpyDeviceToDevice));
    ok(hipMemcpy(device, both, 64, hipMemcpyHostToDevice));
    ok(hipMemcpy(pageable, both, 64, hipMemcpyHostToHost));
    for (auto kind : {hipMemcpyHostToHost, hipMemcpyHostToDevice, hipMemcpyDeviceToHost,
                      hipMemcpyDeviceToDevice}) {
      ok(hipMemcpy(pinned, both, 64, kind));
    }
  }
  expect(cuda() ? hipErrorInvalidValue : hipSuccess,
         hipMemcpy(device, pinned, 64, hipMemcpyHostToHost));
  ok(hipHostUnregister(data_));
  ok(hipHostFree(pinned));
  ok(hipFree(device));
}

TEST_F(HostRegistration, AttributesOfUnknownMemoryDependOnRules) {
  hipPointerAttribute_t attributes{};
  hipError_t const result = hipPointerGetAttributes(&attributes, data_);
  expect(rocm5() ? hipErrorInvalidValue : hipSuccess, result);
  EXPECT_EQ(-2, attributes.device);
  if (!rocm5()) {
    EXPECT_EQ(hipMemoryTypeUnregistered, attributes.type);
  }
  expect(cuda() ? hipSuccess : hipErrorInvalidValue, hipPointerGetAttributes(&attributes, nullptr));
  void* freed = nullptr;
  ok(hipMalloc(&freed, 64));
  ok(hipFree(freed));
  expect(hipErrorInvalidValue, hipPointerGetAttributes(&attributes, freed));
  expect(hipErrorInvalidValue, hipPointerGetAttributes(nullptr, data_));
}

TEST_F(HostRegistration, PinnedMemoryHasItsFlags) {
  for (unsigned flags : {hipHostMallocDefault, hipHostMallocPortable,
                         hipHostMallocMapped | hipHostMallocWriteCombined, hipHostMallocCoherent,
                         hipHostMallocNumaUser | hipHostMallocPortable}) {
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
  bool const accepts_unknown_flags = rocm6() || rocm7();
  expect(accepts_unknown_flags ? hipSuccess : hipErrorInvalidValue,
         hipHostMalloc(&data, 10, 0x100));
  if (accepts_unknown_flags) ok(hipHostFree(data));
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

TEST_F(HostRegistration, LastErrorIsResultOfLastCallBeforeRocm7) {
  expect(hipErrorHostMemoryNotRegistered, hipHostUnregister(data_));
  int device = 0;
  ok(hipGetDevice(&device));
  bool const keeps_last_result = rocm5() || rocm6();
  expect(keeps_last_result ? hipSuccess : hipErrorHostMemoryNotRegistered, hipGetLastError());
  ok(hipGetLastError());
  gate blocked;
  auto const stream = make_stream();
  blocked.close(stream);
  ok(hipLaunchHostFunc(
      stream, [](void*) {}, nullptr));
  if (hipStreamQuery(stream) == hipErrorNotReady) {
    expect(keeps_last_result ? hipErrorNotReady : hipSuccess, hipGetLastError());
  }
  blocked.open();
  ok(hipStreamSynchronize(stream));
  ok(hipStreamDestroy(stream));
  expect(hipErrorHostMemoryNotRegistered, hipHostUnregister(data_));
  expect(hipErrorHostMemoryNotRegistered, hipGetLastError());
}

}  // namespace
