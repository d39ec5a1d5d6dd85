// SPDX-License-Identifier: MIT
#include "support/failing_new.hpp"

#include <cstddef>
#include <cstdlib>

namespace {

// The number of allocations until one fails. It is 0 after the failure, and negative if none is to
// fail.
thread_local long countdown = -1;

}  // namespace

namespace roc::test {

failing_new::failing_new(long nth) noexcept { countdown = nth; }

failing_new::~failing_new() { countdown = -1; }

bool failing_new::has_failed() const noexcept { return countdown == 0; }

}  // namespace roc::test

// The other forms of operator new, except for over-aligned memory, call this one.
void* operator new(std::size_t bytes) {
  if (countdown > 0 && --countdown == 0) throw std::bad_alloc();
  void* const data = std::malloc(bytes == 0 ? 1 : bytes);
  if (data == nullptr) throw std::bad_alloc();
  return data;
}

void operator delete(void* data) noexcept { std::free(data); }
void operator delete(void* data, std::size_t) noexcept { std::free(data); }
