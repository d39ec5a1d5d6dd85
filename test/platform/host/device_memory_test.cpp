// SPDX-License-Identifier: MIT
// Device memory: capacity, first-fit allocation, alignment, poison and protection. Run with 1 MiB.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "platform/host/support.hpp"

namespace {

using namespace roc::test;

constexpr std::size_t capacity = std::size_t{1} << 20;

std::size_t free_bytes() {
  std::size_t free = 0;
  std::size_t total = 0;
  ok(hipMemGetInfo(&free, &total));
  EXPECT_EQ(capacity, total);
  return free;
}

char* allocate(std::size_t bytes) {
  void* data = nullptr;
  ok(hipMalloc(&data, bytes));
  return static_cast<char*>(data);
}

TEST(HostDeviceMemory, HasCapacityAndCountsFreeBytes) {
  if (setting("ROCARRAY_HOST_MEMORY") != "1M") GTEST_SKIP() << "needs ROCARRAY_HOST_MEMORY=1M";
  EXPECT_EQ(capacity, free_bytes());
  void* data = &data;
  expect(hipErrorOutOfMemory, hipMalloc(&data, capacity + 1));
  EXPECT_EQ(nullptr, data);
  expect(hipErrorOutOfMemory, hipMalloc(&data, SIZE_MAX));
  expect(hipErrorOutOfMemory, hipMalloc(&data, SIZE_MAX - 255));
  char* const all = allocate(capacity);
  EXPECT_EQ(0u, free_bytes());
  expect(hipErrorOutOfMemory, hipMalloc(&data, 1));
  ok(hipFree(all));
  char* const first_block = allocate(1);
  EXPECT_EQ(capacity - 256, free_bytes());
  ok(hipFree(first_block));
  EXPECT_EQ(capacity, free_bytes());
}

TEST(HostDeviceMemory, ZeroBytesAreANullPointer) {
  void* data = &data;
  ok(hipMalloc(&data, 0));
  EXPECT_EQ(nullptr, data);
  ok(hipFree(nullptr));
  expect(hipErrorInvalidValue, hipMalloc(static_cast<void**>(nullptr), 1));
}

TEST(HostDeviceMemory, AllocationIsAlignedAndFirstFit) {
  char* const a = allocate(100);
  char* const b = allocate(700);
  char* const c = allocate(1);
  EXPECT_EQ(0u, reinterpret_cast<std::uintptr_t>(a) % 256);
  EXPECT_EQ(a + 256, b);
  EXPECT_EQ(b + 768, c);
  ok(hipFree(b));
  char* const small = allocate(256);
  char* const large = allocate(769);
  char* const rest = allocate(512);
  EXPECT_EQ(b, small);
  EXPECT_EQ(c + 256, large);
  EXPECT_EQ(b + 256, rest);
  for (char* data : {a, c, small, large, rest}) ok(hipFree(data));
}

TEST(HostDeviceMemory, AllocationNeedsContiguousGap) {
  if (setting("ROCARRAY_HOST_MEMORY") != "1M") GTEST_SKIP() << "needs ROCARRAY_HOST_MEMORY=1M";
  char* const a = allocate(capacity / 4);
  char* const b = allocate(capacity / 2);
  char* const c = allocate(capacity / 4);
  ok(hipFree(a));
  ok(hipFree(c));
  void* data = nullptr;
  expect(hipErrorOutOfMemory,
         hipMalloc(&data, capacity / 2));  // enough is free, but not contiguous
  ok(hipFree(b));
  ok(hipFree(allocate(capacity)));
}

TEST(HostDeviceMemory, FreeRejectsPointersThatAreNotAllocations) {
  char* const data = allocate(1000);
  int local = 0;
  expect(hipErrorInvalidValue, hipFree(data + 256));
  expect(hipErrorInvalidValue, hipFree(data + 1));
  expect(hipErrorInvalidValue, hipFree(data + 4096));
  expect(hipErrorInvalidValue, hipFree(&local));
  void* pinned = nullptr;
  ok(hipHostMalloc(&pinned, 100, 0));
  expect(hipErrorInvalidValue, hipFree(pinned));
  expect(hipErrorInvalidValue, hipHostFree(data));
  ok(hipHostFree(pinned));
  ok(hipFree(data));
  expect(hipErrorInvalidValue, hipFree(data));
}

TEST(HostDeviceMemory, IsInvalidAfterTheCallThatFreesItInStreamOrder) {
  gate blocked;
  auto const stream = make_stream(hipStreamNonBlocking);
  void* data = nullptr;
  hipPointerAttribute_t attributes{};
  ok(hipMallocAsync(&data, 1000, stream));
  blocked.close(stream);
  ok(hipMemsetAsync(data, 1, 1000, stream));
  ok(hipFreeAsync(data, stream));
  expect(hipErrorInvalidValue, hipFreeAsync(data, stream));
  expect(hipErrorInvalidValue, hipFree(data));
  expect(hipErrorInvalidValue, hipMemsetAsync(data, 2, 1000, stream));
  expect(hipErrorInvalidValue, hipPointerGetAttributes(&attributes, data));
  blocked.open();
  ok(hipStreamSynchronize(stream));
  // The memory that is allocated next at the address is not freed by one of the calls above.
  char* const next = allocate(1000);
  EXPECT_EQ(data, next);
  ok(hipStreamSynchronize(stream));
  ok(hipMemsetAsync(next, 3, 1000, stream));
  ok(hipStreamDestroy(stream));
  ok(hipFree(next));
}

TEST(HostDeviceMemory, IsPoisonedWhenAllocatedAndFreed) {
  if (setting("ROCARRAY_HOST_POISON") != "on") GTEST_SKIP() << "needs ROCARRAY_HOST_POISON=on";
  unsigned char back[512] = {};
  char* const data = allocate(512);
  ok(hipMemcpy(back, data, 512, hipMemcpyDeviceToHost));
  EXPECT_EQ(512, std::count(back, back + 512, roc::host_hip::fresh_poison));
  ok(hipMemsetAsync(data, 7, 512, nullptr));
  ok(hipFree(data));
  // A kernel can read freed memory: its pointers are not checked.
  auto const* const stale = reinterpret_cast<unsigned char*>(data);
  struct job {
    unsigned char const* from;
    unsigned char* to;
  } copy{stale, back};
  ok(launch_host_kernel(
      nullptr, 512,
      [](void* closure, std::size_t begin, std::size_t end) {
        auto const& j = *static_cast<job*>(closure);
        std::memcpy(j.to + begin, j.from + begin, end - begin);
      },
      &copy, [](void*) {}));
  ok(hipDeviceSynchronize());
  EXPECT_EQ(512, std::count(back, back + 512, roc::host_hip::freed_poison));
}

TEST(HostDeviceMemoryDeathTest, HostAccessFaultsAndKernelAccessWorks) {
  if (setting("ROCARRAY_HOST_PROTECT") != "on") GTEST_SKIP() << "needs ROCARRAY_HOST_PROTECT=on";
  char* const data = allocate(4096);
  auto const add = [](void* closure, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) static_cast<volatile char*>(closure)[i] = 5;
  };
  ok(launch_host_kernel(nullptr, 4096, add, data, [](void*) {}));
  char back[4096];
  ok(hipMemcpy(back, data, sizeof back, hipMemcpyDeviceToHost));
  EXPECT_TRUE(std::all_of(back, back + 4096, [](char b) { return b == 5; }));
  EXPECT_DEATH(*static_cast<char volatile*>(data) = 1, "");
  EXPECT_DEATH(std::exit(*static_cast<char volatile*>(data)), "");
  ok(hipFree(data));
}

}  // namespace
