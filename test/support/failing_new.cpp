// SPDX-License-Identifier: MIT
#include "support/failing_new.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>

namespace {

// The number of allocations until one fails. It is 0 after the failure, and negative if none is to
// fail.
thread_local long countdown = -1;

// Of all threads.
std::atomic<long> live = 0;
std::atomic<long> count = 0;
std::atomic<long> first_failure = 0;  // 0: none
std::atomic<bool> all_later_fail = false;

bool is_due() noexcept {
  if (countdown > 0 && --countdown == 0) return true;
  long const number = count.fetch_add(1, std::memory_order_relaxed) + 1;
  long const first = first_failure.load(std::memory_order_relaxed);
  return first != 0 &&
         (number == first || (number > first && all_later_fail.load(std::memory_order_relaxed)));
}

void* allocate_or_null(std::size_t bytes, std::size_t alignment) noexcept {
  if (is_due()) return nullptr;
  std::size_t const size = std::max<std::size_t>(bytes, 1);
  void* const data = alignment <= alignof(std::max_align_t)
                         ? std::malloc(size)
                         : std::aligned_alloc(alignment, (size + alignment - 1) & ~(alignment - 1));
  if (data != nullptr) live.fetch_add(1, std::memory_order_relaxed);
  return data;
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  void* const data = allocate_or_null(bytes, alignment);
  if (data == nullptr) throw std::bad_alloc();
  return data;
}

void deallocate(void* data) noexcept {
  if (data == nullptr) return;
  live.fetch_sub(1, std::memory_order_relaxed);
  std::free(data);
}

}  // namespace

namespace roc::test {

failing_new::failing_new(long nth) noexcept { countdown = nth; }

failing_new::~failing_new() { countdown = -1; }

bool failing_new::has_failed() const noexcept { return countdown == 0; }

void fail_new_of_all_threads(long nth, bool all_later) noexcept {
  count = 0;
  all_later_fail = all_later;
  first_failure = nth;
}

bool has_new_failed() noexcept {
  long const first = first_failure;
  return first != 0 && count >= first;
}

long stop_failing_new() noexcept {
  first_failure = 0;
  return count;
}

long live_allocations() noexcept { return live; }

}  // namespace roc::test

// All forms, because sanitizers replace those that a program does not.
void* operator new(std::size_t bytes) { return allocate(bytes, 1); }
void* operator new[](std::size_t bytes) { return allocate(bytes, 1); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept {
  return allocate_or_null(bytes, 1);
}
void* operator new[](std::size_t bytes, std::nothrow_t const&) noexcept {
  return allocate_or_null(bytes, 1);
}
void* operator new(std::size_t bytes, std::align_val_t alignment, std::nothrow_t const&) noexcept {
  return allocate_or_null(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment,
                     std::nothrow_t const&) noexcept {
  return allocate_or_null(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* data) noexcept { deallocate(data); }
void operator delete[](void* data) noexcept { deallocate(data); }
void operator delete(void* data, std::size_t) noexcept { deallocate(data); }
void operator delete[](void* data, std::size_t) noexcept { deallocate(data); }
void operator delete(void* data, std::align_val_t) noexcept { deallocate(data); }
void operator delete[](void* data, std::align_val_t) noexcept { deallocate(data); }
void operator delete(void* data, std::size_t, std::align_val_t) noexcept { deallocate(data); }
void operator delete[](void* data, std::size_t, std::align_val_t) noexcept { deallocate(data); }
void operator delete(void* data, std::nothrow_t const&) noexcept { deallocate(data); }
void operator delete[](void* data, std::nothrow_t const&) noexcept { deallocate(data); }
void operator delete(void* data, std::align_val_t, std::nothrow_t const&) noexcept {
  deallocate(data);
}
void operator delete[](void* data, std::align_val_t, std::nothrow_t const&) noexcept {
  deallocate(data);
}
