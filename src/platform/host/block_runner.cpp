// SPDX-License-Identifier: MIT
// CMake compiles this file, block_shared_memory.cpp and fiber.cpp without ThreadSanitizer, because
// the threads of a kernel use the state of their block without synchronization.
#include "platform/host/block_runner.hpp"

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <string_view>

#include "platform/host/access_checker.hpp"
#include "platform/host/kernel_symbols.hpp"
#include "platform/host/settings.hpp"

namespace roc::host_hip {

using namespace host_kernels;

namespace {

using message_text = std::array<char, 1024>;

bool is_same_place(std::source_location const& a, std::source_location const& b) {
  return a.line() == b.line() && a.column() == b.column() &&
         (a.file_name() == b.file_name() || std::string_view(a.file_name()) == b.file_name());
}

// Returns true if a comes before b in the source.
bool is_before(std::source_location const& a, std::source_location const& b) {
  int const files = std::strcmp(a.file_name(), b.file_name());
  if (files != 0) return files < 0;
  return a.line() != b.line() ? a.line() < b.line() : a.column() < b.column();
}

// Returns the thread of the first of the lanes, of the warp from thread `begin` on.
unsigned first_thread(unsigned begin, std::uint64_t lanes) {
  return begin + static_cast<unsigned>(std::countr_zero(lanes));
}

// Returns true if two lanes of a warp call the same operation.
bool is_same_operation(warp_call const& a, warp_call const& b) {
  return a.function == b.function && a.mask == b.mask && (a.mask || is_same_place(a.at, b.at));
}

char const* file_name(std::source_location const& place) {
  char const* const slash = std::strrchr(place.file_name(), '/');
  return slash == nullptr ? place.file_name() : slash + 1;
}

// Returns the numbers of the lanes, such as "lanes 3, 16 to 31".
std::string describe_lanes(std::uint64_t lanes) {
  std::string result = std::has_single_bit(lanes) ? "lane " : "lanes ";
  char const* separator = "";
  for (std::uint64_t rest = lanes; rest != 0;) {
    int const first = std::countr_zero(rest);
    int const count = std::countr_one(rest >> first);
    result += separator + std::to_string(first);
    if (count > 1) result += (count == 2 ? ", " : " to ") + std::to_string(first + count - 1);
    rest &= count == 64 ? 0 : ~(~(~std::uint64_t{0} << count) << first);
    separator = ", ";
  }
  return result;
}

}  // namespace

void block_runner::run(grid_launch const& launch, std::size_t first, std::size_t last) {
  launch_ = &launch;
  variables_ = launch.kernel.variables();
  warp_size_ = static_cast<unsigned>(host_settings().warp_size);
  thread_count_ = launch.block.x * launch.block.y * launch.block.z;
  bool const poisons = host_settings().poison || host_settings().check != check_mode::off;
  *variables_.running = this;
  *variables_.warp_size = host_settings().warp_size;
  *variables_.block_size = launch.block;
  *variables_.grid_size = launch.grid;
  shared_memory = shared_.prepare(launch, poisons);
  std::size_t const row = launch.grid.x;
  std::size_t const plane = row * launch.grid.y;
  for (std::size_t i = first; i < last; ++i) {
    *variables_.block = {static_cast<unsigned>(i % row), static_cast<unsigned>(i % plane / row),
                         static_cast<unsigned>(i / plane)};
    if (poisons) shared_.poison();
    run_block();
  }
  *variables_.running = nullptr;
}

void block_runner::check_shared_memory() {
  for (unused_memory_write const& write : shared_.writes_to_unused_memory()) {
    report_kernel_error((describe_block() + ": " + write.problem).c_str(), launch_->kernel.function,
                        write.nearest_offset);
  }
}

bool block_runner::has(block_memory const& needed) const noexcept {
  return fibers_.size() >= needed.stacks && shared_.has(needed.shared_bytes);
}

void block_runner::allocate(block_memory const& needed) {
  shared_.allocate(needed.shared_bytes);
  while (fibers_.size() < needed.stacks) allocate_fibers();
}

void block_runner::allocate_fibers() {
  stacks_.push_back(std::make_unique<stack_memory>(host_settings().stack_bytes));
  stack_memory const& stacks = *stacks_.back();
  std::size_t const count = fibers_.size() + stacks.count();
  idle_.reserve(count);
  if (fiber::is_checked_by_tsan()) ended_.reserve(count);
  for (std::size_t i = 0; i < stacks.count(); ++i) {
    fibers_.push_back(std::make_unique<fiber>(stacks, i));
    idle_.push_back(fibers_.back().get());
  }
}

fiber& block_runner::idle_fiber() {
  if (idle_.empty()) allocate_fibers();
  fiber& result = *idle_.back();
  idle_.pop_back();
  return result;
}

void block_runner::run_block() {
  next_ = 0;
  fiber::release(&next_);
  while (next_ < thread_count_) {
    fiber& started = idle_fiber();
    running_fiber_ = &started;
    // To ThreadSanitizer a fiber is a thread: it finds the races of two threads only on two fibers,
    // which other threads of the block do not get.
    last_ = thread_count_;
    if (fiber::is_checked_by_tsan()) {
      last_ = next_ + 1;
      started.set_name(describe_thread_of_block(next_).data());
    }
    bool const has_returned =
        started.start([](void* self) { static_cast<block_runner*>(self)->run_threads(); }, this);
    check_stack(started);
    if (has_returned) (fiber::is_checked_by_tsan() ? ended_ : idle_).push_back(&started);
  }
  for (;;) {
    if (is_any(thread_state::waits_for_warp)) {
      if (!complete_warps()) fail_stuck_warp();
    } else if (is_any(thread_state::waits_at_barrier)) {
      complete_barrier();
    } else {
      break;
    }
    continue_threads();
  }
  idle_.insert(idle_.end(), ended_.begin(), ended_.end());
  ended_.clear();
  fiber::acquire(&last_);
  check_shared_memory();
}

void block_runner::run_threads() {
  fiber::acquire(&next_);
  while (next_ < last_) {
    unsigned const thread = next_++;
    select(thread);
    try {
      launch_->kernel.run_thread(launch_->arguments);
    } catch (std::exception const& error) {
      fail(error.what(), {});
    } catch (...) {
      fail("an exception left the kernel", {});
    }
    threads_[thread].state = thread_state::ended;
  }
  fiber::release(&last_);
}

void block_runner::select(unsigned thread) {
  kernel_index const& size = launch_->block;
  current_ = thread;
  lane = thread % warp_size_;
  *variables_.thread = {thread % size.x, thread / size.x % size.y, thread / size.x / size.y};
}

void block_runner::wait(thread_state state, std::source_location at) {
  kernel_thread& thread = threads_[current_];
  thread.state = state;
  thread.suspended_fiber = running_fiber_;
  thread.at = at;
  running_fiber_->suspend();
}

int block_runner::synchronize(block_reduction reduction, int predicate, std::source_location at) {
  kernel_thread& thread = threads_[current_];
  thread.reduction = reduction;
  thread.predicate = predicate;
  // A thread that continues must not acquire what others release at the next barrier.
  std::uint64_t* const order = &barrier_order_[barriers_ % 2];
  fiber::release(order);
  wait(thread_state::waits_at_barrier, at);
  fiber::acquire(order);
  return thread.result;
}

lane_values block_runner::exchange(std::uint64_t value, warp_call const& call) {
  if (call.mask && (*call.mask >> lane & 1) == 0) {
    message_text text;
    std::snprintf(text.data(), text.size(),
                  "the mask 0x%llx of a warp function does not contain lane %u, which calls it; "
                  "pass the mask of all lanes that call it",
                  static_cast<unsigned long long>(*call.mask), lane);
    fail(text.data(), call.at);
  }
  kernel_thread& thread = threads_[current_];
  thread.call = call;
  // Masks that name the same lanes are equal: ~0ULL and 0xffffffff in a warp of 32.
  if (call.mask) *thread.call.mask &= ~std::uint64_t{0} >> (64 - warp_size_);
  thread.value = value;
  fiber::release(&thread.order[thread.operations % 2]);
  wait(thread_state::waits_for_warp, call.at);
  if (fiber::is_checked_by_tsan()) {
    unsigned const begin = current_ - lane;
    for (std::uint64_t rest = thread.lanes.lanes; rest != 0; rest &= rest - 1) {
      kernel_thread& other = threads_[first_thread(begin, rest)];
      fiber::acquire(&other.order[(other.operations - 1) % 2]);
    }
  }
  return thread.lanes;
}

bool block_runner::is_any(thread_state state) const {
  return std::any_of(threads_.begin(), threads_.begin() + thread_count_,
                     [=](kernel_thread const& thread) { return thread.state == state; });
}

template <class F>
void block_runner::for_each_warp(F f) {
  for (unsigned begin = 0; begin < thread_count_; begin += warp_size_) {
    f(begin, std::min(begin + warp_size_, thread_count_));
  }
}

std::uint64_t block_runner::lanes_in(thread_state state, unsigned begin, unsigned end) const {
  std::uint64_t result = 0;
  for (unsigned i = begin; i < end; ++i) {
    if (threads_[i].state == state) result |= std::uint64_t{1} << (i - begin);
  }
  return result;
}

std::uint64_t block_runner::first_operation(unsigned begin, std::uint64_t waiting) const {
  warp_call const& call = threads_[first_thread(begin, waiting)].call;
  std::uint64_t result = 0;
  for (std::uint64_t rest = waiting; rest != 0; rest &= rest - 1) {
    if (is_same_operation(threads_[first_thread(begin, rest)].call, call)) result |= rest & -rest;
  }
  return result;
}

// Lets the lanes of an operation continue.
void block_runner::complete_operation(unsigned begin, std::uint64_t lanes) {
  for (std::uint64_t rest = lanes; rest != 0; rest &= rest - 1) {
    unsigned const i = first_thread(begin, rest);
    kernel_thread& thread = threads_[i];
    lane_values_[i] = thread.value;
    thread.lanes = {&lane_values_[begin], lanes};
    ++thread.operations;
    thread.state = thread_state::ready;
  }
}

bool block_runner::complete_warps() {
  bool result = false;
  for_each_warp([&](unsigned begin, unsigned end) { result |= complete_warp(begin, end); });
  return result;
}

// An operation with a mask is complete when all lanes of the mask that have not ended wait for it.
// One without a mask is complete when no operation with a mask is: of several places, it is the
// first one in the source, because the lanes of a branch must come out of it before they can join
// those that wait after it.
bool block_runner::complete_warp(unsigned begin, unsigned end) {
  std::uint64_t const waiting = lanes_in(thread_state::waits_for_warp, begin, end);
  std::uint64_t const present = waiting | lanes_in(thread_state::waits_at_barrier, begin, end);
  bool result = false;
  std::uint64_t first_place = 0;  // the lanes without a mask at the first place
  for (std::uint64_t rest = waiting; rest != 0;) {
    std::uint64_t const lanes = first_operation(begin, rest);
    warp_call const& call = threads_[first_thread(begin, lanes)].call;
    rest &= ~lanes;
    if (call.mask) {
      if ((*call.mask & present & ~lanes) != 0) continue;
      complete_operation(begin, lanes);
      result = true;
    } else if (first_place == 0 ||
               is_before(call.at, threads_[first_thread(begin, first_place)].at)) {
      first_place = lanes;
    }
  }
  if (result || first_place == 0) return result;
  complete_operation(begin, first_place);
  return true;
}

void block_runner::fail_stuck_warp() {
  for_each_warp([&](unsigned begin, unsigned end) {
    std::uint64_t const waiting = lanes_in(thread_state::waits_for_warp, begin, end);
    if (waiting == 0) return;
    std::uint64_t const lanes = first_operation(begin, waiting);
    std::uint64_t const present = waiting | lanes_in(thread_state::waits_at_barrier, begin, end);
    current_ = first_thread(begin, lanes);
    warp_call const& call = threads_[current_].call;
    // Without a mask, an operation is complete.
    std::uint64_t const mask = call.mask.value_or(0);
    std::uint64_t const missing = mask & present & ~lanes;
    message_text text;
    std::snprintf(text.data(), text.size(),
                  "calls a warp function with the mask 0x%llx, but %s %s not; pass the mask of the "
                  "lanes that call it",
                  static_cast<unsigned long long>(mask), describe_lanes(missing).c_str(),
                  std::has_single_bit(missing) ? "does" : "do");
    fail(text.data(), call.at);
  });
  std::abort();
}

// All threads that have not ended wait at a barrier: lets them continue.
void block_runner::complete_barrier() {
  if (host_settings().check != check_mode::off) check_barrier();
  ++barriers_;
  int waiting = 0;
  int count = 0;
  for (unsigned i = 0; i < thread_count_; ++i) {
    if (threads_[i].state == thread_state::ended) continue;
    ++waiting;
    if (threads_[i].predicate != 0) ++count;
  }
  for (unsigned i = 0; i < thread_count_; ++i) {
    kernel_thread& thread = threads_[i];
    if (thread.state == thread_state::ended) continue;
    switch (thread.reduction) {
      case block_reduction::none: break;
      case block_reduction::count: thread.result = count; break;
      case block_reduction::all: thread.result = count == waiting ? 1 : 0; break;
      case block_reduction::any: thread.result = count != 0 ? 1 : 0; break;
    }
    thread.state = thread_state::ready;
  }
}

// Reports a thread that does not wait at the barrier at which the first waiting thread waits.
void block_runner::check_barrier() {
  unsigned first = 0;
  while (threads_[first].state == thread_state::ended) ++first;
  std::source_location const at = threads_[first].at;
  for (unsigned i = 0; i < thread_count_; ++i) {
    kernel_thread const& thread = threads_[i];
    message_text text;
    if (thread.state == thread_state::ended) {
      std::snprintf(text.data(), text.size(),
                    "has ended without the barrier at %s:%u, where thread %s waits", file_name(at),
                    at.line(), describe_thread(first).data());
    } else if (!is_same_place(thread.at, at)) {
      std::snprintf(text.data(), text.size(),
                    "waits at the barrier at %s:%u, but thread %s at the one at %s:%u",
                    file_name(thread.at), thread.at.line(), describe_thread(first).data(),
                    file_name(at), at.line());
    } else {
      continue;
    }
    current_ = i;
    report(text.data(), at);
    return;
  }
}

// Runs each thread that may continue, until it waits again or ends.
void block_runner::continue_threads() {
  for (unsigned i = 0; i < thread_count_; ++i) {
    if (threads_[i].state != thread_state::ready) continue;
    select(i);
    running_fiber_ = threads_[i].suspended_fiber;
    if (running_fiber_->resume()) idle_.push_back(running_fiber_);
    check_stack(*running_fiber_);
  }
}

void block_runner::check_stack(fiber const& checked) {
  if (checked.has_overflowed()) {
    fail("the stack of a thread has overflowed; set ROCARRAY_HOST_STACK to more bytes", {});
  }
}

block_runner::thread_text block_runner::describe_thread(unsigned thread) const {
  kernel_index const& size = launch_->block;
  thread_text text;
  std::snprintf(text.data(), text.size(), "(%u, %u, %u)", thread % size.x, thread / size.x % size.y,
                thread / size.x / size.y);
  return text;
}

block_runner::thread_of_block_text block_runner::describe_thread_of_block(unsigned thread) const {
  kernel_index const& block = *variables_.block;
  thread_of_block_text text;
  std::snprintf(text.data(), text.size(), "block (%u, %u, %u), thread %s", block.x, block.y,
                block.z, describe_thread(thread).data());
  return text;
}

std::string block_runner::describe_block() const {
  kernel_index const& block = *variables_.block;
  message_text text;
  std::snprintf(text.data(), text.size(), ", block (%u, %u, %u)", block.x, block.y, block.z);
  return "kernel " + kernel_name(launch_->kernel.function) + text.data();
}

std::string block_runner::describe_position() const {
  return describe_block() + ", thread " + describe_thread(current_).data();
}

void block_runner::report_inactive_lane(unsigned source, std::source_location at) {
  if (host_settings().check == check_mode::off) return;
  message_text text;
  std::snprintf(text.data(), text.size(),
                "uses the value of lane %u, which does not take part in the warp function at %s:%u",
                source, file_name(at), at.line());
  report(text.data(), at);
}

void block_runner::report(char const* problem, std::source_location const& at) {
  if (host_settings().check == check_mode::off) return;
  auto const place = std::hash<std::string_view>{}(at.file_name()) + at.line();
  report_kernel_error((describe_position() + ": " + problem).c_str(), launch_->kernel.function,
                      place);
}

void block_runner::fail(char const* problem, std::source_location at) {
  std::fprintf(stderr, "rocarray: %s: %s", describe_position().c_str(), problem);
  if (at.line() != 0) std::fprintf(stderr, " (%s:%u)", file_name(at), at.line());
  std::fputc('\n', stderr);
  std::abort();
}

}  // namespace roc::host_hip
