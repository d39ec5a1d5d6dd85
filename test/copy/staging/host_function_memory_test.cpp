// SPDX-License-Identifier: MIT
// Copies that run as host functions of a stream need no memory there: on that thread of the runtime
// no exception can be caught.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <thread>
#include <vector>

#include "support/gate.hpp"

namespace {

// While true, operator new fails in all threads but the main thread.
std::atomic<bool> others_fail = false;
std::thread::id const main_thread = std::this_thread::get_id();

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (others_fail.load() && std::this_thread::get_id() != main_thread) throw std::bad_alloc();
  void* const data = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (data == nullptr) throw std::bad_alloc();
  return data;
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept {
  try {
    return operator new(bytes);
  } catch (std::bad_alloc const&) {
    return nullptr;
  }
}
void operator delete(void* data) noexcept { std::free(data); }
void operator delete(void* data, std::size_t) noexcept { std::free(data); }
void operator delete(void* data, std::align_val_t) noexcept { std::free(data); }
void operator delete(void* data, std::size_t, std::align_val_t) noexcept { std::free(data); }

namespace {

using bytes = std::vector<std::uint8_t>;

TEST(HostFunctionMemory, CopiesAndFillsSucceedWithoutMemory) {
  constexpr std::size_t count = std::size_t{1} << 20;
  auto const source = bytes(count, 3);
  auto const array = roc::to_device(source);
  roc::device_array<std::uint8_t> const other({count});
  bytes downloaded(count), copied(count), filled(count), batched(count);
  roc::stream const stream;
  auto const enqueue = [&] {
    array.copy_to_host(downloaded, stream);
    roc::copy(source, copied, stream);
    roc::fill(filled, std::uint8_t{4}, stream);
    roc::copy(source, other, stream, roc::borrow_source);
    roc::copy_batch().add(array, batched).submit(stream);
  };
  enqueue();  // starts the threads and allocates the staging memory
  stream.synchronize();
  for (auto* const memory : {&downloaded, &copied, &filled, &batched}) memory->assign(count, 0);
  other.zero();
  roc::test::gate stream_gate;
  stream_gate.close(stream);
  enqueue();
  others_fail = true;
  stream_gate.open();
  stream.synchronize();
  others_fail = false;
  EXPECT_EQ(source, downloaded);
  EXPECT_EQ(source, copied);
  EXPECT_EQ(bytes(count, 4), filled);
  EXPECT_EQ(source, batched);
  EXPECT_EQ(3, other(static_cast<std::ptrdiff_t>(count) - 1).get());
}

}  // namespace
