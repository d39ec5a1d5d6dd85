// SPDX-License-Identifier: MIT
// Device and pinned memory: results of allocations, frees and pointer attributes.
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
  check(memory == nullptr, "hipMalloc of 0 bytes returns a null pointer");
  expect(hipSuccess, hipFree(nullptr), "hipFree(nullptr)");

  device_memory one(1);
  device_memory odd(1001);
  auto const aligned = [](void* p) { return reinterpret_cast<std::uintptr_t>(p) % 256 == 0; };
  check(aligned(one.data) && aligned(odd.data), "allocations are aligned to 256 bytes");

  expect(hipErrorOutOfMemory, hipMalloc(&memory, std::size_t{1} << 50),
         "hipMalloc of too much memory returns 2");
  expect(hipErrorInvalidValue, hipFree(&memory), "hipFree of a host pointer returns 1");
  expect(hipErrorInvalidValue, hipFree(static_cast<char*>(odd.data) + 256),
         "hipFree of an interior pointer returns 1");

  // Other processes may free memory meanwhile.
  constexpr std::size_t large_bytes = std::size_t{256} << 20;
  bool counts = false;
  for (int attempt = 0; attempt != 10 && !counts; ++attempt) {
    std::size_t available = 0;
    std::size_t total = 0;
    expect(hipSuccess, hipMemGetInfo(&available, &total), "hipMemGetInfo");
    std::size_t less = 0;
    {
      device_memory large(large_bytes);
      expect(hipSuccess, hipMemGetInfo(&less, &total), "hipMemGetInfo again");
    }
    counts = less + large_bytes <= available && available <= total;
  }
  check(counts, "hipMemGetInfo counts allocated memory");
}

void last_errors() {
  void* memory = nullptr;
  (void)hipMalloc(&memory, std::size_t{1} << 50);
  check(hipPeekAtLastError() == hipErrorOutOfMemory, "a failure becomes the last error");
  int device = 0;
  (void)hipGetDevice(&device);
  check(hipPeekAtLastError() == hipErrorOutOfMemory,
        "a later call that succeeds keeps the last error");
  check(hipGetLastError() == hipErrorOutOfMemory, "hipGetLastError returns the last error");
  check(hipGetLastError() == hipSuccess, "hipGetLastError clears the last error");
  device_memory after(64);
  expect(hipSuccess, hipMemsetAsync(after.data, 0, 64, nullptr), "calls succeed after a failure");
  expect(hipSuccess, hipDeviceSynchronize(), "hipDeviceSynchronize");
}

void pinned_allocations() {
  pinned_memory plain(1001);
  pinned_memory mapped(4096, hipHostMallocMapped | hipHostMallocPortable);
  unsigned flags = 0;
  expect(hipSuccess, hipHostGetFlags(&flags, mapped.data), "hipHostGetFlags");
  // With unified addresses CUDA pins memory for every device and does not report Portable.
  check((flags & hipHostMallocMapped) != 0, "hipHostGetFlags reports Mapped");
  expect(hipErrorInvalidValue, hipHostGetFlags(&flags, &flags),
         "hipHostGetFlags of pageable memory returns 1");

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
  expect(hipSuccess, hipPointerGetAttributes(&attributes, on_device.data),
         "attributes of device memory");
  check(kind_of(attributes) == memory_kind::device && attributes.device == 0,
        "device memory has kind device and device 0");
  expect(hipSuccess, hipPointerGetAttributes(&attributes, on_host.data),
         "attributes of pinned memory");
  check(kind_of(attributes) == memory_kind::host, "pinned memory has kind host");
  hipError_t const error = hipPointerGetAttributes(&attributes, &unknown);
  check(hipPeekAtLastError() == hipSuccess, "attributes of pageable memory set no last error");
  expect(hipErrorInvalidValue, error, "attributes of pageable memory return 1");
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
