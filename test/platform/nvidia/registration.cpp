// SPDX-License-Identifier: MIT
// Registered host memory: which ranges may be registered at once, and error codes.
#include "support.hpp"

#include <algorithm>
#include <cstring>

namespace probe {

namespace {

constexpr std::size_t page = 4096;

/// Page-aligned pageable memory.
struct pages {
  explicit pages(std::size_t count)
      : size(count * page), data(static_cast<unsigned char*>(std::aligned_alloc(page, size))) {
    auto const bytes = pattern(size, 7);
    std::copy(bytes.begin(), bytes.end(), data);
  }
  ~pages() { std::free(data); }
  pages(pages const&) = delete;
  pages& operator=(pages const&) = delete;

  std::size_t size;
  unsigned char* data;
};

bool copies(unsigned char* from, std::size_t size) {
  owned_stream stream;
  device_memory device(size);
  std::vector<unsigned char> back(size);
  need(hipMemcpyAsync(device.data, from, size, hipMemcpyHostToDevice, stream.handle), "to device");
  need(hipMemcpyAsync(back.data(), device.data, size, hipMemcpyDeviceToHost, stream.handle),
       "back");
  need(hipStreamSynchronize(stream.handle), "hipStreamSynchronize");
  return std::memcmp(back.data(), from, size) == 0;
}

void adjacent_ranges() {
  pages memory(3);
  unsigned char* const first = memory.data + 100;
  unsigned char* const second = first + 5000;
  need(hipHostRegister(first, 5000, hipHostRegisterDefault), "register 5000 bytes");
  hipError_t const adjacent = hipHostRegister(second, 3000, hipHostRegisterDefault);
  expect(hipSuccess, adjacent, "register a range that shares a page but no byte");
  check(copies(first, 5000), "the first range can be copied");
  check(copies(second, 3000), "the second range can be copied");
  expect(hipSuccess, hipHostUnregister(first), "unregister the first");
  check(copies(second, 3000), "the second range can still be copied");
  if (adjacent == hipSuccess)
    expect(hipSuccess, hipHostUnregister(second), "unregister the second");
  expect(hipSuccess, hipHostRegister(first, 5000, hipHostRegisterDefault), "register again");
  expect(hipSuccess, hipHostUnregister(first), "unregister again");
}

void refusals() {
  pages memory(8);
  unsigned char* const range = memory.data + page;
  auto const already = hipErrorHostMemoryAlreadyRegistered;
  auto const unknown = hipErrorHostMemoryNotRegistered;
  need(hipHostRegister(range, 4 * page, hipHostRegisterDefault), "register 4 pages");
  expect(already, hipHostRegister(range, 4 * page, 0), "registering the same range returns 712");
  expect(already, hipHostRegister(range, page, 0), "registering its beginning returns 712");
  expect(already, hipHostRegister(range + page, page, 0), "registering its middle returns 712");
  expect(already, hipHostRegister(range + 3 * page, 2 * page, 0),
         "registering across its end returns 712");
  expect(already, hipHostRegister(memory.data, 2 * page, 0),
         "registering across its start returns 712");
  expect(already, hipHostRegister(memory.data, memory.size, 0),
         "registering a range around it returns 712");

  (void)hipHostRegister(range, page, 0);
  check(hipGetLastError() == already, "a failed registration becomes the last error");
  check(hipGetLastError() == hipSuccess, "hipGetLastError clears it");

  hipError_t const interior = hipHostUnregister(range + page);
  note(interior, "unregister an interior pointer");
  check(interior != hipSuccess, "unregistering an interior pointer fails");
  expect(unknown, hipHostUnregister(memory.data + 6 * page),
         "unregistering unknown memory returns 713");
  check(copies(range, 4 * page), "the range can still be copied");
  expect(hipSuccess, hipHostUnregister(range), "unregister");
  expect(unknown, hipHostUnregister(range), "unregistering twice returns 713");
  expect(hipErrorInvalidValue, hipHostRegister(range, 0, 0), "registering 0 bytes returns 1");

  pinned_memory pinned(page);
  hipError_t const pinned_too = hipHostRegister(pinned.data, page, 0);
  note(pinned_too, "register pinned memory");
  if (pinned_too == hipSuccess) need(hipHostUnregister(pinned.data), "unregister pinned memory");
}

void straddling() {
  pages memory(4);
  device_memory device(memory.size);
  need(hipHostRegister(memory.data, 2 * page, hipHostRegisterDefault), "register half");
  hipError_t error =
      hipMemcpyAsync(device.data, memory.data, memory.size, hipMemcpyHostToDevice, nullptr);
  note(error, "copy across the end of a registered range");
  if (error == hipSuccess) note(hipStreamSynchronize(nullptr), "synchronization after that copy");
  error =
      hipMemcpyAsync(device.data, memory.data + 2 * page, 2 * page, hipMemcpyHostToDevice, nullptr);
  expect(hipSuccess, error, "copy of the pageable rest");
  need(hipStreamSynchronize(nullptr), "hipStreamSynchronize");
  expect(hipSuccess, hipHostUnregister(memory.data), "unregister");
}

void kinds() {
  pages memory(1);
  expect(hipSuccess,
         hipHostRegister(memory.data, page, hipHostRegisterMapped | hipHostRegisterPortable),
         "register mapped and portable");
  hipPointerAttribute_t attributes{};
  expect(hipSuccess, hipPointerGetAttributes(&attributes, memory.data),
         "attributes of registered memory");
  using roc::native_detail::memory_kind;
  check(roc::native_detail::kind_of(attributes) == memory_kind::host,
        "registered memory has kind host");
  void* device = nullptr;
  expect(hipSuccess, hipHostGetDevicePointer(&device, memory.data, 0),
         "device pointer of registered memory");
  int value = 40;
  std::memcpy(memory.data, &value, sizeof value);
  add(static_cast<int*>(device), 1, 2, nullptr);
  need(hipDeviceSynchronize(), "hipDeviceSynchronize");
  std::memcpy(&value, memory.data, sizeof value);
  check(value == 42, "a kernel writes registered memory");
  expect(hipSuccess, hipHostUnregister(memory.data), "unregister");
  hipError_t const error = hipHostRegister(memory.data, page, hipHostRegisterReadOnly);
  note(error, "register read-only");
  if (error == hipSuccess) (void)hipHostUnregister(memory.data);
}

}  // namespace

void probe_registration() {
  section("registration");
  adjacent_ranges();
  refusals();
  straddling();
  kinds();
}

}  // namespace probe
