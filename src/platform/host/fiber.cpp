// SPDX-License-Identifier: MIT
#include "platform/host/fiber.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include <boost/context/preallocated.hpp>
#include <boost/context/stack_context.hpp>

#include "base/round_up.hpp"
#include "platform/host/page_size.hpp"

// Null unless the program has the runtime of the sanitizer.
extern "C" {
[[gnu::weak]] void __sanitizer_start_switch_fiber(void** fake_stack, void const* stack,
                                                  std::size_t bytes);
[[gnu::weak]] void __sanitizer_finish_switch_fiber(void* fake_stack, void const** previous_stack,
                                                   std::size_t* previous_bytes);
[[gnu::weak]] void* __tsan_get_current_fiber();
[[gnu::weak]] void* __tsan_create_fiber(unsigned flags);
[[gnu::weak]] void __tsan_destroy_fiber(void* fiber);
[[gnu::weak]] void __tsan_switch_to_fiber(void* fiber, unsigned flags);
[[gnu::weak]] void __tsan_set_fiber_name(void* fiber, char const* name);
[[gnu::weak]] void __tsan_acquire(void* address);
[[gnu::weak]] void __tsan_release(void* address);
}

namespace roc::host_hip {
namespace {

constexpr unsigned tsan_without_order = 1;  // the switch is no synchronization

// Inaccessible memory beside a guarded memory. Larger than most stack frames, because a function
// may first access the lowest bytes of its frame.
constexpr std::size_t guard_bytes = std::size_t{1} << 20;

// Returns how far below the end of its memory the next stack begins, less than max_offset. Stacks
// that all began at the same offset in a page would compete for a few lines of the caches.
constexpr std::size_t max_offset = 8192;
std::size_t next_offset() noexcept {
  static std::atomic<unsigned> count = 0;
  return count.fetch_add(1, std::memory_order_relaxed) * 128 % max_offset;
}

// Of all stack_memory.
constinit std::atomic<std::size_t> guarded_stacks = 0;

// Returns the number of bytes of address space that the process has mapped.
std::size_t mapped_bytes() noexcept {
  unsigned long long pages = 0;
  if (std::FILE* const file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%llu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return pages * page_size();
}

// Returns how many stacks may be guarded. If the address space is limited (ulimit -v), guards take
// at most a quarter of what is left when the first stack is allocated.
std::size_t allowed_guards() noexcept {
  static std::size_t const count = [] {
    rlimit limit{};
    if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
      return max_guarded_stacks;
    }
    std::size_t const mapped = std::min<std::size_t>(mapped_bytes(), limit.rlim_cur);
    return std::min<std::size_t>(max_guarded_stacks, (limit.rlim_cur - mapped) / 4 / guard_bytes);
  }();
  return count;
}

void release_guard() noexcept { guarded_stacks.fetch_sub(1, std::memory_order_relaxed); }

// Returns true if a further stack may be guarded, and counts it.
bool try_reserve_guard() noexcept {
  if (guarded_stacks.fetch_add(1, std::memory_order_relaxed) < allowed_guards()) return true;
  release_guard();
  return false;
}

// The lowest words of a stack, which show an overflow.
constexpr std::array<std::uint64_t, 8> stack_canary = [] {
  std::array<std::uint64_t, 8> result{};
  result.fill(0x5AC4'0FF1'BE55'7ACCu);
  return result;
}();

// The fiber's stack belongs to the fiber, not to the context.
struct no_stack_allocator {
  boost::context::stack_context allocate() { throw std::bad_alloc(); }
  void deallocate(boost::context::stack_context&) noexcept {}
};

void start_switch(void** fake_stack, void const* stack, std::size_t bytes) {
  if (&__sanitizer_start_switch_fiber != nullptr) {
    __sanitizer_start_switch_fiber(fake_stack, stack, bytes);
  }
}

void finish_switch(void* fake_stack, void const** previous, std::size_t* bytes) {
  if (&__sanitizer_finish_switch_fiber != nullptr) {
    __sanitizer_finish_switch_fiber(fake_stack, previous, bytes);
  }
}

}  // namespace

guarded_memory::guarded_memory(std::size_t bytes, guards placement)
    : size_(base::round_up(bytes, page_size())),
      mapped_bytes_(size_ + guard_bytes * (placement == guards::before ? 1 : 2)) {
  // Inaccessible memory takes address space, but is not counted as memory that may be used.
  void* const memory =
      ::mmap(nullptr, mapped_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  data_ = static_cast<std::byte*>(memory) + guard_bytes;
  if (::mprotect(data_, size_, PROT_READ | PROT_WRITE) != 0) {
    ::munmap(memory, mapped_bytes_);
    throw std::bad_alloc();
  }
}

guarded_memory::~guarded_memory() { ::munmap(data_ - guard_bytes, mapped_bytes_); }

stack_memory::stack_memory(std::size_t stack_bytes)
    : stack_bytes_(base::round_up(stack_bytes + max_offset, page_size())) {
  if (try_reserve_guard()) {
    try {
      memory_.emplace(stack_bytes_, guarded_memory::guards::before);
      return;
    } catch (std::bad_alloc const&) {
      release_guard();  // 128 adjacent stacks need fewer mappings
    }
  }
  count_ = 128;
  memory_.emplace(count_ * stack_bytes_, guarded_memory::guards::before);
  // Each stack uses its highest pages only.
  ::madvise(memory_->data(), memory_->size(), MADV_NOHUGEPAGE);
}

stack_memory::~stack_memory() {
  if (is_guarded()) release_guard();
}

fiber::fiber(stack_memory const& memory, std::size_t index)
    : stack_(memory.stack(index)),
      stack_bytes_(memory.stack_bytes()),
      is_guarded_(memory.is_guarded()) {
  if (!is_guarded_) std::memcpy(stack_, stack_canary.data(), sizeof stack_canary);
  boost::context::stack_context stack;
  std::size_t const offset = next_offset();
  stack.sp = stack_ + stack_bytes_ - offset;
  stack.size = stack_bytes_ - offset;
  context_ = boost::context::fiber(std::allocator_arg,
                                   boost::context::preallocated(stack.sp, stack.size, stack),
                                   no_stack_allocator(), [this](boost::context::fiber&& caller) {
                                     caller_ = std::move(caller);
                                     finish_switch(nullptr, &caller_stack_, &caller_stack_bytes_);
                                     main_loop();
                                     return std::move(caller_);
                                   });
  if (is_checked_by_tsan()) tsan_fiber_ = __tsan_create_fiber(0);
}

fiber::~fiber() {
  if (tsan_fiber_ != nullptr) __tsan_destroy_fiber(tsan_fiber_);
}

void fiber::main_loop() {
  for (;;) {
    run_(closure_);
    has_returned_ = true;
    suspend();
  }
}

bool fiber::start(void (*run)(void*), void* closure) {
  run_ = run;
  closure_ = closure;
  has_returned_ = false;
  return resume();
}

bool fiber::resume() {
  void* fake_stack = nullptr;
  start_switch(&fake_stack, stack_, stack_bytes_);
  if (tsan_fiber_ != nullptr) {
    tsan_caller_ = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(tsan_fiber_, tsan_without_order);
  }
  context_ = std::move(context_).resume();
  finish_switch(fake_stack, nullptr, nullptr);
  return has_returned_;
}

void fiber::suspend() {
  void* fake_stack = nullptr;
  start_switch(&fake_stack, caller_stack_, caller_stack_bytes_);
  if (tsan_fiber_ != nullptr) __tsan_switch_to_fiber(tsan_caller_, tsan_without_order);
  caller_ = std::move(caller_).resume();
  finish_switch(fake_stack, &caller_stack_, &caller_stack_bytes_);
}

bool fiber::has_overflowed() const noexcept {
  return !is_guarded_ && std::memcmp(stack_, stack_canary.data(), sizeof stack_canary) != 0;
}

bool fiber::is_checked_by_tsan() noexcept { return &__tsan_create_fiber != nullptr; }

void fiber::set_name(char const* name) noexcept {
  if (tsan_fiber_ != nullptr) __tsan_set_fiber_name(tsan_fiber_, name);
}

void fiber::release(void* address) noexcept {
  if (&__tsan_release != nullptr) __tsan_release(address);
}

void fiber::acquire(void* address) noexcept {
  if (&__tsan_acquire != nullptr) __tsan_acquire(address);
}

}  // namespace roc::host_hip
