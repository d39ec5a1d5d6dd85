// SPDX-License-Identifier: MIT
// Device and pinned memory: what allocation, freeing and pointer attributes answer.
#include "support.hpp"

#include <cstdint>
#include <cstdio>

namespace probe {

namespace {

using roc::native_detail::kind_of;
using roc::native_detail::memory_kind;

void device_allocations() {
  void* memory = &memory;
  note(hipMalloc(&memory, 0), "hipMalloc of 0 bytes");
  check(memory == nullptr, "and gives a null pointer");
  expect(hipSuccess, hipFree(nullptr), "hipFree(nullptr)");

  device_memory one(1);
  device_memory odd(1001);
  auto const aligned = [](void* p) { return reinterpret_cast<std::uintptr_t>(p) % 256 == 0; };
  check(aligned(one.data) && aligned(odd.data), "allocations are aligned to 256 bytes");

  expect(hipErrorOutOfMemory, hipMalloc(&memory, std::size_t{1} << 50), "too much memory: 2");
  expect(hipErrorInvalidValue, hipFree(&memory), "hipFree of a host pointer: 1");
  expect(hipErrorInvalidValue, hipFree(static_cast<char*>(odd.data) + 256),
         "hipFree of an interior pointer: 1");

  std::size_t available = 0;
  std::size_t total = 0;
  expect(hipSuccess, hipMemGetInfo(&available, &total), "hipMemGetInfo");
  std::size_t less = 0;
  {
    device_memory large(std::size_t{256} << 20);
    expect(hipSuccess, hipMemGetInfo(&less, &total), "hipMemGetInfo again");
  }
  check(less + (std::size_t{256} << 20) <= available && available <= total, "counts what is taken");
}

void last_errors() {
  void* memory = nullptr;
  (void)hipMalloc(&memory, std::size_t{1} << 50);
  check(hipPeekAtLastError() == hipErrorOutOfMemory, "a failure stays the last error");
  int device = 0;
  (void)hipGetDevice(&device);
  check(hipPeekAtLastError() == hipErrorOutOfMemory, "also after a call that succeeds");
  check(hipGetLastError() == hipErrorOutOfMemory, "hipGetLastError tells it");
  check(hipGetLastError() == hipSuccess, "and clears it");
  device_memory after(64);
  expect(hipSuccess, hipMemsetAsync(after.data, 0, 64, nullptr), "calls work afterwards");
  expect(hipSuccess, hipDeviceSynchronize(), "hipDeviceSynchronize");
}

void pinned_allocations() {
  pinned_memory plain(1001);
  pinned_memory mapped(4096, hipHostMallocMapped | hipHostMallocPortable);
  unsigned flags = 0;
  expect(hipSuccess, hipHostGetFlags(&flags, mapped.data), "hipHostGetFlags");
  // CUDA pins for every device where addresses are unified, and then does not tell Portable.
  check((flags & hipHostMallocMapped) != 0, "that it is mapped is told");
  expect(hipErrorInvalidValue, hipHostGetFlags(&flags, &flags), "of pageable memory: 1");

  int* const host = static_cast<int*>(mapped.data);
  host[0] = 40;
  void* device = nullptr;
  expect(hipSuccess, hipHostGetDevicePointer(&device, host, 0), "hipHostGetDevicePointer");
  add(static_cast<int*>(device), 1, 2, nullptr);
  need(hipDeviceSynchronize(), "hipDeviceSynchronize");
  check(host[0] == 42, "a kernel writes mapped memory");
  expect(hipSuccess, hipHostFree(nullptr), "hipHostFree(nullptr)");
}

void pointer_attributes() {
  device_memory on_device(64);
  pinned_memory on_host(64);
  int unknown = 0;
  hipPointerAttribute_t attributes{};
  expect(hipSuccess, hipPointerGetAttributes(&attributes, on_device.data), "of device memory");
  check(kind_of(attributes) == memory_kind::device && attributes.device == 0, "it is the device's");
  expect(hipSuccess, hipPointerGetAttributes(&attributes, on_host.data), "of pinned memory");
  check(kind_of(attributes) == memory_kind::host, "it is the host's");
  hipError_t const error = hipPointerGetAttributes(&attributes, &unknown);
  check(hipPeekAtLastError() == hipSuccess, "of pageable memory: no last error");
  expect(hipErrorInvalidValue, error, "but 1");
}

}  // namespace

void probe_memory() {
  section("memory");
  device_allocations();
  last_errors();
  pinned_allocations();
  pointer_attributes();
}

}  // namespace probe
